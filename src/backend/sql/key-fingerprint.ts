// Which key a database was sealed with: only what tells one from another is kept.
import { holdfastError } from "../../contracts/error.ts";
import type { SqlDriver, Statement } from "../sql-driver.ts";
import * as rows from "./rows.ts";

const FINGERPRINT = "secret_key_fingerprint";

/** Undefined when nothing was sealed yet. */
export async function fingerprintOf(reader: Pick<SqlDriver, "all">): Promise<string | undefined> {
  const [known] = await reader.all("select value from meta where name = $1", [FINGERPRINT]);
  return known && rows.text(known.value);
}

/** The first one stays. */
export function keepFingerprint(fingerprint: string): Statement {
  const sql = "insert into meta (name, value) values ($1, $2) on conflict (name) do nothing";
  return { sql, params: [FINGERPRINT, fingerprint] };
}

/** Throws `secret_key_mismatch` for a database of another key; one of none will do. */
export async function checkFingerprint(reader: Pick<SqlDriver, "all">, fingerprint: string): Promise<void> {
  const known = await fingerprintOf(reader);
  if (known === undefined || known === fingerprint) return;
  throw holdfastError("secret_key_mismatch", "The values in this database were sealed with another key.");
}
