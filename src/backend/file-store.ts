// The files of threads, as they are read. Bytes are stored once under their hash; a path only names them.
import type { FileRecord } from "./write.ts";

/** Contents that were stored under their hashes, and what they take. */
export type Unnamed = { readonly contents: number; readonly bytes: number };

export interface FileStore {
  get(threadId: string, path: string): Promise<FileRecord | undefined>;
  /** The bytes of a hash; undefined when nothing was ever stored under it. */
  content(hash: string): Promise<Uint8Array | undefined>;
  /** Everything below a directory, by path; `deep` with what is below that too. The directory itself is not among it. */
  list(threadId: string, directory: string, options: { readonly deep: boolean }): Promise<readonly FileRecord[]>;
  totals(threadId: string): Promise<{ readonly files: number; readonly bytes: number }>;
  /** What is stored and no file of any thread names, counted. */
  countUnnamed(): Promise<Unnamed>;
  /** The hashes of up to so many of them. */
  unnamed(limit: number): Promise<readonly string[]>;
  /** Removes those of them that are still unnamed; none that somebody is storing again. Counts what it has removed. */
  removeUnnamed(hashes: readonly string[]): Promise<Unnamed>;
}
