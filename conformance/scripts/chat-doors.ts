// The doors of the chat as the vectors describe them: what a handler behind the chat answers, and who may ask.
import { createChatHandlers } from "../../src/contracts/chat/chat-handlers.ts";
import { mayChat } from "../../src/contracts/chat/chat-permission.ts";
import { dispatchChat } from "../../src/contracts/chat/dispatch-chat.ts";
import { frontEndDispatch, frontEndPermission } from "../../src/contracts/chat/front-end-dispatch.ts";
import { frontEndInput } from "../../src/contracts/chat/front-end-input.ts";
import { dispatchJsonRpc, jsonRpcPermission } from "../../src/contracts/chat/jsonrpc-dispatch.ts";
import { inputFromParams } from "../../src/contracts/chat/jsonrpc-input.ts";
import { streamJsonRpc } from "../../src/contracts/chat/jsonrpc-stream.ts";
import { createMemoryChatRunControl } from "../../src/contracts/conversation/chat-run-control.ts";
import type { UnknownMap } from "../../src/contracts/json.ts";
import { isOperationError, operationError } from "../../src/contracts/operation-error.ts";
import { grantStore } from "./trust.ts";

type Handler = { readonly result?: unknown; readonly error?: { readonly code: string; readonly message?: string } };

/** The chat with one handler behind it, or none; told when the handler is asked. */
function chatWith(handler: Handler | null, onAsked: () => void = () => undefined) {
  const handlers = createChatHandlers();
  if (handler) {
    handlers.register(async () => {
      onAsked();
      return answerOf(handler);
    });
  }
  const runs = createMemoryChatRunControl({ now: () => new Date(0) });
  return (input: unknown) => dispatchChat(input, { handlers, runs });
}

function answerOf({ result, error }: Handler) {
  return error ? operationError(error.code, error.message ?? "") : result;
}

type Who = { readonly is_admin: boolean; readonly current_user_id: number; readonly grants?: readonly unknown[] };

function permits({ is_admin, current_user_id, grants }: Who) {
  const host = { isAdministrator: is_admin, currentUserId: current_user_id, store: grantStore(grants) };
  return (input: UnknownMap) => mayChat(input, host);
}

export function readParams({ params, agent, body }: { params: unknown; agent: unknown; body?: unknown }) {
  return shown(inputFromParams(params, agent, body));
}

export function dispatchRpc({ agent_id, body, handler }: { agent_id: string; body: unknown; handler: Handler | null }) {
  return dispatchJsonRpc(agent_id, body, chatWith(handler));
}

type StreamCase = {
  readonly rpc_id: string | number;
  readonly input: UnknownMap;
  readonly stream: (Handler & { readonly deltas: readonly unknown[] }) | null;
  readonly handler?: Handler;
};

export async function streamRpc({ rpc_id, input, stream, handler }: StreamCase) {
  // Who streams answers behind the same claim as who does not: what is refused there is told before anything is.
  async function* told(given: UnknownMap): AsyncGenerator<unknown, unknown, undefined> {
    let deltas: readonly unknown[] = [];
    const output = await chatWith(stream, () => {
      deltas = stream?.deltas ?? [];
    })(given);
    yield* deltas;
    return output;
  }
  const ports = {
    chat: chatWith(handler ?? null),
    ...(stream && { stream: async (given: UnknownMap) => told(given) }),
  };
  const frames: unknown[] = [];
  for await (const frame of streamJsonRpc(rpc_id, input, ports)) frames.push(frame);
  return frames;
}

type PermissionCase = Who & { readonly agent_id: string; readonly body: unknown; readonly workspace_id?: string };

export async function permitRpc({ agent_id, body, workspace_id, ...who }: PermissionCase) {
  const query = workspace_id === undefined ? {} : { workspace_id };
  return shown(await jsonRpcPermission({ agentId: agent_id, body, query }, permits(who)));
}

export function readFrontEnd({ params }: { params: unknown }) {
  return shown(frontEndInput(params));
}

type FrontEndCase = {
  readonly params: unknown;
  readonly is_admin: boolean;
  readonly ability?: boolean;
  readonly handler: Handler;
};

export async function dispatchFrontEnd({ params, is_admin, ability = true, handler }: FrontEndCase) {
  const ports = { permits: permits({ is_admin, current_user_id: 0 }) };
  const permission = shown(await frontEndPermission(params, ports));
  if (permission !== true) return { permission, response: null };
  const chat = ability ? chatWith(handler) : undefined;
  return { permission, response: shown(await frontEndDispatch(params, { ...ports, chat })) };
}

function shown(answer: unknown): unknown {
  return isOperationError(answer) ? { error: { code: answer.code, ...answer.data } } : answer;
}
