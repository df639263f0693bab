// Keeps everybody from storing and naming bytes while some are removed, so that none go that somebody is about to name.
import type { SqlDriver, Statement } from "../sql-driver.ts";

/**
 * Whoever stores bytes that are there already leaves them as they are, and names them a moment later; a copy names them
 * without storing any: neither may happen while they are removed. Behind the rows of threads, which everybody locks before
 * writing files. As a block, because a lock of its own is only taken in a transaction that was begun by hand.
 */
export function lockContents({ isShared }: SqlDriver): readonly Statement[] {
  if (!isShared) return [];
  const sql = "do $do$ begin lock table blobs, files in share row exclusive mode; end $do$";
  return [{ sql, params: [] }];
}
