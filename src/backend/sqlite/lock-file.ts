// One engine process a file. The lock is the operating system's, so it ends with the process, however that ends.
import { DatabaseSync } from "node:sqlite";
import { holdfastError } from "../../contracts/error.ts";
import { isBusy, sqliteError } from "./sqlite-error.ts";

/** Long enough for two processes that start together to get out of each other's way. */
const PATIENCE_MILLISECONDS = 250;

/**
 * Locks `<path>.lock` until the returned function is called, or refuses with `database_in_use`. The lock is an open
 * write transaction on a small database: others cannot begin one, yet they can read who holds it. The file is never
 * removed, because whoever waits for it would then hold a lock that nobody sees; and it must never be opened by other
 * means than SQLite, because closing any handle of a file drops the locks of its process.
 */
export function lockFile(path: string): () => void {
  const lockPath = `${path}.lock`;
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(lockPath, { timeout: PATIENCE_MILLISECONDS });
    // Who holds it is no longer true after a power failure: nothing in it is worth waiting for the disk.
    lock.exec("pragma synchronous = off");
    take(lock);
    return lock.close.bind(lock);
  } catch (error) {
    const refusal = lock && isBusy(error) ? inUse(path, lock) : sqliteError(error, lockPath);
    lock?.close();
    throw refusal;
  }
}

function take(lock: DatabaseSync): void {
  for (;;) {
    lock.exec(`pragma user_version = ${process.pid}`);
    lock.exec("begin immediate");
    if (holderOf(lock) === process.pid) return;
    lock.exec("rollback"); // another one wrote its number in between; it is refused, but ours has to stand there
  }
}

function holderOf(lock: DatabaseSync): unknown {
  return lock.prepare("pragma user_version").get()?.user_version;
}

function inUse(path: string, lock: DatabaseSync): Error {
  return holdfastError("database_in_use", `"${path}" is in use by ${describeHolder(lock)}.`);
}

function describeHolder(lock: DatabaseSync): string {
  try {
    const holder = holderOf(lock);
    if (holder === process.pid) return `this process (${holder}) already`;
    return holder ? `process ${holder}` : "another process";
  } catch {
    return "another process"; // it is writing its number at this moment
  }
}
