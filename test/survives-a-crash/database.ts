// The database of a case: told from process to process, opened as users open it, and read from outside by the checks.
import { DatabaseSync } from "node:sqlite";
import { postgres } from "../../src/backend/postgres/postgres.ts";
import type { Backend } from "../../src/backend/sql-driver.ts";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { query } from "../postgres.ts";

export type Database =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: string; readonly schema: string };

/** All processes of a case have to open what the others have sealed. */
export const SECRET_KEY = "5e".repeat(32);

/** Short, so that nobody waits long for what a dead or sleeping worker held. */
export const LEASE_MS = 1_500;

/** Far more than any scenario takes; one that is not over then never will be. */
export const PATIENCE_MS = 120_000;

export function backendOf(database: Database): Backend {
  return database.kind === "sqlite"
    ? sqlite(database.path)
    : postgres(database.url, { schema: database.schema, connections: 3 });
}

/** What stands in the rows of a thread that no door shows. */
export type StoredRow = {
  readonly state: string | null;
  readonly stuck_at: unknown;
  readonly waiting: number;
};

export async function storedRow(database: Database, threadId: string): Promise<StoredRow | undefined> {
  const schema = schemaOf(database);
  const sql = `select state, stuck_at,
      (select count(*) from ${schema}.inbox where thread_id = threads.id and drained_at is null) as waiting
    from ${schema}.threads where id = $1`;
  const [row] = await read(database, sql, threadId);
  return row && { state: row.state as string | null, stuck_at: row.stuck_at, waiting: Number(row.waiting) };
}

/** The thread of a key, if there is one: a runtime would open it. */
export async function threadIdOf(database: Database, key: string): Promise<string | undefined> {
  const [row] = await rowsWith(database, "threads", { thread_key: key });
  return row && String(row.id);
}

/** The rows of a table in which a column has this value. */
export async function rowsWith(
  database: Database,
  table: string,
  value: Readonly<Record<string, string>>,
): Promise<readonly Record<string, unknown>[]> {
  const [[column, wanted] = ["", ""]] = Object.entries(value);
  return await read(database, `select * from ${schemaOf(database)}.${table} where ${column} = $1`, wanted);
}

function schemaOf(database: Database): string {
  return database.kind === "sqlite" ? "main" : database.schema;
}

async function read(database: Database, sql: string, param: string): Promise<Record<string, unknown>[]> {
  if (database.kind === "postgres") return await query(database.url, sql, [param]);
  const file = new DatabaseSync(database.path, { readOnly: true });
  try {
    return file.prepare(sql.replaceAll("$1", "?1")).all(param);
  } finally {
    file.close();
  }
}
