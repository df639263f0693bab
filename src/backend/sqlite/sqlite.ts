// SQLite as a backend: one file, one engine process, nothing to install.
import { accessSync, closeSync, constants, existsSync, openSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { errorMessage, type HoldfastError, holdfastError } from "../../contracts/error.ts";
import type { Clock } from "../clock.ts";
import type { Backend, SqlDriver } from "../sql-driver.ts";
import { lockFile } from "./lock-file.ts";
import { longReader } from "./long-reader.ts";
import { sqliteDriver } from "./sqlite-driver.ts";
import { sqliteError } from "./sqlite-error.ts";

export type SqliteOptions = {
  /**
   * `full`, unless told otherwise: what was committed survives a power failure. With `normal` it survives a crash of the
   * process, while a power failure may take the last commits back, always whole ones.
   */
  readonly synchronous?: "full" | "normal";
  /** Goes by this clock, as does the runtime on it: `heldClock()` of holdfast/testing. The machine's unless given. */
  readonly clock?: Clock;
};

/** How long another program may lock the file before a write gives up. */
const BUSY_MILLISECONDS = 5_000;

/** What SQLite may keep of the file in memory; its own 2 MB are less than a few thousand threads that are in use. */
const CACHE_KILOBYTES = 32 * 1_024;

/**
 * The database in a file, which is made if it does not exist; its folder must. Beside it stand SQLite's own log, a lock
 * that a second engine process runs into, and the key for sealed values. `:memory:` keeps everything in memory instead.
 */
export function sqlite(path: string, options: SqliteOptions = {}): Backend {
  const held = options.clock && { clock: options.clock };
  if (path === ":memory:") return { name: "sqlite", place: path, ...held, open: async () => openMemory(options) };
  const place = resolve(path);
  return { name: "sqlite", place, ...held, keyFile: `${place}.key`, open: async () => openFile(place, options) };
}

function openMemory({ clock }: SqliteOptions): SqlDriver {
  return sqliteDriver({ database: new DatabaseSync(":memory:"), path: ":memory:", clock });
}

function openFile(given: string, { synchronous = "full", clock }: SqliteOptions): SqlDriver {
  const path = realPath(given);
  const unlock = lockFile(path);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: BUSY_MILLISECONDS });
    // What is erased must not stay readable in the places that it has freed, until something else is written there.
    database.exec(`pragma journal_mode = wal; pragma synchronous = ${synchronous === "normal" ? "normal" : "full"};
      pragma cache_size = -${CACHE_KILOBYTES}; pragma secure_delete = on`);
    return sqliteDriver({ database, path, reader: longReader(path), unlock, clock });
  } catch (error) {
    database?.close();
    unlock();
    throw sqliteError(error, path);
  }
}

/** Where the file really is, so that two names of one file cannot have two locks. */
function realPath(path: string): string {
  try {
    const folder = dirname(path);
    if (!statSync(folder).isDirectory()) throw pathInvalid(path, `"${folder}" is not a folder.`);
    if (!existsSync(path)) {
      checkWritable(folder, path);
      const made = join(realpathSync(folder), basename(path));
      // What people say to an agent is nobody else's business; SQLite gives its log the rights of the file.
      closeSync(openSync(made, "a", 0o600));
      return made;
    }
    if (statSync(path).isDirectory()) throw pathInvalid(path, "It is a folder.");
    const real = realpathSync(path);
    checkWritable(dirname(real), path);
    checkWritable(real, path);
    return real;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw pathInvalid(path, errorMessage(error), error);
  }
}

// SQLite opens what it may not write for reading, without a word, and fails at the first commit.
function checkWritable(target: string, path: string): void {
  try {
    accessSync(target, constants.W_OK);
  } catch (error) {
    throw holdfastError("database_read_only", `"${path}": "${target}" cannot be written to.`, error);
  }
}

function pathInvalid(path: string, why: string, cause?: unknown): HoldfastError {
  return holdfastError("database_path_invalid", `"${path}" cannot be a database. ${why}`, cause);
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
