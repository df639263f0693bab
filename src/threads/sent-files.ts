// Files that somebody sends along with a message. A new one is stored under a name that follows from its bytes, so that
// sending it twice is sending it once.
import type { Write } from "../backend/write.ts";
import { sha256 } from "../contracts/canonical-json.ts";
import { holdfastError } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import { attachmentOf, base64Size, readBase64 } from "../contracts/standard/attachment.ts";
import { ATTACHMENTS, extensionOf, normalizePath } from "../contracts/standard/file-path.ts";
import { isMediaType, usualExtension } from "../contracts/standard/mime-type.ts";
import type { Attachment } from "../contracts/standard/standard-message.ts";
import type { Host } from "./host.ts";
import { checkSize, newFile } from "./state/new-file.ts";
import type { AttachmentInput } from "./state/thread-state.ts";
import { threadNotFound, threadTerminated } from "./thread-errors.ts";
import type { MessageInput } from "./tool.ts";

/** The message with what it points to. The files are stored first: a message never names one that is not there. */
export async function withFiles(
  host: Host,
  threadId: string,
  content: string | MessageInput,
  given: readonly AttachmentInput[],
): Promise<string | MessageInput> {
  if (given.length === 0) return content;
  if (!Array.isArray(given)) throw holdfastError("invalid_argument", "attachments must be a list.");
  const read = [];
  for (const each of given) read.push(await readAttachment(host, threadId, each));
  const writes = read.flatMap(({ write }) => (write ? [write] : []));
  if (writes.length > 0) {
    const outcome = await host.stores.writes.apply(threadId, writes);
    if (outcome === "not_found") throw threadNotFound(threadId);
    if (outcome === "terminated") throw threadTerminated(threadId, "and takes no more work");
  }
  const sent: MessageInput = typeof content === "string" ? { content } : content;
  return { ...sent, metadata: { ...sent.metadata, attachments: read.map(({ attachment }) => attachment) } };
}

type Read = { readonly attachment: Attachment; readonly write?: Write };

async function readAttachment(host: Host, threadId: string, given: AttachmentInput): Promise<Read> {
  if (typeof given === "string" || (isMap(given) && "path" in given)) {
    const about = typeof given === "string" ? { path: given } : given;
    const file = await host.stores.files.get(threadId, normalizePath(about.path));
    if (!file || file.is_directory) throw holdfastError("file_not_found", `There is no file "${about.path}".`);
    return { attachment: attachmentOf(file, { ...about, id: idOf(file.path) }) };
  }
  const { name, mimeType, data, width, height, description } = isMap(given) ? given : ({} as Partial<Uploaded>);
  if (typeof name !== "string" || typeof mimeType !== "string" || typeof data !== "string") {
    throw holdfastError("invalid_argument", "attachments must be paths, or { name, mimeType, data }.");
  }
  if (!isMediaType(mimeType)) {
    throw holdfastError(
      "invalid_argument",
      `attachments: the mimeType of "${name.slice(0, 200)}" must be a media type.`,
    );
  }
  checkSize(name, base64Size(data));
  const bytes = readBase64(data);
  if (!bytes) throw holdfastError("invalid_argument", `attachments: the data of "${name}" must be base64.`);
  const { hash } = newFile(`${ATTACHMENTS}/file`, bytes);
  const path = `${ATTACHMENTS}/${hash.slice(0, 24)}.${extensionOf(name) || usualExtension(mimeType)}`;
  const file = newFile(path, bytes, { name, mimeType, width, height });
  const attachment = attachmentOf(file, { id: idOf(path), description });
  return { attachment, write: { write: "file", thread_id: threadId, file } };
}

type Uploaded = Extract<AttachmentInput, { data: string }>;

function idOf(path: string): string {
  return `file-${sha256(path).slice(0, 24)}`;
}
