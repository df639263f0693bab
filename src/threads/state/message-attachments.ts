// What a message is to carry: files of the thread that it names, and new ones that are stored with it.
import type { Write } from "../../backend/write.ts";
import { holdfastError } from "../../contracts/error.ts";
import { isMap } from "../../contracts/json.ts";
import { attachmentOf, base64Size, readBase64, uploadPath } from "../../contracts/standard/attachment.ts";
import { normalizePath } from "../../contracts/standard/file-path.ts";
import type { Attachment } from "../../contracts/standard/standard-message.ts";
import type { Host } from "../host.ts";
import { treeOf } from "./file-state.ts";
import type { FileTree } from "./file-tree.ts";
import { checkCount, checkSize, newFile } from "./new-file.ts";
import type { StateScope } from "./state-scope.ts";
import type { AttachmentInput } from "./thread-state.ts";

type Named = Extract<AttachmentInput, { path: string }>;
type Uploaded = Extract<AttachmentInput, { data: string }>;

/**
 * The records that go into the message and the files that have to be stored before it. Throws `file_not_found`, which names
 * every path that is missing, and `file_too_large`; nothing is written here.
 */
export async function messageAttachments(
  host: Host,
  scope: Pick<StateScope, "thread" | "buffer">,
  given: readonly AttachmentInput[],
): Promise<{ readonly attachments: readonly Attachment[]; readonly writes: readonly Write[] }> {
  if (given.length === 0) return { attachments: [], writes: [] };
  const tree = treeOf(host, scope);
  const inputs = given.map(readInput);
  await checkNamed(tree, inputs);
  const writes: Write[] = [];
  const attachments: Attachment[] = [];
  for (const input of inputs) {
    const id = crypto.randomUUID();
    const about = { id, name: input.name, description: input.description };
    if ("path" in input) {
      const file = await tree.file(input.path);
      if (file) attachments.push(attachmentOf(file, about));
    } else {
      const file = upload(input, { ms: host.now(), random: id.slice(0, 8) });
      writes.push({ write: "file", thread_id: scope.thread.id, file });
      attachments.push(attachmentOf(file, about));
    }
  }
  if (writes.length > 0) checkCount(scope.thread.id, (await tree.totals()).files + writes.length);
  return { attachments, writes };
}

function readInput(given: AttachmentInput): Named | Uploaded {
  if (typeof given === "string") return { path: normalizePath(given) };
  if (isMap(given) && "path" in given) return { ...given, path: normalizePath(given.path) };
  const { name, mimeType, data } = isMap(given) ? given : ({} as Partial<Uploaded>);
  if ([name, mimeType, data].every((field) => typeof field === "string")) return given;
  throw holdfastError("invalid_argument", "attachments must be paths, or { name, mimeType, data }.");
}

async function checkNamed(tree: FileTree, inputs: readonly (Named | Uploaded)[]): Promise<void> {
  const missing: string[] = [];
  for (const input of inputs) {
    if ("path" in input && !(await tree.file(input.path))) missing.push(JSON.stringify(input.path));
  }
  if (missing.length > 0) throw holdfastError("file_not_found", `There is no file ${missing.join(", ")}.`);
}

function upload(input: Uploaded, at: { ms: number; random: string }) {
  const { name, mimeType, data, width, height } = input;
  // Before it is decoded: what is refused need not be held twice.
  checkSize(name, base64Size(data));
  const bytes = readBase64(data);
  if (!bytes) throw holdfastError("invalid_argument", `attachments: the data of "${name}" must be base64.`);
  return newFile(uploadPath(input, at), bytes, { name, mimeType, width, height });
}
