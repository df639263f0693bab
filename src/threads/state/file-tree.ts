// The files of a thread as code sees them: what is stored, what was just written laid over it, and the directories that are
// only there because something stands below them.
import type { FileStore } from "../../backend/file-store.ts";
import type { FileRecord, NewFile, Write } from "../../backend/write.ts";
import { compareText } from "../../contracts/compare-text.ts";
import { directoryOf, isBelow, nameOf } from "../../contracts/standard/file-path.ts";

/** Paths are normal ones throughout. */
export interface FileTree {
  /** The file or directory of that path. */
  stat(path: string): Promise<FileRecord | undefined>;
  /** The file of that path, and neither a directory nor the root. */
  file(path: string): Promise<FileRecord | undefined>;
  /** What stands right in a directory, by path. */
  entries(directory: string): Promise<readonly FileRecord[]>;
  /** Everything that was written below a directory, by path. Directories nobody made are not among it. */
  below(directory: string): Promise<readonly FileRecord[]>;
  content(hash: string): Promise<Uint8Array | undefined>;
  totals(): Promise<{ readonly files: number; readonly bytes: number }>;
}

type Place = {
  readonly files: FileStore;
  readonly threadId: string;
  /** What is not stored yet. */
  readonly writes: readonly Write[];
  /** Microseconds since 1970. */
  readonly now: () => number;
};

export function fileTree({ files, threadId, writes, now }: Place): FileTree {
  /** What was written and is not stored, by path; null for what is gone. Read anew each time: it grows. */
  function unstored(): ReadonlyMap<string, NewFile | null> {
    const byPath = new Map<string, NewFile | null>();
    for (const write of writes) {
      if (write.write === "file" && write.thread_id === threadId) byPath.set(write.file.path, write.file);
      if (write.write === "file_gone" && write.thread_id === threadId) byPath.set(write.path, null);
    }
    return byPath;
  }

  async function row(path: string): Promise<FileRecord | undefined> {
    const written = unstored().get(path);
    if (written === undefined) return await files.get(threadId, path);
    return written === null ? undefined : recordOf(written, now());
  }

  async function below(directory: string): Promise<readonly FileRecord[]> {
    const byPath = new Map((await files.list(threadId, directory, { deep: true })).map((each) => [each.path, each]));
    for (const [path, written] of unstored()) {
      if (!isBelow(path, directory)) continue;
      if (written === null) byPath.delete(path);
      else byPath.set(path, recordOf(written, now()));
    }
    return [...byPath.values()].sort((left, right) => compareText(left.path, right.path));
  }

  async function stat(path: string): Promise<FileRecord | undefined> {
    const found = path === "/" ? undefined : await row(path);
    if (found) return found;
    const [first] = await below(path);
    return first || path === "/" ? impliedDirectory(path, first?.created_at ?? now()) : undefined;
  }

  return {
    stat,
    async file(path) {
      const found = path === "/" ? undefined : await row(path);
      return found?.is_directory === false ? found : undefined;
    },
    async entries(directory) {
      const found = new Map<string, FileRecord>();
      for (const each of await below(directory)) {
        const path = childOn(each.path, directory);
        if (path === each.path) found.set(path, each);
        else if (!found.has(path)) found.set(path, impliedDirectory(path, each.created_at));
      }
      return [...found.values()];
    },
    below,
    async content(hash) {
      const written = writes.find((write) => write.write === "file" && write.file.hash === hash && write.file.content);
      return written?.write === "file" ? written.file.content : await files.content(hash);
    },
    async totals() {
      if (unstored().size === 0) return await files.totals(threadId);
      const all = (await below("/")).filter(({ is_directory }) => !is_directory);
      return { files: all.length, bytes: all.reduce((sum, { size }) => sum + size, 0) };
    },
  };
}

function recordOf({ content: _, ...file }: NewFile, created_at: number): FileRecord {
  return { ...file, created_at };
}

/** The entry of a directory on the way to a path below it. */
function childOn(path: string, directory: string): string {
  let child = path;
  while (directoryOf(child) !== directory) child = directoryOf(child);
  return child;
}

const DIRECTORY = "inode/directory";

function impliedDirectory(path: string, created_at: number): FileRecord {
  return { ...newDirectory(path), created_at };
}

export function newDirectory(path: string): NewFile {
  const nothing = { size: 0, hash: "", width: null, height: null, metadata: null };
  return { path, name: nameOf(path), mime_type: DIRECTORY, is_directory: true, ...nothing };
}
