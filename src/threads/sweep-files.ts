// Removes the bytes that no file names any more, of which nobody can be about to make a copy: what was unnamed an hour ago
// and is so now. When a file loses its name its bytes stay, so that no write has to look for others of that name.
import type { FileStore } from "../backend/file-store.ts";

/** Longer than anybody who has read of a file takes to commit a copy of it. */
const GRACE_MS = 3_600_000;

/** What more there is goes the next time. */
const MOST_AT_ONCE = 10_000;

type Lent = {
  readonly files: Pick<FileStore, "unnamed" | "removeUnnamed">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** Does something once an hour, however often it is called. */
export function createSweep({ files, now }: Lent): () => Promise<void> {
  let seen: ReadonlySet<string> = new Set();
  let lookedAt: number | undefined;
  return async () => {
    const at = now();
    if (lookedAt !== undefined && at - lookedAt < GRACE_MS) return;
    const unnamed = await files.unnamed(MOST_AT_ONCE);
    await files.removeUnnamed(unnamed.filter((hash) => seen.has(hash)));
    seen = new Set(unnamed);
    lookedAt = at;
  };
}
