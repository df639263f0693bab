// How a result says that there is none yet: a client has to run the tool, or a person has to approve it.
import * as message from "../contracts/conversation/message.ts";
import { isMap, type JsonMap } from "../contracts/json.ts";
import type { ToolResult } from "../contracts/tools/result.ts";

export const PENDING = "runtime_tool_pending";

/** What asks for approval, in full for the caller, and as the transcript shows it. */
export type Approval = { readonly envelope: JsonMap; readonly asked: message.Message };

/** True when the result only says that somebody outside has to act. */
export function isWaiting(result: ToolResult): boolean {
  return isPending(result) || approvalOf(result) !== undefined;
}

/** True when an external runtime is to run the tool. A result that has a status says so there, and nowhere else. */
export function isPending({ status, metadata }: ToolResult): boolean {
  return (status ?? metadata.status) === PENDING;
}

/** The request for approval that a tool returned as its result, if it is one. */
export function approvalOf({ result }: ToolResult): Approval | undefined {
  if (!isMap(result) || result.type !== "approval_required") return undefined;
  try {
    const asked = message.normalize({ schema: message.SCHEMA, version: 1, ...result });
    return { envelope: result, asked };
  } catch {
    // Not an envelope after all: the tool ran, so its answer is kept as the plain result it is.
    return undefined;
  }
}
