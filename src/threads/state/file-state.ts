// The files of a thread, as its state offers them.
import type { FileRecord, NewFile } from "../../backend/write.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { directoryOf, isBelow, nameOf, normalizePath } from "../../contracts/standard/file-path.ts";
import { directoryOfGlob, readGlob } from "../../contracts/standard/glob.ts";
import type { Host } from "../host.ts";
import { type FileTree, fileTree, newDirectory } from "./file-tree.ts";
import { grepFiles } from "./grep-files.ts";
import { checkCount, newFile } from "./new-file.ts";
import type { StateScope } from "./state-scope.ts";
import type { FileStat, ThreadState } from "./thread-state.ts";

type FileState = Pick<
  ThreadState,
  | "writeFile"
  | "readFile"
  | "readFileStream"
  | "statFile"
  | "readdirFile"
  | "unlinkFile"
  | "mkdirFile"
  | "rmdirFile"
  | "moveFile"
  | "renameFile"
  | "getFileStats"
  | "grepFiles"
  | "findFiles"
>;

/** The files as this scope sees them. */
export function treeOf({ stores, now }: Host, { thread, buffer }: Pick<StateScope, "thread" | "buffer">): FileTree {
  return fileTree({ files: stores.files, threadId: thread.id, writes: buffer.writes, now: () => now() * 1_000 });
}

export function fileState(host: Host, scope: StateScope): FileState {
  const { buffer } = scope;
  const thread_id = scope.thread.id;
  const tree = treeOf(host, scope);
  const put = (file: NewFile) => ({ write: "file", thread_id, file }) as const;
  const remove = (path: string) => ({ write: "file_gone", thread_id, path }) as const;

  async function bytes(path: string): Promise<Uint8Array | null> {
    const found = await tree.stat(normalizePath(path));
    if (!found) return null;
    if (found.is_directory) throw isDirectory(found.path);
    return (await tree.content(found.hash)) ?? null;
  }

  /** What stands on the way to a path must not be a file. */
  async function checkWay(path: string): Promise<void> {
    for (let above = directoryOf(path); above !== "/"; above = directoryOf(above)) {
      if (await tree.file(above)) throw holdfastError("file_exists", `"${above}" is a file, and no directory.`);
    }
  }

  async function move(from: string, to: string): Promise<void> {
    const moved = await tree.stat(from);
    if (!moved) throw notFound(from);
    if (from === "/" || to === "/") throw rootRefused();
    if (isBelow(to, from)) throw holdfastError("invalid_file_path", `"${to}" lies inside "${from}" itself.`);
    if (await tree.stat(to)) throw holdfastError("file_exists", `There is something at "${to}" already.`);
    await checkWay(to);
    const rows = moved.is_directory ? await tree.below(from) : [moved];
    // Made here, because a directory that nobody made has no row that could be moved.
    const directory = moved.is_directory ? [remove(from), put(newDirectory(to))] : [];
    await buffer.write(
      ...directory,
      ...rows.flatMap((row) => [put(renamed(row, `${to}${row.path.slice(from.length)}`)), remove(row.path)]),
    );
  }

  return {
    async writeFile(given, content, options = {}) {
      const path = normalizePath(given);
      if (path === "/") throw rootRefused();
      const file = newFile(path, content, options);
      const there = await tree.stat(path);
      if (there?.is_directory) throw isDirectory(path);
      if (!there) {
        await checkWay(path);
        checkCount(thread_id, (await tree.totals()).files + 1);
      }
      await buffer.write(put(file));
      const { content: _, ...record } = file;
      return statOf({ ...record, created_at: host.now() * 1_000 });
    },
    readFile: bytes,
    async readFileStream(path) {
      const content = await bytes(path);
      return content && streamOf(content);
    },
    async statFile(path) {
      const found = await tree.stat(normalizePath(path));
      return found ? statOf(found) : null;
    },
    async readdirFile(given) {
      const directory = normalizePath(given);
      const found = await tree.entries(directory);
      // What has something in it is one.
      if (found.length === 0) await requireDirectory(tree, directory);
      return found.map(statOf);
    },
    async unlinkFile(given) {
      const found = await tree.stat(normalizePath(given));
      if (!found) return false;
      if (found.is_directory) throw isDirectory(found.path);
      await buffer.write(remove(found.path));
      return true;
    },
    async mkdirFile(given) {
      const path = normalizePath(given);
      const there = await tree.stat(path);
      if (there && !there.is_directory) throw holdfastError("file_exists", `"${path}" is a file, and no directory.`);
      if (path === "/") return;
      await checkWay(path);
      await buffer.write(put(newDirectory(path)));
    },
    async rmdirFile(given) {
      const directory = await requireDirectory(tree, normalizePath(given));
      if (directory === "/") throw rootRefused();
      if ((await tree.below(directory)).length > 0) {
        throw holdfastError("directory_not_empty", `"${directory}" is not empty.`);
      }
      await buffer.write(remove(directory));
    },
    async moveFile(from, to) {
      await move(normalizePath(from), normalizePath(to));
    },
    async renameFile(given, name) {
      const path = normalizePath(given);
      const to = normalizePath(`${directoryOf(path)}/${name}`);
      if (directoryOf(to) !== directoryOf(path) || nameOf(to) !== name) {
        throw holdfastError("invalid_file_path", `${JSON.stringify(name)} is no name of a file.`);
      }
      await move(path, to);
    },
    getFileStats: () => tree.totals(),
    async grepFiles(pattern, options = {}) {
      return await grepFiles(tree, pattern, { ...options, path: normalizePath(options.path ?? "/") });
    },
    async findFiles(glob) {
      const isNamed = readGlob(glob);
      const directory = directoryOfGlob(glob);
      const below = await tree.below(directory);
      // A file has nothing below it, and `/a/**` names the file `/a` too.
      const file = below.length === 0 ? await tree.file(directory) : undefined;
      return [...below, ...(file ? [file] : [])].filter((each) => !each.is_directory && isNamed(each.path)).map(statOf);
    },
  };
}

