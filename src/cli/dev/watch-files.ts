// Tells when one of some files changes. Their folders are watched rather than themselves, because many editors save by
// putting another file in the place of the old one.
import { existsSync, type FSWatcher, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage } from "../../contracts/error.ts";

export type FileChange = { readonly type: "changed" };

export interface FileWatch {
  /** Once one has changed since the last `take`. */
  changed(): Promise<FileChange>;
  /** The file that has changed; from now on that is known. */
  take(): string;
  /** Watches these instead of those from before. What has changed since then counts, though nobody was looking. */
  only(files: readonly string[], since: number): void;
  close(): void;
}

/** For the other files of a change, and for editors that write in several goes. */
const QUIET_MS = 50;

export function watchFiles(complain: (text: string) => void): FileWatch {
  let watchers: readonly FSWatcher[] = [];
  let known: ReadonlySet<string> = new Set();
  let changedFile = "";
  let change = Promise.withResolvers<FileChange>();
  let timer: NodeJS.Timeout | undefined;

  function notice(file: string): void {
    changedFile = file;
    clearTimeout(timer);
    timer = setTimeout(() => change.resolve({ type: "changed" }), QUIET_MS);
  }

  function watchFolder(folder: string, entries: ReadonlyMap<string, string>): readonly FSWatcher[] {
    try {
      const watcher = watch(folder, (_, name) => {
        const file = name === null ? undefined : entries.get(join(folder, name));
        if (file !== undefined) notice(file);
      });
      watcher.on("error", (error) => complain(`${folder} is not watched any more: ${errorMessage(error)}`));
      return [watcher];
    } catch (thrown) {
      complain(`${folder} cannot be watched: ${errorMessage(thrown)}`);
      return [];
    }
  }

  return {
    changed: () => change.promise,
    take() {
      clearTimeout(timer);
      change = Promise.withResolvers();
      return changedFile;
    },
    only(files, since) {
      const before = watchers;
      watchers = [...byFolder(files)].flatMap(([folder, entries]) => watchFolder(folder, entries));
      for (const watcher of before) watcher.close();
      for (const file of files) if (!known.has(file) && changedAt(file) > since) notice(file);
      known = new Set(files);
    },
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** What to look for in which folder. For a file whose folder is missing, the folder counts, or the one above. */
function byFolder(files: readonly string[]): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const folders = new Map<string, Map<string, string>>();
  for (const file of files) {
    let entry = file;
    while (!existsSync(dirname(entry))) entry = dirname(entry);
    const folder = dirname(entry);
    folders.set(folder, (folders.get(folder) ?? new Map()).set(entry, file));
  }
  return folders;
}

function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
