// The SQL driver on an open SQLite connection: batches that arrive together share one commit, and what is read meanwhile
// one look at the file.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { holdfastError } from "../../contracts/error.ts";
import { checkValues } from "../check-values.ts";
import type { Clock } from "../clock.ts";
import type { BatchOutcome, Row, Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import type { LongReader } from "./long-reader.ts";
import { signalsOn } from "./signals.ts";
import { sqliteError } from "./sqlite-error.ts";
import { statementsOn } from "./statements.ts";

export type SqliteConnection = {
  readonly database: DatabaseSync;
  /** Only to be named in errors. */
  readonly path: string;
  /** Without one, long reads are done here. */
  readonly reader?: LongReader;
  readonly unlock?: () => void;
  readonly clock?: Clock | undefined;
};

type Waiting = {
  readonly statements: readonly Statement[];
  readonly resolve: (outcome: BatchOutcome) => void;
  readonly reject: (error: unknown) => void;
};

/** What became of a batch inside the transaction that it shares. */
type Attempt = BatchOutcome | { readonly outcome: "failed"; readonly error: unknown };

export function sqliteDriver({ database, path, reader, unlock, clock }: SqliteConnection): SqlDriver {
  const perform = statementsOn(database, clock);
  const signals = signalsOn(database);
  const look = prepared("begin");
  const begin = prepared("begin immediate");
  const commit = prepared("commit");
  const rollback = prepared("rollback");
  const savepoint = prepared("savepoint batch");
  const rollbackTo = prepared("rollback to batch");
  const release = prepared("release batch");
  let waiting: Waiting[] = [];
  let isLooking = false;
  let closing: Promise<void> | undefined;

  function prepared(sql: string): StatementSync {
    const statement = database.prepare(sql);
    // Every run tells the number of the last row, and an index of words numbers its own beyond what a number can hold.
    statement.setReadBigInts(true);
    return statement;
  }

  /** Most of a short read is to lock the file and to let it go again: those of one turn of the event loop do it once. */
  function beginLook(): void {
    if (isLooking) return;
    look.run();
    isLooking = true;
    setImmediate(endLook);
  }

  function endLook(): void {
    if (!isLooking) return;
    isLooking = false;
    try {
      commit.run();
    } catch {
      // A file that cannot be read any more says so when it is next used.
      rollBack();
    }
  }

  // Everything up to the commit happens in one go, so nobody else on this connection ever sees a transaction half done.
  function commitGroup(): void {
    const group = waiting;
    if (group.length === 0) return;
    waiting = [];
    endLook();
    let attempts: readonly Attempt[];
    try {
      begin.run();
      attempts = group.length === 1 ? group.map(attemptAlone) : group.map(attemptAmongOthers);
      if (database.isTransaction) commit.run();
    } catch (error) {
      rollBack();
      signals.forget();
      const reason = sqliteError(error, path);
      for (const { reject } of group) reject(reason);
      return;
    }
    signals.deliver();
    for (const [index, attempt] of attempts.entries()) {
      if (attempt.outcome === "failed") group[index]?.reject(sqliteError(attempt.error, path));
      else group[index]?.resolve(attempt);
    }
  }

  function attemptAlone({ statements }: Waiting): Attempt {
    const attempt = attemptBatch(statements);
    if (attempt.outcome !== "committed") rollback.run();
    return attempt;
  }

  function attemptAmongOthers({ statements }: Waiting): Attempt {
    savepoint.run();
    const attempt = attemptBatch(statements);
    if (attempt.outcome !== "committed") rollbackTo.run();
    release.run();
    return attempt;
  }

  function attemptBatch(statements: readonly Statement[]): Attempt {
    try {
      signals.collect();
      const rows: (readonly Row[])[] = [];
      for (const [at, { sql, params, expect }] of statements.entries()) {
        const performed = perform(sql, params);
        if (expect !== undefined && performed.count !== expect) return { outcome: "refused", at };
        rows.push(performed.rows);
      }
      signals.keep();
      return { outcome: "committed", rows };
    } catch (error) {
      // After some errors, such as a failing disk, SQLite itself undoes the whole transaction, and with it the others.
      if (!database.isTransaction) throw error;
      return { outcome: "failed", error };
    } finally {
      signals.stop();
    }
  }

  function rollBack(): void {
    try {
      if (database.isTransaction) rollback.run();
    } catch {
      // The reason that made it necessary is the one to report.
    }
  }

  function checkOpen(): void {
    if (closing) throw holdfastError("database_closed", `"${path}" has been closed.`);
  }

  async function end(): Promise<void> {
    commitGroup();
    endLook();
    try {
      await reader?.close();
      database.close();
    } finally {
      unlock?.();
    }
  }

  async function all(sql: string, params: readonly Scalar[] = []): Promise<readonly Row[]> {
    checkOpen();
    try {
      beginLook();
      return perform(sql, params).rows;
    } catch (error) {
      throw sqliteError(error, path);
    }
  }

  return {
    name: "sqlite",
    isShared: false,
    all,
    async readLong(sql, params = []) {
      checkOpen();
      if (!reader) return all(sql, params);
      // Here, because not everything can be sent to another thread.
      checkValues(params);
      return reader.read(sql, params);
    },
    async batch(statements) {
      checkOpen();
      return new Promise((resolve, reject) => {
        // Not a microtask: those would run between two events that arrive together, and would never let an event in
        // while one batch follows another.
        if (waiting.push({ statements, resolve, reject }) === 1) setImmediate(commitGroup);
      });
    },
    listen: signals.listen,
    // Nobody shares the file, so there is nobody to tell.
    async holdSession() {},
    async isSessionHeld() {
      return false;
    },
    close() {
      closing ??= end();
      return closing;
    },
  };
}
