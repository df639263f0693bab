// The bare database: node:sqlite writes recorded batches with prepared statements and nothing in between.
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Scalar, Statement } from "../../src/backend/sql-driver.ts";
import type { Recorded } from "./recording.ts";

/** About as long as Holdfast computes before a commit. */
export const PAUSE_MICROSECONDS = 100;

type Way = {
  readonly synchronous: "full" | "normal";
  /** So many batches share a commit; each has its own unless given. */
  readonly group?: number;
  /** The processor is kept busy for a while before each commit; that is not counted. */
  readonly pauses?: boolean;
  /** By its clock, so many milliseconds go by with each commit. */
  readonly stepMs?: number | undefined;
};

/** Milliseconds for the batches that are timed, and microseconds of the processor. */
export type WroteBare = { readonly milliseconds: number; readonly processor: number };

export function writeBareSqlite(path: string, { before, batches }: Recorded, way: Way): WroteBare {
  const { synchronous, group = 1, pauses = false, stepMs = 0 } = way;
  let commits = 0;
  const database = new DatabaseSync(path);
  try {
    database.exec(`pragma journal_mode = wal; pragma synchronous = ${synchronous}`);
    database.function("now_us", { deterministic: true }, () => {
      return BigInt(Date.now() + commits * stepMs) * 1000n;
    });
    database.function("signal", (_text) => null);
    const perform = performer(database);
    for (const batch of before) commit(database, [batch], perform);
    const groups = Array.from({ length: Math.ceil(batches.length / group) }, (_, index) =>
      batches.slice(index * group, (index + 1) * group),
    );
    let paused = 0;
    const processor = process.cpuUsage();
    const start = performance.now();
    for (const each of groups) {
      if (pauses) paused += pause();
      commit(database, each, perform);
      commits++;
    }
    const { user, system } = process.cpuUsage(processor);
    return { milliseconds: performance.now() - start - paused, processor: user + system };
  } finally {
    database.close();
  }
}

/** Milliseconds that it took. */
function pause(): number {
  const start = performance.now();
  while ((performance.now() - start) * 1000 < PAUSE_MICROSECONDS);
  return performance.now() - start;
}

type Perform = (statement: Statement) => void;

function commit(database: DatabaseSync, group: readonly (readonly Statement[])[], perform: Perform): void {
  database.exec("begin immediate");
  for (const batch of group) for (const statement of batch) perform(statement);
  database.exec("commit");
}

function performer(database: DatabaseSync): Perform {
  const prepared = new Map<string, (params: readonly Scalar[]) => unknown>();
  const prepare = (sql: string) => {
    const statement: StatementSync = database.prepare(sql.replace(/\$(\d+)/g, "?$1"));
    const returnsRows = statement.columns().length > 0;
    const run = (params: readonly Scalar[]) => (returnsRows ? statement.all(...params) : statement.run(...params));
    prepared.set(sql, run);
    return run;
  };
  return ({ sql, params }) => (prepared.get(sql) ?? prepare(sql))(params);
}
