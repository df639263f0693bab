// A turn of a chat on a thread: a chat is a thread of its caller, a message is left under the run id, and results of
// client tools answer what the thread waits for.
import { readTurn } from "../contracts/chat/chat-turn.ts";
import { chatRunContext } from "../contracts/chat/run-context.ts";
import { identifier, truthy } from "../contracts/coerce.ts";
import { HoldfastError } from "../contracts/error.ts";
import { isEmpty, isMap, type JsonMap, type UnknownMap } from "../contracts/json.ts";
import {
  isOperationError,
  type OperationError,
  operationError,
  operationErrorOf,
} from "../contracts/operation-error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { AttachmentInput } from "../threads/state/thread-state.ts";
import type { StreamEvent } from "../threads/stream/stream.ts";
import type { SendOutcome, ThreadHandle } from "../threads/thread.ts";
import { attachmentRefusal } from "./attachments.ts";
import { callerKey, madeKey } from "./caller-key.ts";
import { answerClientTools } from "./chat-client-tools.ts";
import { defined } from "./defined.ts";
import { isSamePlace, subjectFor, workspaceFor } from "./open-for.ts";
import type { Caller } from "./operation.ts";
import type { Workbench } from "./reach.ts";
import { positionOf } from "./shapes.ts";

/** A turn that was begun: what it comes to, and what happens meanwhile. Reading starts nothing, and leaving stops nothing. */
export type Turn = {
  readonly thread: ThreadHandle;
  readonly outcome: Promise<SendOutcome>;
  stream(): AsyncIterable<StreamEvent>;
};

/** What a caller may ask of one turn alone in the contract, and a thread does not know. */
const unsupported = ["tool_policy", "allow_only", "completion_assertions", "structured_output"] as const;

/** Begins a turn, or says why it cannot be: nothing has happened then. `input` is a chat's, with its run id. */
export async function beginTurn(
  workbench: Workbench,
  input: JsonMap,
  caller: Pick<Caller, "principal" | "signal">,
): Promise<Turn | OperationError> {
  const turn = readTurn(input);
  if (isOperationError(turn)) return turn;
  const refused = unsupported.find((field) => isAsked(input[field]));
  if (refused !== undefined) {
    const detail = `${refused} cannot be set for one turn: it belongs to the definition of the agent.`;
    return operationError("agents_chat_option_unsupported", detail, { status: 400, option: refused });
  }
  const unattached = await attachmentRefusal(workbench, input.attachments, caller.principal);
  if (unattached) return unattached;
  const { session_id } = input;
  const runId = identifier(input.run_id) ?? "";
  const thread =
    identifier(session_id) === undefined
      ? await newChat(workbench, input, runId, caller)
      : await knownChat(workbench, input, caller);
  if (isOperationError(thread)) return thread;
  const { signal } = caller;
  if (turn.continuation.length > 0) {
    const place = await placeOf(thread);
    const refusal = await answerClientTools(workbench.runtime, thread, turn.continuation, caller);
    if (refusal) return refusal;
    if (turn.message === "") return continued(thread, place, signal);
  }
  const attachments = attachmentsOf(input.attachments);
  const sending = thread.send(turn.message, { key: runId, attachments, ...defined({ signal }) });
  return { thread, outcome: sending, stream: () => sending.stream({ ...defined({ signal }) }) };
}

/** What the run comes to that goes on with the results. */
function continued(thread: ThreadHandle, after: string | undefined, signal: AbortSignal | undefined): Turn {
  const outcome = thread.wait({ ...defined({ signal }) }).then((found) => {
    if (found) return found;
    throw new Error(`Thread "${thread.id}" has no run, and waited for a result all the same.`);
  });
  return { thread, outcome, stream: () => thread.stream({ untilRest: true, ...defined({ after, signal }) }) };
}

