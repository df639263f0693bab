// The database of a case: told from process to process, and opened as users open it.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "../backend/sql-driver.ts";

export type CaseDatabase =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: string; readonly schema: string };

/** All processes of a case have to open what the others have sealed. */
export const SECRET_KEY = "5e".repeat(32);

/** A new one: a file in a folder of its own, or a schema of the database at that address. `remove` takes it away again. */
export async function newDatabase(url?: string): Promise<{ database: CaseDatabase; remove(): Promise<void> }> {
  if (url !== undefined) {
    const database = { kind: "postgres", url, schema: `crash_${randomBytes(6).toString("hex")}` } as const;
    return { database, remove: () => dropSchema(database) };
  }
  const folder = await mkdtemp(join(tmpdir(), "holdfast-crash-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  return { database: { kind: "sqlite", path: join(folder, "crash.db") }, remove };
}

/** Loaded only now: whoever tests with the scripted model alone needs no database. */
export async function backendOf(database: CaseDatabase): Promise<Backend> {
  if (database.kind === "sqlite") {
    const { sqlite } = await import("../backend/sqlite/sqlite.ts");
    return sqlite(database.path);
  }
  const { postgres } = await import("../backend/postgres/postgres.ts");
  return postgres(database.url, { schema: database.schema, connections: 3 });
}

async function dropSchema(database: CaseDatabase & { kind: "postgres" }): Promise<void> {
  const driver = await (await backendOf(database)).open();
  try {
    await driver.batch([{ sql: `drop schema if exists ${database.schema} cascade`, params: [] }]);
  } finally {
    await driver.close();
  }
}
