// What SQLite's error numbers mean to somebody who runs Holdfast.
import { type ErrorCode, errorMessage, holdfastError } from "../../contracts/error.ts";

// https://www.sqlite.org/rescode.html; the low byte of a number is its kind.
const BUSY = 5;
const kinds: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  3: ["database_read_only", "may not be opened for writing"], // PERM
  [BUSY]: ["database_unavailable", "is locked by another program"],
  6: ["database_unavailable", "is locked"], // LOCKED
  7: ["database_unavailable", "needs more memory than there is"], // NOMEM
  8: ["database_read_only", "cannot be written to"], // READONLY
  10: ["database_unavailable", "could not be read or written"], // IOERR
  11: ["database_corrupt", "is damaged"], // CORRUPT
  13: ["database_full", "has no room left"], // FULL
  14: ["database_unavailable", "could not be opened"], // CANTOPEN
  15: ["database_unavailable", "is locked by another program"], // PROTOCOL
  26: ["database_corrupt", "is no SQLite database"], // NOTADB
};

/** The error to throw. A statement that is wrong or breaks a constraint is our own mistake, and stays what it is. */
export function sqliteError(error: unknown, path: string): unknown {
  const [code, what] = kinds[kindOf(error) ?? 0] ?? [];
  return code === undefined ? error : holdfastError(code, `"${path}" ${what}: ${errorMessage(error)}.`, error);
}

export function isBusy(error: unknown): boolean {
  return kindOf(error) === BUSY;
}

function kindOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode & 0xff;
}
