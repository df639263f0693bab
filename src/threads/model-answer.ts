// What a model returned, read before anything is made of it: an answer that is no answer fails the attempt, with words.
import { trimmed } from "../contracts/coerce.ts";
import type { Message } from "../contracts/conversation/message.ts";
import { type HoldfastError, holdfastError } from "../contracts/error.ts";
import { isMap, type UnknownMap } from "../contracts/json.ts";

/**
 * The answer as the loop takes it: text alone is content, and an answer without `tool_calls` makes none. Throws
 * `invalid_model_answer` for anything that could only be passed over in silence.
 */
export function readModelAnswer(answer: unknown, given: readonly Message[], step: number): UnknownMap {
  if (typeof answer === "string") return { content: answer, tool_calls: [] };
  if (!isMap(answer)) throw invalid("it must be a text, or a map with content and tool_calls");
  const { content, messages, tool_calls, ...rest } = answer;
  if (content != null && typeof content !== "string") throw invalid("content must be a text");
  if (tool_calls != null && !Array.isArray(tool_calls)) throw invalid("tool_calls must be a list");
  const said = Array.isArray(messages) ? saidIn(messages, given) : "";
  return {
    ...rest,
    content: content || said,
    tool_calls: (tool_calls ?? []).map((call, index) => readCall(call, step, index)),
  };
}

/** A model may return the transcript with what it says behind it. What is stored already it cannot change. */
function saidIn(messages: readonly unknown[], given: readonly Message[]): string {
  const isKept = messages.length >= given.length && given.every((message, index) => messages[index] === message);
  const added = messages.slice(given.length);
  const words = added.map((message) => (isMap(message) && message.role === "assistant" ? message.content : undefined));
  if (!isKept || !words.every((said) => typeof said === "string")) {
    throw invalid("messages may add what the assistant says to the transcript, and change nothing");
  }
  return words.join("\n");
}

/** A call without an id gets one that no other call of the thread has: providers refuse a history with two of a kind. */
function readCall(call: unknown, step: number, index: number): UnknownMap {
  if (!isMap(call)) throw invalid(`tool_calls[${index}] must be a map with a name and parameters`);
  if ((trimmed(call.name) ?? trimmed(call.tool_name)) === undefined) {
    throw invalid(`tool_calls[${index}] has no name; it has ${Object.keys(call).join(", ") || "nothing"}`);
  }
  if ((trimmed(call.id) ?? trimmed(call.tool_call_id)) !== undefined) return call;
  return { ...call, id: `call-${step + 1}-${index + 1}` };
}

function invalid(detail: string): HoldfastError {
  return holdfastError("invalid_model_answer", `The model's answer cannot be used: ${detail}.`);
}
