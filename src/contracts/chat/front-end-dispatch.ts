// A chat request of a web page from its parameters to the answer: read, permitted, run.
import type { UnknownMap } from "../json.ts";
import { isOperationError, type OperationError, operationError } from "../operation-error.ts";
import { type FrontEndInput, frontEndInput } from "./front-end-input.ts";

export type FrontEndPorts = {
  /** Whether the caller may talk with the agent. */
  readonly permits: (input: FrontEndInput) => boolean | Promise<boolean>;
  /** Runs the chat ability; absent where there is none. */
  readonly chat?: ((input: FrontEndInput) => Promise<unknown>) | undefined;
};

/** True, or why the request is refused. */
export async function frontEndPermission(
  params: unknown,
  { permits }: Pick<FrontEndPorts, "permits">,
): Promise<true | OperationError> {
  const input = frontEndInput(params);
  if (isOperationError(input)) return input;
  if ((await permits(input)) === true) return true;
  const refused = `The agent "${input.agent}" is not for this caller.`;
  return operationError("agents_frontend_chat_forbidden", refused, { status: 403 });
}

/** What the chat came to, or a refusal; nothing runs without permission. */
export async function frontEndDispatch(params: unknown, ports: FrontEndPorts): Promise<UnknownMap | OperationError> {
  const permission = await frontEndPermission(params, ports);
  if (permission !== true) return permission;
  if (!ports.chat) {
    return operationError("agents_frontend_chat_ability_unavailable", "There is no chat here.", { status: 500 });
  }
  const input = frontEndInput(params);
  return isOperationError(input) ? input : ((await ports.chat(input)) as UnknownMap | OperationError);
}
