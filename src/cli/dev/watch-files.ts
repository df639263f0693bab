// Tells when one of some files changes. Their folders are watched rather than themselves, because many editors save by
// putting another file in the place of the old one. A folder changes when another folder, a YAML or a JSON file comes into it.
// A file may be a pattern: `*.workflow.yaml` is any file of its folder that ends so.
import { existsSync, type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
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

  function watchFolder(folder: string, { entries, endings, isListed }: Watched): readonly FSWatcher[] {
    try {
      const watcher = watch(folder, (event, name) => {
        if (name === null) return;
        const path = join(folder, name);
        const hasCome = (isListed && isLookedFor(path)) || endings.some((ending) => isNamedSo(path, ending));
        const file = entries.get(path) ?? (event === "rename" && hasCome ? path : undefined);
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
      watchers = [...byFolder(files)].flatMap(([folder, watched]) => watchFolder(folder, watched));
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

type Watched = {
  /** Which of the files it is about, by the path of what changes. */
  readonly entries: ReadonlyMap<string, string>;
  /** What the names of other files of it end with that are looked for. */
  readonly endings: readonly string[];
  /** Whether the folder is one of the files itself. */
  readonly isListed: boolean;
};

/** What to look for in which folder. For a file whose folder is missing, the folder counts, or the one above. */
function byFolder(files: readonly string[]): ReadonlyMap<string, Watched> {
  const folders = new Map<string, Map<string, string>>();
  const listed = new Set(files.filter(isFolder));
  const patterns = files.filter(isPattern);
  const entriesOf = (folder: string) => folders.get(folder) ?? folders.set(folder, new Map()).get(folder);
  for (const file of files) {
    let entry = file;
    while (!existsSync(dirname(entry))) entry = dirname(entry);
    entriesOf(dirname(entry))?.set(entry, file);
    if (listed.has(file)) entriesOf(file);
  }
  const endingsIn = (folder: string) =>
    patterns.filter((pattern) => dirname(pattern) === folder).map((pattern) => basename(pattern).slice(1));
  return new Map(
    [...folders].map(([folder, entries]) => [
      folder,
      { entries, endings: endingsIn(folder), isListed: listed.has(folder) },
    ]),
  );
}

function isPattern(file: string): boolean {
  return basename(file).startsWith("*");
}

function isNamedSo(path: string, ending: string): boolean {
  return path.endsWith(ending) && !basename(path).startsWith(".");
}

function isLookedFor(path: string): boolean {
  return !basename(path).startsWith(".") && (/\.(?:ya?ml|json)$/i.test(path) || isFolder(path));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function changedAt(file: string): number {
  if (isPattern(file)) return lastOf(dirname(file), (path) => isNamedSo(path, basename(file).slice(1)));
  return isFolder(file) ? lastOf(file, isLookedFor) : mtimeOf(file);
}

function lastOf(folder: string, isMeant: (path: string) => boolean): number {
  if (!isFolder(folder)) return 0;
  const found = readdirSync(folder).map((name) => join(folder, name));
  return Math.max(0, ...found.filter(isMeant).map(mtimeOf));
}

function mtimeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
