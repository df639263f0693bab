// A JSON-RPC request from its body to the answer. What is wrong is told in a fixed order: the version, the parameters, the
// method, and only then what the chat itself came to.
import { agentSlug } from "../agents/agent-slug.ts";
import { asMap, emptyMap, seal, type UnknownMap } from "../json.ts";
import { isOperationError, type OperationError, operationError } from "../operation-error.ts";
import { inputFromParams, type JsonRpcInput } from "./jsonrpc-input.ts";
import { type JsonRpcTask, taskFromOutput } from "./jsonrpc-task.ts";

export type JsonRpcId = string | number | null;

export type JsonRpcResponse = { readonly jsonrpc: "2.0"; readonly id: JsonRpcId } & (
  | { readonly result: JsonRpcTask }
  | { readonly error: { readonly code: number; readonly message: string } }
);

/** What is to be done about a request: answer at once, run the chat, or stream it. */
export type JsonRpcRequest =
  | { readonly kind: "answer"; readonly response: JsonRpcResponse }
  | { readonly kind: "send" | "stream"; readonly id: JsonRpcId; readonly input: JsonRpcInput };

/** A body that is no JSON at all. */
export const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const UNKNOWN_METHOD = -32_601;
const INVALID_PARAMS = -32_602;
const FAILED = -32_603;

const methods: ReadonlyMap<unknown, "send" | "stream"> = new Map([
  ["message/send", "send"],
  ["tasks/send", "send"],
  ["message/stream", "stream"],
  ["tasks/sendSubscribe", "stream"],
]);

export function readJsonRpc(agentId: unknown, given: unknown): JsonRpcRequest {
  const body = asMap(given) ?? emptyMap;
  const id = idOf(body);
  const refuse = (code: number, message: string) =>
    ({ kind: "answer", response: errorResponse(id, code, message) }) as const;
  if (body.jsonrpc !== "2.0") return refuse(INVALID_REQUEST, 'A request is JSON-RPC of version "2.0".');
  const input = inputFromParams(body.params, agentSlug(agentId), body);
  if (isOperationError(input)) return refuse(INVALID_PARAMS, input.message);
  const kind = methods.get(body.method);
  if (kind === undefined) return refuse(UNKNOWN_METHOD, `There are the methods ${[...methods.keys()].join(", ")}.`);
  return { kind, id, input };
}

/** The answer to a request that is no stream. */
export async function dispatchJsonRpc(
  agentId: unknown,
  body: unknown,
  chat: (input: JsonRpcInput) => Promise<unknown>,
): Promise<JsonRpcResponse> {
  const request = readJsonRpc(agentId, body);
  if (request.kind === "answer") return request.response;
  return responseOf(request.id, await chat(request.input));
}

/** What a chat came to, as the answer that ends a request. */
export function responseOf(id: JsonRpcId, output: unknown): JsonRpcResponse {
  if (isOperationError(output)) return errorResponse(id, FAILED, output.message || output.code);
  return seal({ jsonrpc: "2.0", id, result: taskFromOutput(output) });
}

export function errorResponse(id: JsonRpcId, code: number, message: string): JsonRpcResponse {
  return seal({ jsonrpc: "2.0", id, error: seal({ code, message }) });
}

/** True, or `agents_chat_jsonrpc_forbidden`. Parameters that cannot be read are told later: who may ask is decided by the agent. */
export async function jsonRpcPermission(
  request: {
    readonly agentId: unknown;
    readonly body: unknown;
    readonly query?: { readonly workspace_id?: string; readonly client_id?: string };
  },
  permits: (input: UnknownMap) => boolean | Promise<boolean>,
): Promise<true | OperationError> {
  const agent = agentSlug(request.agentId);
  const body = asMap(request.body) ?? emptyMap;
  const read = inputFromParams(body.params, agent, body);
  const input = { ...(isOperationError(read) ? { agent } : read), ...request.query };
  if (agent !== "" && (await permits(input)) === true) return true;
  return operationError("agents_chat_jsonrpc_forbidden", `The agent "${agent}" is not for this caller.`, {
    status: 403,
  });
}

/** Text and whole numbers come back as they were sent; anything else is no id. */
function idOf({ id }: UnknownMap): JsonRpcId {
  return typeof id === "string" || (typeof id === "number" && Number.isInteger(id)) ? id : null;
}
