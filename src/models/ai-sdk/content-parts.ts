// What the content of an envelope holds, whoever wrote it: words, and files such as images.
import { nonEmptyString } from "../../contracts/coerce.ts";
import type { Message } from "../../contracts/conversation/message.ts";
import { isMap, type UnknownMap } from "../../contracts/json.ts";

export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  /** `data` is base64. */
  | { readonly type: "file"; readonly mediaType: string; readonly data: string | URL; readonly filename?: string };

/** The parts in order. What nobody knows how to show is shown as JSON, so that nothing is passed over in silence. */
export function contentParts(content: Message["content"]): readonly ContentPart[] {
  if (typeof content === "string") return isBlank(content) ? [] : [{ type: "text", text: content }];
  const items: readonly unknown[] = Array.isArray(content) ? content : [content];
  return items.flatMap((item) => {
    const part = readPart(item);
    return part.type === "text" && isBlank(part.text) ? [] : [part];
  });
}

/** The words alone; a file is named by its type. */
export function wordsOf(content: Message["content"]): string {
  return contentParts(content)
    .map((part) => (part.type === "text" ? part.text : `[file: ${part.mediaType}]`))
    .join("\n");
}

/** Providers refuse words that are nothing but space. */
function isBlank(text: string): boolean {
  return text.trim() === "";
}

function readPart(item: unknown): ContentPart {
  if (typeof item === "string") return { type: "text", text: item };
  const words = isMap(item) ? (nonEmptyString(item.text) ?? nonEmptyString(item.content)) : undefined;
  if (words !== undefined) return { type: "text", text: words };
  const file = isMap(item) ? readFile(item) : undefined;
  return file ?? { type: "text", text: JSON.stringify(item) };
}

/** A file as we store it, `{ type: "file", media_type, data }`, or as other runtimes and providers write one. */
function readFile(item: UnknownMap): ContentPart | undefined {
  const { image_url, file, source } = item;
  const inner = [source, file, image_url].find(isMap) ?? {};
  const given = [item.data, item.url, item.image, image_url, inner.url, inner.data, inner.file_data]
    .map(nonEmptyString)
    .find((each) => each !== undefined);
  if (given === undefined) return undefined;
  const type = nonEmptyString(item.type) ?? "";
  const stated = [item.media_type, item.mediaType, item.mime_type, inner.media_type]
    .map(nonEmptyString)
    .find((each) => each !== undefined);
  const filename = nonEmptyString(item.filename) ?? nonEmptyString(inner.filename);
  const place = placeOf(given);
  const known = stated ?? place.mediaType;
  if (known === undefined && !/image|file|document/.test(type)) return undefined;
  const mediaType = known ?? (type.includes("image") ? "image/*" : "application/octet-stream");
  return { type: "file", mediaType, data: place.data, ...(filename !== undefined && { filename }) };
}

const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?;base64,(.*)$/s;

/** An address that has to be fetched stays one; a data URL and everything else is the bytes themselves. */
function placeOf(given: string): { readonly data: string | URL; readonly mediaType?: string } {
  const [, mediaType, bytes] = DATA_URL.exec(given) ?? [];
  if (bytes !== undefined) return { data: bytes, ...(mediaType && { mediaType }) };
  const address = /^https?:/i.test(given) && URL.canParse(given) ? new URL(given) : undefined;
  return { data: address ?? given };
}
