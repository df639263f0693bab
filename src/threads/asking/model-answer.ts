// What a model returned, read before anything is made of it: an answer that is no answer fails the attempt, with words.
import { trimmed } from "../../contracts/coerce.ts";
import type { Message } from "../../contracts/conversation/message.ts";
import { type HoldfastError, holdfastError } from "../../contracts/error.ts";
import { isMap, type UnknownMap } from "../../contracts/json.ts";

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
  checkFiles(answer.files);
  const said = Array.isArray(messages) ? saidIn(messages, given) : "";
  return {
    ...rest,
    content: content || said,
    tool_calls: (tool_calls ?? []).map((call, index) => readCall(call, step, index)),
  };
}

/** Files stand in the messages themselves, so there is a limit to them. */
const MOST_FILE_CHARACTERS = 8 * 1024 * 1024;

function checkFiles(files: unknown): void {
  if (files == null) return;
  const areFiles = Array.isArray(files) && files.every(isFile);
  if (!areFiles) throw invalid("files must be a list of maps with a media_type and data as base64");
  const size = files.reduce<number>((sum, { data }) => sum + data.length, 0);
  if (size > MOST_FILE_CHARACTERS) throw invalid(`its files are ${size} characters of base64; 8 million fit`);
}

function isFile(file: unknown): file is { media_type: string; data: string } {
  return isMap(file) && typeof file.media_type === "string" && typeof file.data === "string";
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
  const id = trimmed(call.id) ?? trimmed(call.tool_call_id) ?? `call-${step + 1}-${index + 1}`;
  return { ...call, id, ...readParameters(call) };
}

/** Some write the arguments as JSON text, and under another name. What cannot be read must not run with nothing instead. */
function readParameters(call: UnknownMap): UnknownMap {
  const given = call.parameters ?? call.arguments ?? call.input;
  if (given === undefined || given === null || isMap(given)) return { parameters: given ?? {} };
  const text = typeof given === "string" ? given : JSON.stringify(given);
  const parsed = typeof given === "string" ? parsedMap(given) : undefined;
  if (parsed) return { parameters: parsed };
  return { parameters: {}, invalid_input: text.slice(0, LONGEST_INVALID_INPUT) };
}

const LONGEST_INVALID_INPUT = 2_000;

function parsedMap(text: string): UnknownMap | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isMap(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function invalid(detail: string): HoldfastError {
  return holdfastError("invalid_model_answer", `The model's answer cannot be used: ${detail}.`);
}
