// Brings a database to the version that this code knows. Any number of processes may try at once: one of them does it.
import { holdfastError } from "../../contracts/error.ts";
import type { SqlDriver, Statement } from "../sql-driver.ts";
import { attemptBatch } from "./attempt-batch.ts";
import { checkFence } from "./move/fence.ts";
import { migrations } from "./schema.ts";
import type { MigrationStatement } from "./tables/migration.ts";

/** The version that was found, and the one that it has now. */
export type Migrated = { readonly from: number; readonly to: number };

/**
 * Migrates if that is due. Throws `database_too_new` when the data was written by a newer version, and for a database that
 * was moved away, or that was never filled to its end, what says so.
 */
export async function migrate(driver: SqlDriver, onVersion?: OnVersion): Promise<Migrated> {
  await makeMeta(driver);
  await checkFence(driver);
  return await bringUpToDate(driver, onVersion);
}

/** The version that is there before each step, and the one that it comes to. */
export type OnVersion = (version: number, of: number) => void;

/** The table that a database tells of itself in; it is there before all others. */
export async function makeMeta(driver: SqlDriver): Promise<void> {
  await attemptBatch(driver, [
    statement("create table if not exists meta (name text primary key, value text not null)"),
  ]);
}

/** The same for a database that nobody may open, with a table of facts: whoever moves one works on it all the same. */
export async function bringUpToDate(driver: SqlDriver, onVersion: OnVersion = () => undefined): Promise<Migrated> {
  let from: number | undefined;
  for (;;) {
    const version = await versionOf(driver);
    from ??= version;
    if (version > migrations.length) throw tooNew(version);
    const next = migrations[version];
    if (!next) return { from, to: version };
    onVersion(version, migrations.length);
    // Refused when another process was faster; then its version is read again.
    await driver.batch([claimVersion(version), ...next.map((each) => statement(textFor(driver, each)))]);
  }
}

/** 0 when there is nothing yet. */
export async function versionOf(reader: Pick<SqlDriver, "all">): Promise<number> {
  const [row] = await reader.all("select value from meta where name = $1", [VERSION]);
  return Number(row?.value ?? 0);
}

const VERSION = "schema_version";

/** Moves the version on by one; it comes first, so that the row holds off everybody else who tries the same. */
function claimVersion(version: number): Statement {
  const next = String(version + 1);
  if (version === 0) {
    const sql = "insert into meta (name, value) values ($1, $2) on conflict (name) do nothing";
    return { sql, params: [VERSION, next], expect: 1 };
  }
  const sql = "update meta set value = $2 where name = $1 and value = $3";
  return { sql, params: [VERSION, next, String(version)], expect: 1 };
}

function textFor({ name }: SqlDriver, each: MigrationStatement): string {
  const text = typeof each === "string" ? each : each[name];
  return name === "postgres" && MAKES_COLUMNS.test(text) ? text.replace(TEXT_COLUMN, 'text collate "C"') : text;
}

// SQLite compares text by its bytes. PostgreSQL goes by the language of the server unless a column says otherwise, and then
// a list would have another order there, and another than what is merged here.
const MAKES_COLUMNS = /^\s*(create table|alter table \w+ add column)\b/;
const TEXT_COLUMN = /\btext\b(?! collate)/g;

function statement(sql: string): Statement {
  return { sql, params: [] };
}

function tooNew(version: number) {
  return holdfastError(
    "database_too_new",
    `The database has schema version ${version}; this version of Holdfast knows ${migrations.length}.`,
  );
}
