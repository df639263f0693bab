// What a call came to, as the message with its result tells it.
import { isMap } from "../../contracts/json.ts";
import type { Call, Result } from "./answer-event.ts";
import { type ThreadMessage, textOf } from "./message-text.ts";

/** `request_id`: the approval that the call waited for. */
export function readResult(message: ThreadMessage, call: Call, request_id?: string): Result {
  const { success, result, error, metadata } = message.payload;
  const about = { ...call, ...(request_id !== undefined && { request_id }) };
  const words = typeof error === "string" ? error : textOf(message);
  if (success === true) return { ...about, came: "output", output: result === undefined ? words : result };
  const isDenied = request_id !== undefined && isMap(metadata) && metadata.error_type === "approval_rejected";
  return isDenied ? { ...about, came: "denied", reason: words } : { ...about, came: "error", error: words };
}