async function requireDirectory(tree: FileTree, path: string): Promise<string> {
  const found = await tree.stat(path);
  if (!found) throw notFound(path);
  if (!found.is_directory) throw holdfastError("file_not_directory", `"${path}" is a file.`);
  return path;
}

/** The same bytes under another path. A name that was given to the file stays; one that only repeats the path follows it. */
function renamed({ created_at: _, ...file }: FileRecord, path: string): NewFile {
  return { ...file, path, name: file.name === nameOf(file.path) ? nameOf(path) : file.name };
}

function statOf(record: FileRecord): FileStat {
  const { path, name, mime_type, size, is_directory, width, height, metadata, created_at } = record;
  return {
    ...{ path, name, mimeType: mime_type, size, isDirectory: is_directory },
    ...(width !== null && { width }),
    ...(height !== null && { height }),
    metadata: metadata === null ? {} : (JSON.parse(metadata) as JsonMap),
    createdAt: created_at,
  };
}

const PIECE_BYTES = 64 * 1024;

function streamOf(content: Uint8Array): ReadableStream<Uint8Array> {
  let from = 0;
  return new ReadableStream({
    pull(controller) {
      if (from >= content.length) return controller.close();
      controller.enqueue(content.subarray(from, from + PIECE_BYTES));
      from += PIECE_BYTES;
    },
  });
}

function notFound(path: string) {
  return holdfastError("file_not_found", `There is no file "${path}".`);
}

function isDirectory(path: string) {
  return holdfastError("file_is_directory", `"${path}" is a directory.`);
}

function rootRefused() {
  return holdfastError("invalid_file_path", '"/" is the root, and neither a file nor a directory that can be moved.');
}
