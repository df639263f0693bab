// What a model made beside words, as files of the thread: messages only name them.
import { isMap, type UnknownMap } from "../../contracts/json.ts";
import type { HeldThread } from "../held-thread.ts";
import type { Host } from "../host.ts";
import { messageAttachments } from "../state/message-attachments.ts";
import { KeptWrites } from "../state/state-buffer.ts";
import type { ThreadRun } from "../thread-run.ts";

/** The answer with its files stored, once it is committed. */
export async function keepFiles(host: Host, held: HeldThread, run: ThreadRun, answer: UnknownMap): Promise<UnknownMap> {
  const { files, ...rest } = answer;
  if (!Array.isArray(files) || files.length === 0) return answer;
  const given = files.map(({ media_type, data }: { media_type: string; data: string }, index) => ({
    name: `file-${index + 1}.${extensionOf(media_type)}`,
    mimeType: media_type,
    data,
  }));
  const scope = { thread: held.thread, buffer: new KeptWrites({ hasRun: true }) };
  const { attachments, writes } = await messageAttachments(host, scope, given);
  run.left = { ...run.left, writes: [...run.left.writes, ...writes] };
  const words = typeof rest.content === "string" && rest.content !== "" ? rest.content : describe(attachments);
  const metadata: UnknownMap = isMap(rest.message_metadata) ? rest.message_metadata : {};
  return { ...rest, content: words, message_metadata: { ...metadata, attachments } };
}

function describe(attachments: readonly { readonly name: string }[]): string {
  return attachments.map(({ name }) => `[${name}]`).join(" ");
}

function extensionOf(mediaType: string): string {
  return /^[a-z]+\/([a-z0-9]+)/i.exec(mediaType)?.[1]?.toLowerCase().replace("jpeg", "jpg") ?? "bin";
}
