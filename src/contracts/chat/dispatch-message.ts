// A message that goes out: handed to whoever carries messages of that kind.
import type { Hooks } from "../hooks.ts";
import { asMap, type JsonMap, snapshotMap } from "../json.ts";
import { isOperationError, type OperationError, operationError } from "../operation-error.ts";
import type { Handler } from "../seams.ts";

export type DispatchMessageHost = {
  readonly handler?: Handler | undefined;
  readonly hooks?: Hooks | undefined;
};

/** What the carrier answers. Every refusal tells `dispatchMessageFailed`; what a carrier throws is thrown on. */
export async function dispatchMessage(
  input: unknown,
  { handler: own, hooks }: DispatchMessageHost,
): Promise<JsonMap | OperationError> {
  const given = snapshotMap(input);
  const failed = (error: OperationError, reason: string = error.code) => {
    hooks?.emit("dispatchMessageFailed", reason, given);
    return error;
  };
  const handler = (await hooks?.apply("dispatchMessageHandler", own ?? null, given)) ?? own;
  if (!handler) return failed(noHandler, "no_handler");
  const answer = await handler(given);
  if (isOperationError(answer)) return failed(answer);
  return asMap(answer) === undefined ? failed(invalidResult, "invalid_result") : snapshotMap(answer);
}

/** True when messages may be sent out: for administrators, unless the host says otherwise. */
export async function mayDispatchMessage(
  input: unknown,
  { isAdministrator, hooks }: { readonly isAdministrator: boolean; readonly hooks?: Hooks | undefined },
): Promise<boolean> {
  return (await hooks?.apply("dispatchMessagePermission", isAdministrator, snapshotMap(input))) ?? isAdministrator;
}

const noHandler = operationError("agents_dispatch_message_no_handler", "Nobody here carries messages of this kind.");
const invalidResult = operationError(
  "agents_dispatch_message_invalid_result",
  "The carrier did not answer with a map.",
);
