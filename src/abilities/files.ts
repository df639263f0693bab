// The operations on the files of a thread: list, read, write and delete them. Paths are those of the thread's own root, and
// nothing outside of it has one.
import { z } from "zod";
import { compareText } from "../contracts/compare-text.ts";
import { holdfastError } from "../contracts/error.ts";
import { base64Size, readBase64 } from "../contracts/standard/attachment.ts";
import { normalizePath } from "../contracts/standard/file-path.ts";
import type { FileStat, ThreadState } from "../threads/state/thread-state.ts";
import { mediaType } from "./attachments.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import type { Workbench } from "./reach.ts";
import { threadId, timeOf } from "./shapes.ts";

/** How large a file may be that is sent or answered within JSON. Tools may write larger ones, which `DOWNLOAD_FILE` gives. */
export const MOST_FILE_BYTES = 10_000_000;

/** The names under which doors that send and answer bytes as they are call them. */
export const WRITE_FILE = "holdfast/write-file";
export const DOWNLOAD_FILE = "holdfast/download-file";

/** What `DOWNLOAD_FILE` answers with. */
export type DownloadedFile = { readonly path: string; readonly mime_type: string; readonly bytes: Uint8Array };

const PAGE = 1_000;

const LONGEST_PATH = 4_096;
const LONGEST_GLOBBED = 1_000;

const path = z
  .string()
  .min(1)
  .max(LONGEST_PATH)
  .meta({ description: "Where it lies among the thread's files, such as notes/plan.md." });

const fileShape = z.object({
  path: z.string(),
  name: z.string(),
  mime_type: z.string(),
  size: z.int().meta({ description: "In bytes." }),
  is_directory: z.boolean(),
  created_at: z.iso.datetime(),
});

export function fileOperations({ define, reach }: Workbench): readonly Operation[] {
  return [
    define({
      name: "holdfast/list-files",
      title: "List the files of a thread",
      description: "What lies in a directory of a thread, by path; with deep, every file below it.",
      input: z.object({
        thread_id: threadId,
        directory: z.string().min(1).max(LONGEST_PATH).default("/"),
        deep: z.stringbool().or(z.boolean()).default(false),
        after: path.optional().meta({ description: "The path of the last one that was seen." }),
        limit: z.coerce.number().int().min(1).max(PAGE).default(PAGE),
      }),
      output: z.object({ files: z.array(fileShape), has_more: z.boolean() }),
      effect: "read",
      capability: "files.read",
      doors: ["http", "cli", "mcp"],
      route: { method: "get", path: "/threads/{thread_id}/files" },
      async execute({ thread_id, directory, deep, after, limit }, { principal }) {
        const state = await (await reach.thread(thread_id, principal, "read")).state();
        const found = await listed(state, ownPath(directory), deep);
        const seen = after === undefined ? undefined : ownPath(after);
        const rest = found.filter((file) => seen === undefined || compareText(file.path, seen) > 0);
        return { files: rest.slice(0, limit).map(shownFile), has_more: rest.length > limit };
      },
    }),

    define({
      name: "holdfast/read-file",
      title: "Read a file of a thread",
      description: "The content of a file as base64, and what is known of it.",
      input: z.object({ thread_id: threadId, path }),
      output: fileShape.extend({ data: z.string().meta({ description: "Base64." }) }),
      effect: "read",
      capability: "files.read",
      doors: ["http", "cli", "mcp"],
      route: { method: "get", path: "/threads/{thread_id}/files/{path}" },
      async execute({ thread_id, path: given }, { principal }) {
        const state = await (await reach.thread(thread_id, principal, "read")).state();
        const { stat, bytes } = await contentOf(state, ownPath(given), MOST_FILE_BYTES);
        return { ...shownFile(stat), data: Buffer.from(bytes).toString("base64") };
      },
    }),

    define({
      name: DOWNLOAD_FILE,
      title: "Download a file of a thread",
      description: "The bytes of a file of whatever size, for doors that can answer with them.",
      input: z.object({ thread_id: threadId, path }),
      output: z.custom<DownloadedFile>(),
      effect: "read",
      capability: "files.read",
      doors: ["http", "cli"],
      async execute({ thread_id, path: given }, { principal }) {
        const state = await (await reach.thread(thread_id, principal, "read")).state();
        const { stat, bytes } = await contentOf(state, ownPath(given), Number.POSITIVE_INFINITY);
        return { path: stat.path, mime_type: stat.mimeType, bytes };
      },
    }),

    define({
      name: WRITE_FILE,
      title: "Write a file of a thread",
      description:
        "Stores a file under a path, in place of one that is there. Its type follows from its name unless given.",
      input: z.object({
        thread_id: threadId,
        path,
        data: z.string().meta({ description: "Base64." }),
        mime_type: mediaType.optional(),
      }),
      output: fileShape,
      effect: "write",
      idempotent: true,
      capability: "files.write",
      route: { method: "put", path: "/threads/{thread_id}/files/{path}" },
      async execute({ thread_id, path: given, data, mime_type: type }, { principal }) {
        const state = await (await reach.thread(thread_id, principal)).state();
        const where = ownPath(given);
        checkSize(where, base64Size(data));
        const bytes = readBase64(data);
        if (!bytes) throw holdfastError("invalid_input", `"${WRITE_FILE}" cannot be called so: data: must be base64`);
        return shownFile(await state.writeFile(where, bytes, defined({ mimeType: type })));
      },
    }),

    define({
      name: "holdfast/delete-file",
      title: "Delete a file of a thread",
      description: "Takes a file out of the thread. Messages that name it keep its name.",
      input: z.object({ thread_id: threadId, path }),
      output: z.object({ deleted: z.literal(true) }),
      effect: "destroy",
      capability: "files.write",
      route: { method: "delete", path: "/threads/{thread_id}/files/{path}" },
      async execute({ thread_id, path: given }, { principal }) {
        const state = await (await reach.thread(thread_id, principal)).state();
        const where = ownPath(given);
        if (!(await state.unlinkFile(where))) throw notFound(where);
        return { deleted: true as const };
      },
    }),
  ];
}