/** The chat that is named: an unknown one and somebody else's are refused alike. */
async function knownChat(
  { reach, runtime }: Workbench,
  { session_id, agent, ...input }: JsonMap,
  { principal }: Pick<Caller, "principal">,
): Promise<ThreadHandle | OperationError> {
  const id = identifier(session_id) ?? "";
  const notTheirs = operationError("agents_chat_run_owner_forbidden", `There is no chat "${id}" of the caller.`, {
    status: 403,
  });
  if (!(await reach.has(id, principal, "read"))) return notTheirs;
  const thread = await talkingOn(reach, id, principal, notTheirs);
  if (isOperationError(thread)) return thread;
  const context = await chatRunContext(input, { resolvePrincipal: () => principal });
  if (isOperationError(context)) return context;
  const { workspace } = await runtime.threads.subject(id);
  if (context.workspace && !isSamePlace(workspace, context.workspace)) return notTheirs;
  const status = await thread.status();
  if (agent === status.agent || agent === status.origin_agent) return thread;
  return operationError("agents_chat_session_agent_mismatch", `The chat "${id}" is not one with "${String(agent)}".`, {
    status: 409,
  });
}

/** The thread, or why nobody talks on it: that it would do more than its caller may is worth a word of its own. */
async function talkingOn(
  reach: Workbench["reach"],
  id: string,
  principal: Principal,
  notTheirs: OperationError,
): Promise<ThreadHandle | OperationError> {
  try {
    return await reach.thread(id, principal, "talk");
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    if (thrown.code === "thread_acts_with_more") return operationErrorOf(thrown, thrown.code);
    if (thrown.code === "ability_forbidden") return notTheirs;
    throw thrown;
  }
}

/** A new chat, the same one for the same run id: whoever lost the answer to the first turn finds it again. */
async function newChat(
  workbench: Workbench,
  input: JsonMap,
  runId: string,
  { principal }: Pick<Caller, "principal">,
): Promise<ThreadHandle | OperationError> {
  if (callerKey(principal) === null) {
    const detail = "Nothing tells this caller from others like it: nobody could come back to the chat.";
    return operationError("agents_chat_run_owner_required", detail, { status: 403 });
  }
  const key = madeKey({ idempotencyKey: runId, madeBy: "chat" }, principal);
  const agent = identifier(input.agent) ?? "";
  const context = await chatRunContext(input, { resolvePrincipal: () => principal });
  if (isOperationError(context)) return context;
  try {
    const named = context.workspace ? { workspace: { ...context.workspace } } : {};
    const workspace = await workspaceFor(workbench, { agent, ...named }, principal);
    return await workbench.runtime.threads.open(key, {
      agent,
      messages: historyOf(input.history),
      ...(await subjectFor(workbench, key, workspace, principal)),
    });
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    if (thrown.code === "workspace_forbidden") return operationErrorOf(thrown, thrown.code);
    if (thrown.code !== "thread_key_taken") throw thrown;
    const detail = `The run "${runId}" belongs to another chat.`;
    return operationError("agents_chat_run_owner_forbidden", detail, { status: 403 });
  }
}

/** What was said before. Nobody acts on it: what is to be acted on is the message. */
function historyOf(value: unknown): readonly { role: string; content: string; metadata?: JsonMap }[] {
  const rows = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const said = rows.flatMap((row) => {
    const { role, content } = isMap(row) ? row : ({} as UnknownMap);
    const isSaid = (role === "user" || role === "assistant") && typeof content === "string" && content.trim() !== "";
    return isSaid ? [{ role, content }] : [];
  });
  // A user who has the last word there would be answered before the message was left.
  return said.map((row, index) =>
    index === said.length - 1 && row.role === "user" ? { ...row, metadata: { silent: true } } : row,
  );
}

/** Where a reader begins who wants to see what comes from now on. */
async function placeOf(thread: ThreadHandle): Promise<string | undefined> {
  return positionOf(await thread.status()) ?? undefined;
}

function attachmentsOf(value: unknown): readonly AttachmentInput[] {
  return Array.isArray(value) ? (value as readonly AttachmentInput[]) : [];
}

function isAsked(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isMap(value) ? !isEmpty(value) : truthy(value);
}
