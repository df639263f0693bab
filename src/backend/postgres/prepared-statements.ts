// The statements that one connection has prepared: parsed and described once, afterwards only bound and executed.
import type { Connection, FieldDef } from "pg";
import type { StatementPlan } from "./statement-plan.ts";
import { type Decode, decoderOf } from "./value.ts";

export type Prepared = {
  readonly name: string;
  readonly types: StatementPlan["types"];
  columns: readonly { readonly name: string; readonly decode: Decode }[];
};

const BIGINT = 20;
const LET_THE_SERVER_CHOOSE = 0;

/** How many a connection keeps; the one that was not used for longest gives way. */
const MOST_PREPARED = 256;

export class PreparedStatements {
  #byPlan = new Map<StatementPlan, Prepared>();
  /** Asked for, but not answered yet, in the order of asking. */
  #awaited: { readonly plan: StatementPlan; readonly prepared: Prepared }[] = [];
  #made = 0;

  /** Finds a statement, or writes what prepares it; its columns are known once the server has answered. */
  use(plan: StatementPlan, connection: Connection): Prepared {
    let prepared = this.#byPlan.get(plan);
    if (prepared?.types !== plan.types) {
      if (prepared) connection.close({ type: "S", name: prepared.name }, true);
      prepared = this.#prepare(plan, connection);
    }
    // Moved to the end: the first is the one that was not used for longest.
    this.#byPlan.delete(plan);
    this.#byPlan.set(plan, prepared);
    for (const [oldest, { name }] of this.#byPlan) {
      if (this.#byPlan.size <= MOST_PREPARED) break;
      connection.close({ type: "S", name }, true);
      this.#byPlan.delete(oldest);
    }
    return prepared;
  }

  /** The server's description of the statement that was asked for first; without columns it returns no rows. */
  described(fields: readonly FieldDef[]): void {
    const next = this.#awaited.shift();
    if (next) next.prepared.columns = fields.map(({ name, dataTypeID }) => ({ name, decode: decoderOf(dataTypeID) }));
  }

  /** After an error the server has skipped the rest, so that what it did not describe is not prepared. */
  forgetAwaited(): void {
    for (const { plan } of this.#awaited) this.#byPlan.delete(plan);
    this.#awaited = [];
  }

  forgetAll(): void {
    this.#byPlan.clear();
  }

  #prepare(plan: StatementPlan, connection: Connection): Prepared {
    // A name is never used twice, because it is not always known whether the server has it.
    this.#made += 1;
    const name = `s${this.#made}`;
    // Only as far as there is something to declare: a number in a quoted text is no parameter.
    const declared = plan.types.slice(0, plan.types.lastIndexOf("bigint") + 1);
    const types = declared.map((type) => (type === "bigint" ? BIGINT : LET_THE_SERVER_CHOOSE));
    // The types of pg say text, its code writes numbers.
    connection.parse({ name, text: plan.text, types: types as unknown as string[] }, true);
    connection.describe({ type: "S", name }, true);
    const prepared = { name, types: plan.types, columns: [] };
    this.#awaited.push({ plan, prepared });
    return prepared;
  }
}
