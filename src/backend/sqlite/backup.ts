// A backup of a SQLite file while its engine goes on: one moment of it, in one file, read again before anybody relies on it.
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  rmSync,
} from "node:fs";
import { resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { type HoldfastError, holdfastError } from "../../contracts/error.ts";
import { openReadOnly } from "./read-only.ts";
import { sqliteError } from "./sqlite-error.ts";

export type BackupOptions = {
  /** Copies the key file beside the backup too. Whoever has both can read everything. */
  readonly includeKey?: boolean;
  onProgress?(done: number, of: number): void;
};

export type Backup = {
  readonly file: string;
  /** Where the key was copied to. */
  readonly key: string | null;
  readonly tables: readonly { readonly table: string; readonly rows: number }[];
};

const PAGES_AT_ONCE = 1_000;

/** Throws `backup_exists` for a file that is there, and `backup_damaged` for one that cannot be read again. */
export async function backupSqlite(path: string, given: string, options: BackupOptions = {}): Promise<Backup> {
  const file = resolve(given);
  const key = options.includeKey ? `${file}.key` : null;
  for (const each of [file, key]) if (each !== null && existsSync(each)) throw exists(each);
  if (key !== null && !existsSync(`${path}.key`)) {
    throw holdfastError("secret_key_missing", `There is no key file ${path}.key; the key is kept elsewhere.`);
  }
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  const source = openReadOnly(path);
  try {
    // Made here and not by SQLite, so that nobody else may read it from its first byte on.
    closeSync(openSync(draft, "wx", 0o600));
    // One transaction: what the engine commits meanwhile is neither seen nor waited for.
    source.exec("begin");
    const tables = countRows(source);
    const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) =>
      options.onProgress?.(totalPages - remainingPages, totalPages);
    await backup(source, draft, { rate: PAGES_AT_ONCE, progress });
    verify(draft, tables);
    publish(draft, file);
    if (key !== null) copyKey(`${path}.key`, key);
    return { file, key, tables };
  } catch (error) {
    throw sqliteError(error, file);
  } finally {
    source.close();
    rmSync(draft, { force: true });
  }
}

/** Tables of SQLite itself and the parts of an index have no count that says something. */
const TABLES =
  "select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite%'";

function countRows(database: DatabaseSync): Backup["tables"] {
  const names = database
    .prepare(TABLES)
    .all()
    .map(({ name }) => String(name));
  return names.toSorted().map((table) => {
    const row = database.prepare(`select count(*) as count from "${table}"`).get();
    return { table, rows: Number(row?.count) };
  });
}

function verify(draft: string, expected: Backup["tables"]): void {
  const database = new DatabaseSync(draft);
  try {
    // One file that can be carried away, without a log beside it.
    database.exec("pragma journal_mode = delete");
    const problems = database
      .prepare("pragma integrity_check")
      .all()
      .map(({ integrity_check }) => integrity_check);
    if (problems.join() !== "ok") throw damaged(`The check of its pages says: ${problems.slice(0, 3).join("; ")}.`);
    const found = countRows(database);
    if (JSON.stringify(found) !== JSON.stringify(expected)) throw damaged("Its tables have other numbers of rows.");
  } finally {
    database.close();
  }
  const handle = openSync(draft, "r+");
  fsyncSync(handle);
  closeSync(handle);
}

/** Under its name only when it is whole; and never over another file. */
function publish(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (thrown) {
    if (isThere(thrown)) throw exists(file);
    // There are file systems without links.
    copyNew(draft, file);
  }
}

function copyKey(from: string, to: string): void {
  copyNew(from, to);
  chmodSync(to, 0o600);
}

function copyNew(from: string, to: string): void {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  } catch (thrown) {
    throw isThere(thrown) ? exists(to) : thrown;
  }
}

function isThere(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST";
}

function exists(file: string): HoldfastError {
  return holdfastError("backup_exists", `There is a file "${file}" already.`);
}

function damaged(detail: string): HoldfastError {
  return holdfastError("backup_damaged", detail);
}
