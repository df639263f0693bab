// What a turn of a chat brings: words, or the results of tools that a client has run, or both.
import { trim } from "../coerce.ts";
import type { Message } from "../conversation/message.ts";
import * as message from "../conversation/message.ts";
import * as toolPairs from "../conversation/tool-pairs.ts";
import { errorMessage } from "../error.ts";
import { isContainer, type UnknownMap } from "../json.ts";
import { type OperationError, operationError } from "../operation-error.ts";

export type ChatTurn = {
  /** Without space around it; `""` when nothing is said. */
  readonly message: string;
  /** Calls, each with its result. */
  readonly continuation: readonly Message[];
};

/** The first thing that is wrong is refused: a list of what are no envelopes, other envelopes, halves of pairs, no words. */
export function readTurn({ message: words, input_messages }: UnknownMap): ChatTurn | OperationError {
  let continuation: readonly Message[];
  try {
    // One text or number is nothing to go on with; a list or map was meant to be.
    continuation = isContainer(input_messages) ? message.normalizeMany(input_messages) : [];
  } catch (thrown) {
    return badRequest("agents_chat_invalid_input_messages", errorMessage(thrown));
  }
  if (continuation.some(({ type }) => type !== "tool_call" && type !== "tool_result")) {
    return badRequest(
      "agents_chat_invalid_input_message_type",
      "input_messages holds calls of tools and their results.",
    );
  }
  if (toolPairs.validate(continuation).length > 0) {
    return badRequest("agents_chat_unpaired_input_messages", "Each call in input_messages needs its result.");
  }
  const said = typeof words === "string" ? trim(words) : "";
  if (said === "" && continuation.length === 0) {
    return badRequest("agents_chat_empty_message", "message must not be empty.");
  }
  return { message: said, continuation };
}

/** A refusal of what a caller could do better. */
export function badRequest(code: string, detail: string): OperationError {
  return operationError(code, detail, { status: 400 });
}
