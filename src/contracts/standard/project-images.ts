// What a model is shown of the files that messages point to: images as images where it can see them, everything else by name.
import { nonEmptyString } from "../coerce.ts";
import * as message from "../conversation/message.ts";
import { isEmpty, isMap, type Json, type JsonMap, seal, type UnknownMap } from "../json.ts";
import { attachmentsIn } from "./attachment.ts";
import type { Attachment } from "./standard-message.ts";

type Message = message.Message;

export type ImageView = {
  /** So many of the newest messages keep their images. */
  readonly recentImageThreshold: number;
  readonly supportsImages: boolean;
  /** The content of a file of the thread, in base64; null when there is none. */
  readonly read: (path: string) => Promise<{ readonly data: string; readonly mediaType: string } | null>;
};

/** The messages for a request; one without files is the one that was given. A file that cannot be read is named. */
export async function projectImages(messages: readonly Message[], view: ImageView): Promise<readonly Message[]> {
  const firstRecent = recentFrom(messages, view.recentImageThreshold);
  let isChanged = false;
  const shown = await Promise.all(
    messages.map(async (given, index) => {
      const visible = view.supportsImages ? given : withoutImages(given);
      const attachments = attachmentsIn(visible.metadata);
      const seen =
        attachments.length === 0 ? visible : await withFiles(visible, attachments, index >= firstRecent, view);
      if (seen !== given) isChanged = true;
      return seen;
    }),
  );
  return isChanged ? shown : messages;
}

/** The index from which on messages are recent. The words of an answer and its calls are one message. */
function recentFrom(messages: readonly Message[], count: number): number {
  let left = count;
  let index = messages.length;
  while (index > 0 && left > 0) {
    index--;
    const before = messages[index - 1];
    const isWithBefore = before?.type === "tool_call" || (before?.type === "text" && before.role === "assistant");
    if (messages[index]?.type !== "tool_call" || !isWithBefore) left--;
  }
  return index;
}

async function withFiles(
  given: Message,
  attachments: readonly Attachment[],
  isRecent: boolean,
  { supportsImages, read }: ImageView,
): Promise<Message> {
  const showsImages = isRecent && supportsImages && takesImages(given);
  const seen = await Promise.all(
    attachments.map(async (attachment) => {
      if (!showsImages || !isImage(attachment)) return nameOf(attachment);
      const file = await unlessUnreadable(() => read(attachment.path));
      if (file === null) return `[image: ${attachment.name}, which cannot be read]`;
      if (!SHOWN_TYPES.has(file.mediaType)) return nameOf(attachment);
      return seal({ type: "file", media_type: file.mediaType, data: file.data, filename: attachment.name });
    }),
  );
  const lines = seen.filter((each) => typeof each === "string");
  const images = seen.filter((each) => typeof each !== "string");
  const { attachments: _, ...metadata } = given.metadata;
  return withContent({ ...given, metadata }, contentWith(given.content, lines, images));
}

/** What every provider knows. Any other image would have the whole request refused, now and ever after. */
const SHOWN_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

async function unlessUnreadable<File>(read: () => Promise<File>): Promise<File | null> {
  try {
    return await read();
  } catch {
    // The model is told, and may go on without it.
    return null;
  }
}

/** Providers take images from users and with the results of calls, and nowhere else. */
function takesImages({ type, role }: Message): boolean {
  if (type === "tool_result") return true;
  const isSpoken = type === "text" || type === "multimodal_part";
  return isSpoken && role !== "assistant" && role !== "model" && role !== "system" && role !== "developer";
}

function isImage({ mimeType }: Attachment): boolean {
  return mimeType.startsWith("image/");
}

function nameOf(attachment: Attachment): string {
  const { name, description, size } = attachment;
  if (!isImage(attachment)) return `[file: ${name}]`;
  return `[image: ${name}, ${nonEmptyString(description) ?? sizeText(size)}]`;
}

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Words first, then what is named, then what is seen. */
function contentWith(content: Message["content"], lines: readonly string[], images: readonly JsonMap[]) {
  if (typeof content !== "string") {
    const parts: readonly Json[] = Array.isArray(content) ? content : [content];
    return [...parts, ...lines.map((text) => ({ type: "text", text })), ...images];
  }
  const words = [content, lines.join("\n")].filter((part) => part.trim() !== "").join("\n\n");
  if (images.length === 0) return words;
  return words === "" ? images : [{ type: "text", text: words }, ...images];
}

function withContent(given: Message, content: Message["content"]): Message {
  const type = given.type === "text" && typeof content !== "string" ? "multimodal_part" : given.type;
  return message.normalize({ ...given, type, content });
}

/** Images that came with the content itself. */
function withoutImages(given: Message): Message {
  const { content } = given;
  if (typeof content === "string") return given;
  const parts: readonly Json[] = Array.isArray(content) ? content : [content];
  const kept = parts.filter((part) => !(isMap(part) && isImagePart(part)));
  if (kept.length === parts.length) return given;
  const hasFiles = attachmentsIn(given.metadata).length > 0;
  return withContent(given, isEmpty(kept) && !hasFiles ? "[image: not shown to this model]" : kept);
}

/** However the host wrote it: our own parts and those of providers differ in names only. */
function isImagePart(part: UnknownMap): boolean {
  const inner = [part.source, part.file, part.image_url].find(isMap) ?? {};
  if (nonEmptyString(part.text) !== undefined) return false;
  if (nonEmptyString(part.type)?.includes("image") || part.image_url !== undefined || part.image !== undefined)
    return true;
  const stated = [part.media_type, part.mediaType, part.mime_type, inner.media_type];
  const places = [part.data, part.url, inner.url, inner.data, inner.file_data];
  const startsWith = (value: unknown, start: string) => nonEmptyString(value)?.startsWith(start) === true;
  return stated.some((type) => startsWith(type, "image/")) || places.some((place) => startsWith(place, "data:image/"));
}
