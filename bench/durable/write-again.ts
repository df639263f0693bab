// What Holdfast has written, written again by the bare database: in as many commits, into a database of its own.
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { query } from "../../test/postgres.ts";
import { writeBarePostgres } from "./bare-postgres.ts";
import { writeBareSqlite } from "./bare-sqlite.ts";
import { openRuntime } from "./open-runtime.ts";
import { inFreshDatabase, type Place } from "./place.ts";
import type { Recorded } from "./recording.ts";

/**
 * How the bare database writes: PostgreSQL one statement after another, or all of a batch at once; SQLite one batch after
 * another, or each after a pause in which the processor does something else.
 */
export type Way = "one by one" | "at once" | "after a pause";

type Plan = {
  readonly way: Way;
  /** As many rows as this table has in the end, the bare database has written what it should. */
  readonly table: string;
  readonly rows: number;
  /** By its clock, so many milliseconds go by with each commit. */
  readonly stepMs?: number;
};

export type Wrote = {
  readonly microseconds: number;
  /** What this process had to do for it; on PostgreSQL most is done by the server. */
  readonly processor: number;
};

export async function writeAgain(place: Place, recorded: Recorded, plan: Plan): Promise<Wrote> {
  const { way, table, rows, stepMs } = plan;
  return await inFreshDatabase(place, async ({ backend, path, schema }) => {
    if (place.database === "sqlite") {
      const wrote = writeBareSqlite(path, recorded, { ...place, pauses: way === "after a pause", stepMs });
      const database = new DatabaseSync(path);
      check(database.prepare(`select count(*) as rows from ${table}`).get(), rows);
      database.close();
      return { microseconds: wrote.milliseconds * 1000, processor: wrote.processor };
    }
    // Makes the tables.
    await (await openRuntime(backend, [], { runs: false })).close();
    const wrote = await writeBarePostgres({ url: place.url, schema }, recorded, way === "at once" ? way : "one by one");
    const [row] = await query(place.url, `select count(*) as rows from "${schema}".${table}`);
    check(row, rows);
    return { microseconds: wrote.milliseconds * 1000, processor: wrote.processor };
  });
}

function check(row: Record<string, unknown> | undefined, rows: number): void {
  assert.equal(Number(row?.rows), rows, "the bare database did not write all rows");
}

/** On PostgreSQL the tables are made by Holdfast itself: they come with functions. */
export function readyOn(place: Place, { before, batches }: Recorded): Recorded {
  const isOfTables = (sql: string) => /^\s*create |\bmeta\b/.test(sql);
  if (place.database === "sqlite") return { before, batches };
  return { before: before.filter((batch) => !batch.some(({ sql }) => isOfTables(sql))), batches };
}
