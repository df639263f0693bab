// A chat whose refusals are told as they are: without what went wrong in here, which is for the log. It is for doors whose
// protocol has a place of its own for refusals.
import type { ChatStream } from "../abilities/chat-stream.ts";
import { isOperationError, type OperationError, operationErrorOf } from "../contracts/operation-error.ts";
import type { ChatCaller } from "./chat-caller.ts";
import { toldRefusal } from "./problem.ts";

export function toldChat({ chat, stream }: ChatCaller): ChatCaller {
  return {
    chat: chat && (async (input) => told(await chat(input))),
    async stream(input) {
      const deltas = await stream(input);
      return isOperationError(deltas) ? toldRefusal(deltas) : telling(deltas);
    },
  };
}

/** The same pieces; what is refused at the end, or breaks on the way, is told as a refusal at the beginning is. */
async function* telling(deltas: ChatStream): ChatStream {
  try {
    return told(yield* deltas);
  } catch (thrown) {
    return toldRefusal(operationErrorOf(thrown, "agents_chat_stream_failed"));
  }
}

function told<Answer>(answer: Answer): Answer | OperationError {
  return isOperationError(answer) ? toldRefusal(answer) : answer;
}
