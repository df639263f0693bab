// Brings a database to the version that this code knows. Any number of processes may try at once: one of them does it.
import { holdfastError } from "../../contracts/error.ts";
import type { SqlDriver, Statement } from "../sql-driver.ts";
import { attemptBatch } from "./attempt-batch.ts";
import { migrations } from "./schema.ts";
import type { MigrationStatement } from "./tables/migration.ts";

/** Migrates if that is due. Throws `database_too_new` when the data was written by a newer version. */
export async function migrate(driver: SqlDriver): Promise<void> {
  await attemptBatch(driver, [
    statement("create table if not exists meta (name text primary key, value text not null)"),
  ]);
  for (;;) {
    const version = await currentVersion(driver);
    if (version > migrations.length) throw tooNew(version);
    const next = migrations[version];
    if (!next) return;
    // Refused when another process was faster; then its version is read again.
    await driver.batch([claimVersion(version), ...next.map((each) => statement(textFor(driver, each)))]);
  }
}

async function currentVersion(driver: SqlDriver): Promise<number> {
  const [row] = await driver.all("select value from meta where name = $1", [VERSION]);
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
  return typeof each === "string" ? each : each[name];
}

function statement(sql: string): Statement {
  return { sql, params: [] };
}

function tooNew(version: number) {
  return holdfastError(
    "database_too_new",
    `The database has schema version ${version}; this version of Holdfast knows ${migrations.length}.`,
  );
}