/**
 * The one spelling of a path, `/a/b`, with or without its first slash. What steps upwards is refused, also where it would
 * stay inside: nobody who means well has to write that.
 */
function ownPath(given: string): string {
  if (given.split(/[\\/]/).includes("..")) {
    throw holdfastError("invalid_file_path", `${JSON.stringify(given.slice(0, 200))} steps out of its directory.`);
  }
  return normalizePath(given);
}

async function listed(state: ThreadState, directory: string, deep: boolean): Promise<readonly FileStat[]> {
  if (!deep) return inOrder(await state.readdirFile(directory));
  const below = directory === "/" ? "/" : `${directory}/`;
  // Where no more fits behind the path, it is looked for from the root.
  const glob = Buffer.byteLength(below) > LONGEST_GLOBBED ? "/**" : `${below}**`;
  const found = (await state.findFiles(glob)).filter((file) => file.path.startsWith(below));
  // Refused when it is none, or not there.
  if (found.length === 0) await state.readdirFile(directory);
  return inOrder(found);
}

function inOrder(files: readonly FileStat[]): readonly FileStat[] {
  return files.toSorted((left, right) => compareText(left.path, right.path));
}

async function contentOf(state: ThreadState, where: string, mostBytes: number) {
  const stat = await state.statFile(where);
  if (!stat) throw notFound(where);
  if (!stat.isDirectory) checkSize(where, stat.size, mostBytes);
  const bytes = await state.readFile(where);
  if (!bytes) throw notFound(where);
  return { stat, bytes };
}

function checkSize(where: string, bytes: number, most = MOST_FILE_BYTES): void {
  if (bytes <= most) return;
  throw holdfastError("file_too_large", `"${where}" has ${bytes} bytes, and ${most} is the most here.`);
}

function shownFile({ path: where, name, mimeType: mime_type, size, isDirectory, createdAt }: FileStat) {
  return { path: where, name, mime_type, size, is_directory: isDirectory, created_at: timeOf(createdAt) };
}

function notFound(where: string) {
  return holdfastError("file_not_found", `There is no file "${where}".`);
}
