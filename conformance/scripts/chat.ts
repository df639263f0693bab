// Plays the chat surface: handlers, sessions and signed-in users as the vectors describe them.
import { createChatHandlers } from "../../src/contracts/chat/chat-handlers.ts";
import { mayChat, mayControlRun, type RunWish } from "../../src/contracts/chat/chat-permission.ts";
import * as chatRuns from "../../src/contracts/chat/chat-runs.ts";
import { keptConversations } from "../../src/contracts/chat/claim-run.ts";
import { readDefaultChat } from "../../src/contracts/chat/default-chat.ts";
import { dispatchChat } from "../../src/contracts/chat/dispatch-chat.ts";
import { dispatchMessage } from "../../src/contracts/chat/dispatch-message.ts";
import { chatRunContext } from "../../src/contracts/chat/run-context.ts";
import { createMemoryChatRunControl } from "../../src/contracts/conversation/chat-run-control.ts";
import { createHooks } from "../../src/contracts/hooks.ts";
import type { JsonMap, UnknownMap } from "../../src/contracts/json.ts";
import { isOperationError, operationError } from "../../src/contracts/operation-error.ts";
import type { Handler } from "../../src/contracts/seams.ts";
import { type Call, play } from "./sessions.ts";
import { grantStore } from "./trust.ts";

type Fixture = { readonly result: unknown } | { readonly error: { readonly code: string } } | "invalid" | null;

function handlerOf(fixture: Fixture, saw: (input: JsonMap) => void = () => undefined): Handler | undefined {
  if (fixture === null || fixture === undefined) return undefined;
  return (input) => {
    saw(input);
    if (fixture === "invalid") return "invalid";
    return "result" in fixture ? fixture.result : operationError(fixture.error.code, "A fixture's error.");
  };
}

function shown(answer: unknown, withData = false) {
  return isOperationError(answer) ? { error: { code: answer.code, ...(withData && answer.data) } } : answer;
}

export async function runDispatch(given: { input: unknown; handler: Fixture; agent_slug?: string }) {
  const failed: string[] = [];
  let seen: unknown = false;
  const hooks = createHooks();
  hooks.on("chatDispatchFailed", (reason) => failed.push(reason));
  const handlers = createChatHandlers();
  const handler = handlerOf(given.handler, ({ run_id }) => {
    seen = run_id;
  });
  if (handler) handlers.register(handler, given.agent_slug === undefined ? {} : { agent: given.agent_slug });
  const runs = createMemoryChatRunControl({ now: () => new Date(0) });
  const answer = await dispatchChat(given.input, { handlers, hooks, runs });
  return { output: shown(answer), failed, handler_saw_run_id: seen };
}

export async function runMessage(given: { input: unknown; handler: Fixture }) {
  const failed: string[] = [];
  const hooks = createHooks();
  hooks.on("dispatchMessageFailed", (reason) => failed.push(reason));
  return { output: shown(await dispatchMessage(given.input, { hooks, handler: handlerOf(given.handler) })), failed };
}

export function askPermission(given: {
  input: unknown;
  is_admin: boolean;
  current_user_id: number;
  grants?: readonly unknown[];
}) {
  const { is_admin, current_user_id, grants } = given;
  return mayChat(given.input, {
    isAdministrator: is_admin,
    currentUserId: current_user_id,
    store: grantStore(grants),
  });
}

export function askRunPermission(given: {
  kind: RunWish;
  input: unknown;
  host_capabilities?: readonly string[];
  current_user_id: number;
  grants?: readonly unknown[];
}) {
  const { kind, input, host_capabilities: held = [], current_user_id, grants } = given;
  return mayControlRun(kind, input, {
    isAdministrator: held.includes("manage_options"),
    mayRead: held.includes("read"),
    currentUserId: current_user_id,
    store: grantStore(grants),
  });
}

export async function readContext({ input, current_user_id }: { input: unknown; current_user_id: number }) {
  return shown(await chatRunContext(input, { currentUserId: current_user_id }));
}

const configs: Readonly<Record<string, UnknownMap>> = {
  bare: {},
  "with-provider": { provider: "openai" },
  ready: { provider: "openai", model: "gpt", tools: ["demo/tool"] },
};

export async function validateChat({ input }: { input: unknown }) {
  return shown(await readDefaultChat(input, { configOf: (agent) => configs[agent] }), true);
}

const verbs = {
  get_run: chatRuns.getRun,
  events: chatRuns.listRunEvents,
  cancel: chatRuns.cancelRun,
  queue: chatRuns.queueMessage,
};

export async function runChatCalls({ calls }: { calls: readonly { do: string; with: UnknownMap }[] }) {
  const runs = createMemoryChatRunControl({ now: () => new Date(0) });
  const taken: unknown[] = [];
  for (const { do: verb, with: given } of calls) {
    const { result, ...input } = given;
    const handlers = createChatHandlers();
    handlers.register(() => result);
    const answer =
      verb === "dispatch"
        ? await dispatchChat(input, { runs, handlers })
        : await verbs[verb as keyof typeof verbs](given, { runs, mayReadUnredacted: () => true });
    taken.push(shown(answer));
  }
  return taken;
}

export function runOwnedChat({ calls, current_user_id }: { calls: readonly Call[]; current_user_id: number }) {
  const runs = createMemoryChatRunControl({ now: () => new Date(0) });
  return play(calls, async ({ do: verb, with: given, as_user }, { sessions }) => {
    const place = { workspace_type: "site", workspace_id: "default" };
    if (verb === "create") return await sessions.create(place, as_user ?? current_user_id);
    const handlers = createChatHandlers();
    handlers.register(({ session_id }) => ({ session_id, reply: "ok", completed: true }));
    const host = {
      ...{ runs, handlers, currentUserId: as_user ?? current_user_id, mayReadUnredacted: () => true },
      conversations: keptConversations(sessions),
    };
    const answer =
      verb === "dispatch" ? await dispatchChat(given, host) : await verbs[verb as keyof typeof verbs](given, host);
    return shown(answer);
  });
}
