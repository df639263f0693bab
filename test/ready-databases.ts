// Databases with all their tables and no rows, for tests of what is kept in them: making the tables takes longer than most of
// these tests do.
import { mkdtempSync, rmSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgres } from "../src/backend/postgres/postgres.ts";
import { migrate } from "../src/backend/sql/migrate.ts";
import type { Backend } from "../src/backend/sql-driver.ts";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { emptySchema, query } from "./postgres.ts";

let template: Promise<string> | undefined;

/** Makes a new file of the one that was made first in this process. */
export async function copyReadyFile(path: string): Promise<void> {
  template ??= makeTemplate();
  await copyFile(await template, path);
}

async function makeTemplate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-template-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "threads.db");
  await makeTables(sqlite(path));
  return path;
}

type Schema = Awaited<ReturnType<typeof emptySchema>>;

/** Used before in this process, and as empty again as they were. */
const free: Schema[] = [];

/** A schema of one's own until it is given back. */
export async function readySchema(): Promise<Schema> {
  const known = free.pop();
  if (known) return known;
  const schema = await emptySchema();
  await makeTables(postgres(schema.url, { schema: schema.schema }));
  return schema;
}

/** For the next who wants one. Nobody may use it any more, and its tables have to be as they were made. */
export async function giveBack(given: Schema): Promise<void> {
  await query(given.url, emptied(given.schema));
  free.push(given);
}

async function makeTables(backend: Backend): Promise<void> {
  const driver = await backend.open();
  try {
    await migrate(driver);
  } finally {
    await driver.close();
  }
}

/** Takes all rows away and lets all numbers begin anew. What a database tells of itself is its version, and no more. */
function emptied(schema: string): string {
  return `do $$
    declare each text;
    begin
      for each in select tablename from pg_tables where schemaname = '${schema}' and tablename <> 'meta' loop
        execute format('delete from %I.%I', '${schema}', each);
      end loop;
      for each in select sequencename from pg_sequences where schemaname = '${schema}' and last_value is not null loop
        execute format('alter sequence %I.%I restart', '${schema}', each);
      end loop;
      delete from "${schema}".meta where name <> 'schema_version';
    end
  $$`;
}
