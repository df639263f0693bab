// The files of threads, as they are read. Bytes are stored once under their hash; a path only names them.
import type { FileRecord } from "./write.ts";

export interface FileStore {
  get(threadId: string, path: string): Promise<FileRecord | undefined>;
  /** The bytes of a hash; undefined when nothing was ever stored under it. */
  content(hash: string): Promise<Uint8Array | undefined>;
  /** Everything below a directory, by path; `deep` with what is below that too. The directory itself is not among it. */
  list(threadId: string, directory: string, options: { readonly deep: boolean }): Promise<readonly FileRecord[]>;
  totals(threadId: string): Promise<{ readonly files: number; readonly bytes: number }>;
}
