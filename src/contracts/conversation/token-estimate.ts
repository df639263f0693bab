// How many tokens something is likely to be, when nobody has counted them yet: rather too many than too few.
import { isMap, type Json } from "../json.ts";
import type { Message } from "./message.ts";

/** English has about four bytes a token, other scripts about three. */
const BYTES_PER_TOKEN = 3;

/** What providers charge for a picture or a file depends on its size in ways of their own. */
const TOKENS_PER_FILE = 1_500;

const encoder = new TextEncoder();

export function estimateTokens(text: string): number {
  return Math.ceil(encoder.encode(text).length / BYTES_PER_TOKEN);
}

// Messages are frozen and are asked about again at every step.
const known = new WeakMap<Message, number>();

export function estimateMessage(message: Message): number {
  const before = known.get(message);
  if (before !== undefined) return before;
  const estimate = estimateTokens(message.role + besideContent(message)) + estimateContent(message.content);
  known.set(message, estimate);
  return estimate;
}

/** What goes to a provider beside the content: a call, and what that provider itself has thought and noted. */
function besideContent({ type, payload, metadata }: Message): string {
  const { tool_call_id, reasoning, provider_metadata } = metadata;
  // The payload of a result says once more what its content says.
  const said = type === "tool_result" ? payload.tool_name : payload;
  return [said, tool_call_id, reasoning, provider_metadata].map((each) => JSON.stringify(each) ?? "").join("");
}

function estimateContent(content: Message["content"]): number {
  if (typeof content === "string") return estimateTokens(content);
  if (!Array.isArray(content)) return estimatePart(content);
  return content.reduce<number>((sum, part: Json) => sum + estimatePart(part), 0);
}

/** The bytes of a file are not what it costs. */
function estimatePart(part: Json): number {
  return isFile(part) ? TOKENS_PER_FILE : estimateTokens(JSON.stringify(part));
}

const holdFiles = ["data", "url", "image", "image_url", "source", "file"];

/** What is neither words nor a file is shown as JSON, and costs what that costs. */
function isFile(part: Json): boolean {
  if (!isMap(part) || part.type === undefined || String(part.type).includes("text")) return false;
  return holdFiles.some((name) => part[name] !== undefined);
}
