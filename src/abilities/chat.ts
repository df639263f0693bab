// Talking with an agent. A chat is a thread of its caller: what is said survives whatever happens to the process, and a
// turn that is repeated under its run id is the same turn.
import { agentSlug } from "../contracts/agents/agent-slug.ts";
import { dispatchChat, newRunId } from "../contracts/chat/dispatch-chat.ts";
import { identifier } from "../contracts/coerce.ts";
import { normalizeChatRun } from "../contracts/conversation/chat-run-control.ts";
import { HoldfastError } from "../contracts/error.ts";
import { isMap, type JsonMap, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import { isOperationError, type OperationError, operationError } from "../contracts/operation-error.ts";
import type { ChatExtensions } from "./chat-host.ts";
import { chatOutputOf } from "./chat-output.ts";
import { type ChatOutput, chatInput, chatOutput } from "./chat-shapes.ts";
import { beginTurn, type Turn } from "./chat-turns.ts";
import { claimRefusal } from "./claim-refusal.ts";
import { lenientInput } from "./lenient-input.ts";
import type { Caller, Operation } from "./operation.ts";
import type { Workbench } from "./reach.ts";

/** The name under which doors call it. */
export const CHAT = "agents/chat";

export function chatOperations(workbench: Workbench, extensions: ChatExtensions = {}): readonly Operation[] {
  const answer = chatWith(workbench, extensions);
  return [
    workbench.define({
      name: CHAT,
      title: "Talk with an agent",
      description: "Says something to an agent and answers with what it said, or with what it waits for.",
      input: lenientInput(chatInput),
      output: chatOutput,
      effect: "write",
      capability: "chat",
      doors: ["http", "cli", "mcp"],
      route: { method: "post", path: "/agents/{agent}/chat" },
      execute: (input, caller) => answer(input, caller),
    }),
  ];
}

/** Told when a turn has begun on a thread, before it has come to anything. */
export type OnTurn = (turn: Turn) => void;

/** One turn of a chat, whoever answers in it. */
export function chatWith(workbench: Workbench, { handlers, hooks }: ChatExtensions) {
  const { runtime, reach } = workbench;

  /** A thread is what answers when no host does. */
  function onThread(caller: Caller, onTurn: OnTurn | undefined) {
    return async (input: JsonMap): Promise<ChatOutput | OperationError> => {
      if (!runtime.agents.has(identifier(input.agent) ?? "")) return agentNotFound(input.agent);
      const turn = await beginTurn(workbench, input, caller);
      if (isOperationError(turn)) return turn;
      onTurn?.(turn);
      try {
        const outcome = await turn.outcome;
        const told = { outcome, run_id: String(input.run_id), principal: caller.principal };
        return await chatOutputOf(runtime, turn.thread, told);
      } catch (thrown) {
        if (!(thrown instanceof HoldfastError) || thrown.code !== "idempotency_conflict") throw thrown;
        const detail = `The run "${String(input.run_id)}" was started with other words.`;
        return operationError("agents_chat_run_already_started", detail, { status: 409 });
      }
    };
  }

  async function mayTalk(input: JsonMap, { principal }: Caller): Promise<boolean> {
    const agent = agentSlug(input.agent);
    const allowed =
      (await reach.managesThreads(principal)) || (await runtime.grants.canAccess(principal, agent, "operator"));
    return (await hooks?.apply("chatPermission", allowed, input)) ?? allowed;
  }

  return async (given: UnknownMap, caller: Caller, onTurn?: OnTurn): Promise<ChatOutput | OperationError> => {
    const { principal } = caller;
    const input = snapshotMap(given);
    if (input.principal != null) {
      const detail = "Who talks is known from the door, and not from what is said.";
      return operationError("agents_chat_invalid_principal", detail, { status: 400 });
    }
    if (!(await mayTalk(input, caller))) return agentNotFound(input.agent);
    const refusal = claimRefusal(input, principal);
    if (refusal) return refusal;
    const run_id = identifier(input.run_id) ?? caller.key ?? (await ownRunId(workbench, input, caller)) ?? newRunId();
    const thread = onThread(caller, onTurn);
    const answer = await dispatchChat(
      { ...input, run_id },
      {
        ...{ hooks, runs: keptByThreads, resolvePrincipal: () => principal },
        // A thread is asked itself whose it is, and so is a host's own session.
        conversations: { owns: async () => true },
        handlers: { find: (asked) => handlers?.find(asked) ?? thread },
      },
    );
    return answer as ChatOutput | OperationError;
  };
}

/** Where nobody names a run, results of tools belong to the one that waits for them. */
async function ownRunId(
  { reach }: Workbench,
  { session_id, input_messages }: JsonMap,
  { principal }: Caller,
): Promise<string | undefined> {
  const id = identifier(session_id);
  const isContinued = Array.isArray(input_messages) && input_messages.length > 0;
  if (id === undefined || !isContinued || !(await reach.has(id, principal, "read"))) return undefined;
  return (await (await reach.thread(id, principal, "read")).left.sent())?.key;
}

/** A message that is left under a run id is all the record that a run needs. */
const keptByThreads = {
  start: async ({ run_id, session_id }: { readonly run_id: string; readonly session_id: string }) =>
    normalizeChatRun({ run_id, session_id }),
  finish: async () => undefined,
};

function agentNotFound(agent: unknown): OperationError {
  const name = isMap(agent) ? "" : String(agent ?? "");
  const detail =
    name === ""
      ? "agent is missing: say which agent to talk with."
      : `There is no agent "${name}" that the caller may talk with.`;
  return operationError("agents_chat_agent_not_found", detail, { status: 404 });
}
