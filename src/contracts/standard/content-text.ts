// The words of a message, whether its content is a text or a list of parts.
import { nonEmptyString } from "../coerce.ts";
import type { Message } from "../conversation/message.ts";
import { isMap } from "../json.ts";

/** A file among the parts is named by its type: nobody reads its bytes. What is no part at all is shown as JSON. */
export function contentText(content: Message["content"]): string {
  if (typeof content === "string") return content;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  return parts
    .map(partText)
    .filter((text) => text !== "")
    .join("\n");
}

function partText(part: unknown): string {
  if (typeof part === "string") return part;
  if (!isMap(part)) return JSON.stringify(part);
  const words = nonEmptyString(part.text) ?? nonEmptyString(part.content);
  if (words !== undefined) return words;
  const type = nonEmptyString(part.type);
  if (type === undefined) return JSON.stringify(part);
  return type === "text" ? "" : `[${type}: ${nonEmptyString(part.media_type) ?? nonEmptyString(part.filename) ?? "?"}]`;
}
