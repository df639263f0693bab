// What is done with a database as a whole, and not with what is in it: brought up to date, looked at, and moved.
import { type Checked, check, type OnChecked } from "./backend/sql/check.ts";
import { type Migrated, migrate, type OnVersion } from "./backend/sql/migrate.ts";
import type { Reader } from "./backend/sql/move/catalogue.ts";
import { type Moved, type MoveOptions, move } from "./backend/sql/move/move.ts";
import type { Backend, SqlDriver } from "./backend/sql-driver.ts";
import { HoldfastError, holdfastError } from "./contracts/error.ts";
import { createSealing } from "./threads/secrets/sealing.ts";
import { readSecretKey } from "./threads/secrets/secret-key.ts";

/** 32 bytes, as hex or base64; HOLDFAST_SECRET_KEY or the key file beside the database unless given. */
type WithKey = { readonly secretKey?: string | undefined };

/** Brings a database to the version of this code; throws `database_too_new` for one of a newer version. */
export async function migrateDatabase(backend: Backend, onVersion?: OnVersion): Promise<Migrated> {
  return await withDriver(backend, (driver) => migrate(driver, onVersion));
}

export type MoveDatabaseOptions = WithKey &
  Pick<MoveOptions, "signal" | "onProgress"> & { readonly from: Backend; readonly to: Backend };

/**
 * Moves everything from one database to another, with what waits in its place. The key must be there for the new database:
 * `secret_key_missing` or `secret_key_mismatch` otherwise, before anything is changed.
 */
export async function moveDatabase({ from, to, secretKey, ...options }: MoveDatabaseOptions): Promise<Moved> {
  // Before anything is opened: a place that was named is not even made when nothing will come there.
  const fingerprint = fingerprintFor(to, secretKey);
  const named = { ...options, fingerprint, from: from.place, to: to.place };
  return await withDriver(from, (source) => withDriver(to, (target) => move(source, target, named)));
}

/** Looks at a database, and changes nothing. */
export async function checkDatabase(
  backend: Backend,
  reader: Reader,
  { secretKey, onChecked }: WithKey & { readonly onChecked?: OnChecked } = {},
): Promise<Checked> {
  try {
    return await check(reader, fingerprintFor(backend, secretKey), onChecked);
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError) || !thrown.code.startsWith("secret_key")) throw thrown;
    const checked = await check(reader, undefined, onChecked);
    return { ...checked, problems: [...checked.problems, thrown.message] };
  }
}

/** No key is made for what is there already. */
function fingerprintFor({ keyFile, place }: Backend, given: string | undefined): string {
  try {
    return createSealing(readSecretKey({ given, env: process.env, keyFile, mayMake: false })).fingerprint;
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError) || thrown.code !== "secret_key_missing") throw thrown;
    const other = keyFile === undefined ? "" : `, or put its key file at ${keyFile}`;
    throw holdfastError(
      "secret_key_missing",
      `Nothing at ${place} could be opened without its key: set HOLDFAST_SECRET_KEY${other}.`,
      thrown,
    );
  }
}

async function withDriver<Value>(backend: Backend, work: (driver: SqlDriver) => Promise<Value>): Promise<Value> {
  const driver = await backend.open();
  try {
    return await work(driver);
  } finally {
    await driver.close();
  }
}
