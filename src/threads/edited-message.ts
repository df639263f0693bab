// The next version of a message: the same one in other words, or another one in its place.
import type { Message } from "../contracts/conversation/message.ts";
import { isMap, type JsonMap } from "../contracts/json.ts";
import { contentText } from "../contracts/standard/content-text.ts";
import * as toolResult from "../contracts/tools/result.ts";
import { readMessage } from "./new-entry.ts";
import { refuseOurs } from "./refuse-ours.ts";
import type { MessageInput } from "./tool.ts";

/** Throws what a message that is none throws, and so for one that only the runtime writes and that was not there before. */
export function editedMessage(before: Message, given: string | MessageInput): Message {
  const words = typeof given === "string" ? { content: given } : given;
  const edited = readMessage(saysWho(words) ? words : reworded(before, words));
  refuseOurs(edited, before);
  return edited;
}

/** Whoever says more than words, and what is known of them, says all there is to say. */
function saysWho(given: MessageInput): boolean {
  return !isMap(given) || Object.keys(given).some((name) => name !== "content" && name !== "metadata");
}

/** What belongs to the words that a model said, and not to those that replace them: providers would show it the old ones. */
const OF_THE_WORDS = ["reasoning", "provider_metadata"];

function reworded(before: Message, { content, metadata = {} }: MessageInput): MessageInput {
  const { type, payload } = before;
  if (type === "tool_call") return { ...before, content, metadata: { ...before.metadata, ...metadata } };
  const kept = Object.entries(before.metadata).filter(([name]) => !OF_THE_WORDS.includes(name));
  const after = { ...before, content, metadata: { ...Object.fromEntries(kept), ...metadata } };
  if (type === "tool_result") return { ...after, payload: resultOf(payload, content) } as MessageInput;
  // Whether it is text alone follows from what it is now.
  const { type: _type, payload: _payload, ...plain } = after;
  return type === "text" || type === "multimodal_part" ? plain : after;
}

/** The result that the words stand for. What it was before is not to be found behind them. */
function resultOf({ tool_name, success, metadata }: JsonMap, content: Message["content"]): JsonMap {
  const error_type = isMap(metadata) ? metadata.error_type : undefined;
  if (success === true) return toolResult.normalize({ success, tool_name, result: content });
  return toolResult.normalize({ success: false, tool_name, error: contentText(content), error_type });
}
