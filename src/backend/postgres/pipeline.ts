// One round trip: any number of statements written at once, with a single point of synchronisation behind them. The
// server runs what lies before such a point as one transaction, so nothing is spent on BEGIN and COMMIT.
import { type Connection, DatabaseError, type FieldDef, type Submittable } from "pg";
import type { Row, Scalar } from "../sql-driver.ts";
import { endsConnection, isStale } from "./failure.ts";
import type { Prepared, PreparedStatements } from "./prepared-statements.ts";
import type { StatementPlan } from "./statement-plan.ts";
import { encode } from "./value.ts";

export type PlannedStatement = { readonly plan: StatementPlan; readonly params: readonly Scalar[] };

export type Answer =
  | { readonly kind: "done"; readonly rows: readonly (readonly Row[])[] }
  /** The statement of this index failed, or with an index past the last one the commit; nothing was changed. */
  | { readonly kind: "failed"; readonly error: DatabaseError; readonly at: number }
  /** The connection is gone. `isUndone` where it is certain that nothing was changed. */
  | { readonly kind: "lost"; readonly cause: unknown; readonly isUndone: boolean };

/** What pg calls while this is the active query of a client. */
export class Pipeline implements Submittable {
  readonly #statements: readonly PlannedStatement[];
  readonly #prepared: PreparedStatements;
  readonly #settle: (answer: Answer) => void;
  readonly #running: Prepared[] = [];
  readonly #rows: Row[][] = [];
  #current: Row[] = [];
  #isSent = false;

  constructor(statements: readonly PlannedStatement[], prepared: PreparedStatements, settle: (answer: Answer) => void) {
    this.#statements = statements;
    this.#prepared = prepared;
    this.#settle = settle;
  }

  submit(connection: Connection): void {
    this.#isSent = connection.stream.writable;
    // One write and not five a statement.
    connection.stream.cork();
    for (const { plan, params } of this.#statements) {
      const prepared = this.#prepared.use(plan, connection);
      this.#running.push(prepared);
      connection.bind({ statement: prepared.name, values: params.map(encode) }, true);
      connection.execute(null, true);
    }
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: { fields: FieldDef[] }): void {
    this.#prepared.described(fields);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const at = this.#rows.length;
    if (!this.#statements[at]?.plan.keepsRows) return;
    const row: Record<string, Scalar> = {};
    this.#running[at]?.columns.forEach(({ name, decode }, index) => {
      const text = fields[index];
      row[name] = text === null || text === undefined ? null : decode(text);
    });
    this.#current.push(row);
  }

  handleCommandComplete(): void {
    this.#rows.push(this.#current);
    this.#current = [];
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete();
  }

  handleReadyForQuery(): void {
    this.#settle({ kind: "done", rows: this.#rows });
  }

  /** Called when the server reports an error, or when the connection is lost with or without a word. */
  handleError(error: unknown): void {
    this.#prepared.forgetAwaited();
    const at = this.#rows.length;
    if (error instanceof DatabaseError && !endsConnection(error)) {
      if (isStale(error)) this.#prepared.forgetAll();
      this.#settle({ kind: "failed", error, at });
      return;
    }
    // A server that ends the connection in the middle of the statements has not come to the commit. Without a word from
    // it nothing is known, not even where it was: its last answers may have been lost.
    const isUndone = !this.#isSent || (error instanceof DatabaseError && at < this.#statements.length);
    this.#settle({ kind: "lost", cause: error, isUndone });
  }

  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}
