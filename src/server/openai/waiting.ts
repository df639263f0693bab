// The refusal of a thread that waits for somebody, and takes in after the answer what is said to it.
import { operationError } from "../../contracts/operation-error.ts";
import { Refused } from "../chat/refused.ts";

/** `requests`: what it waits for. */
export function waiting(requests: readonly { readonly id: string; readonly tool_name: string }[]): Refused {
  const [request] = requests;
  const what = request ? `an answer to request "${request.id}" about "${request.tool_name}"` : "somebody";
  return new Refused(operationError("thread_busy", `The thread waits for ${what}.`));
}
