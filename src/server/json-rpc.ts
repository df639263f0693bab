// The chat over JSON-RPC: an answer in one piece, or as events.
import type { Context } from "hono";
import { createWorkbench } from "../abilities/reach.ts";
import {
  errorResponse,
  jsonRpcPermission,
  PARSE_ERROR,
  readJsonRpc,
  responseOf,
} from "../contracts/chat/jsonrpc-dispatch.ts";
import { streamJsonRpc } from "../contracts/chat/jsonrpc-stream.ts";
import { operationError } from "../contracts/operation-error.ts";
import { chatCaller } from "./chat-caller.ts";
import type { Mount, ServerEnv, ServerHost } from "./door.ts";
import { eventStream, type Frame } from "./event-stream.ts";
import { problem, statusOf } from "./problem.ts";
import { toldChat } from "./told-chat.ts";

export const jsonRpcDoor: Mount = (app, host) => {
  const { reach } = createWorkbench(host.holdfast);

  app.post("/agents-api/v1/agent/:agent{[A-Za-z0-9._-]+}", async (context) => {
    const agentId = context.req.param("agent");
    const body = await parsed(context);
    const { workspace_id, client_id } = context.req.query();
    const query = { ...(workspace_id && { workspace_id }), ...(client_id && { client_id }) };
    const permission = await jsonRpcPermission({ agentId, body, query }, ({ agent }) =>
      reach.agent(String(agent), context.get("principal")),
    );
    if (permission !== true) return problem(context, permission);
    if (body === undefined) return context.json(errorResponse(null, PARSE_ERROR, "The body is no JSON."), 400);
    return await answer(context, host, agentId, body);
  });
};

async function answer(
  context: Context<ServerEnv>,
  host: ServerHost,
  agentId: string,
  body: unknown,
): Promise<Response> {
  const request = readJsonRpc(agentId, body);
  if (request.kind === "answer") return context.json(request.response);
  const leaving = new AbortController();
  const signal = AbortSignal.any([leaving.signal, context.req.raw.signal]);
  const { chat = noChat, stream } = toldChat(chatCaller(host.holdfast, context, signal));
  const { id, input } = request;
  if (request.kind === "send") return context.json(responseOf(id, await chat(input)));
  const refusal = context.get("holdStream")?.();
  if (refusal) {
    context.set("refusal", refusal);
    return context.json(responseOf(id, refusal), statusOf(refusal.code) as 429);
  }
  const sent = frames(streamJsonRpc(id, { ...input }, { chat, stream }));
  return eventStream(context, sent, { closing: host.closing, leaving });
}

async function* frames(sent: AsyncIterable<unknown>): AsyncGenerator<Frame> {
  for await (const frame of sent) yield { data: JSON.stringify(frame) };
}

async function parsed(context: Context<ServerEnv>): Promise<unknown> {
  const text = await context.req.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function noChat() {
  return operationError("chat_ability_unavailable", "There is no chat here.");
}
