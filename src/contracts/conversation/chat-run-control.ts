// Runs of a chat: each id is used once, each run belongs to one session and one owner, and messages that arrive while
// one is going on wait in its session's queue.
import { agentSlug } from "../agents/agent-slug.ts";
import { sha256 } from "../canonical-json.ts";
import { identifier, nonEmptyString, scalarText, trimmed } from "../coerce.ts";
import { type HoldfastError, holdfastError } from "../error.ts";
import { emptyMap, isContainer, type Json, type JsonMap, snapshot, snapshotMap, type UnknownMap } from "../json.ts";
import { type OperationError, operationError } from "../operation-error.ts";
import * as message from "./message.ts";
import {
  createMemoryRunStore,
  normalizeRun,
  type Run,
  type RunControl,
  type RunEvents,
  type RunOwner,
} from "./run-control.ts";

/** A run of a chat; it always has a session. */
type ChatRun = Run & { readonly session_id: string };

/** A message that waits for the run of its session to end. */
type QueuedMessage = {
  readonly queued_message_id: string;
  readonly session_id: string;
  readonly run_id: string;
  readonly agent: string;
  readonly message: string;
  readonly attachments: readonly Json[] | JsonMap;
  readonly client_context: JsonMap;
  readonly created_at: string;
};

/** Run control with what a chat offers beside it. */
export interface ChatRunControl extends RunControl {
  cancel(runId: string, owner?: RunOwner): Promise<Run | undefined>;
  events(
    runId: string,
    page?: { readonly cursor?: unknown; readonly limit?: unknown },
    owner?: RunOwner,
  ): Promise<RunEvents | undefined>;
  /**
   * Queues a message behind the run it names, else behind the newest of its session; throws `invalid_run_record` when it
   * names no session.
   */
  queue(input: UnknownMap, owner?: RunOwner): Promise<Run | OperationError>;
  canQueue(input: UnknownMap, owner?: RunOwner): Promise<boolean>;
  /** Takes everything out of a session's queue, oldest first. */
  claimQueue(sessionId: string, owner?: RunOwner): Promise<readonly QueuedMessage[]>;
}

/** Run control in memory. A claim token in the metadata of a start is never stored with the run. */
export function createMemoryChatRunControl({ now }: { readonly now: () => Date }): ChatRunControl {
  const store = createMemoryRunStore({ now, normalize: normalizeChatRun, eventId: (_runId, index) => String(index) });
  const bindings = new Map<string, { readonly owner: string; readonly claimToken: string | undefined }>();
  const queues = new Map<string, QueuedMessage[]>();
  let queuedEver = 0;

  function isVisible(runId: string, owner: RunOwner | undefined): boolean {
    return bindings.get(runId)?.owner === fingerprint(owner);
  }

  function queueTarget(input: JsonMap, owner: RunOwner | undefined): Run | undefined {
    const sessionId = identifier(input.session_id);
    const runId = identifier(input.run_id);
    const named = runId === undefined ? store.all() : [store.get(runId)];
    let newest: Run | undefined;
    for (const run of named) {
      if (!run || run.session_id !== sessionId || !isVisible(run.run_id, owner)) continue;
      if (!newest || isNewer(run, newest)) newest = run;
    }
    return newest;
  }

  return {
    async start({ run_id, session_id, metadata, owner }) {
      const runId = identifier(run_id);
      const sessionId = identifier(session_id);
      if (runId === undefined || sessionId === undefined)
        return notFound("A chat run needs a run id and a session id.");
      const { _claim_token, ...kept } = snapshotMap(metadata);
      const claimToken = nonEmptyString(_claim_token);

      const existing = store.get(runId);
      if (existing === undefined) {
        bindings.set(runId, { owner: fingerprint(owner), claimToken });
        return store.start({ run_id: runId, session_id: sessionId, metadata: kept });
      }
      const isClaimed = claimToken !== undefined && bindings.get(runId)?.claimToken === claimToken;
      const hasSession = existing.session_id === sessionId || (isClaimed && existing.session_id === `pending:${runId}`);
      if (!hasSession || !isVisible(runId, owner)) {
        return operationError(
          "agents_chat_run_owner_forbidden",
          `The run "${runId}" belongs to another session or owner.`,
        );
      }
      if (!isClaimed) {
        return operationError("agents_chat_run_already_started", `The run "${runId}" was already started.`);
      }
      // Whoever holds the token has the run already: there is nothing to change, and nothing happened.
      if (existing.session_id === sessionId) return existing;
      // The status stays, so that a cancellation asked for between claim and start is not lost.
      return store.adopt({ ...existing, session_id: sessionId, metadata: { ...existing.metadata, ...kept } });
    },
    get: (runId, owner) => (isVisible(runId, owner) ? store.get(runId) : undefined),
    finish: async (runId, status, owner) => (isVisible(runId, owner) ? store.finish(runId, status) : undefined),
    cancel: async (runId, owner) => (isVisible(runId, owner) ? store.cancel(runId) : undefined),
    events: async (runId, page, owner) => (isVisible(runId, owner) ? store.events(runId, page) : undefined),
    async queue(given, owner) {
      const input = snapshotMap(given);
      if (identifier(input.session_id) === undefined) throw nameless();
      const run = queueTarget(input, owner);
      if (run?.session_id === undefined) return notFound("There is no run in this session to queue a message behind.");
      const { run_id, session_id } = run;
      const created_at = now().toISOString();
      const queued_message_id = `queued-message-${++queuedEver}`;
      const queue = queues.get(queueKey(session_id, owner)) ?? [];
      queues.set(queueKey(session_id, owner), queue);
      queue.push(queuedMessage(input, { queued_message_id, session_id, run_id, created_at }));
      return normalizeChatRun({
        run_id,
        session_id,
        status: "queued",
        updated_at: created_at,
        queued_message_id,
        position: queue.length,
      });
    },
    canQueue: async (input, owner) => queueTarget(snapshotMap(input), owner) !== undefined,
    async claimQueue(sessionId, owner) {
      const key = queueKey(identifier(sessionId) ?? "", owner);
      const claimed = queues.get(key) ?? [];
      queues.delete(key);
      return Object.freeze(claimed);
    },
  };
}

/** A run record of a chat; throws `invalid_run_record` without an id or a session. A chat never merely succeeds. */
export function normalizeChatRun(value: unknown): ChatRun {
  const { workflow_id, executor_id, ...run } = normalizeRun(value);
  const session_id = trimmed(run.session_id);
  if (session_id === undefined) throw nameless();
  return snapshot({ ...run, session_id, status: run.status === "succeeded" ? "running" : run.status }) as ChatRun;
}

/** What the conversation is told when its run is asked to stop; undefined while nobody asked. */
export function cancellationMessage({ run_id, session_id = "", status }: Run): message.Message | undefined {
  if (status !== "cancelling") return undefined;
  const metadata = { type: "chat_run_interrupt", interrupt_action: "cancel", run_id, session_id };
  return message.text("user", "The run was cancelled.", metadata);
}

function queuedMessage(
  input: JsonMap,
  identity: Pick<QueuedMessage, "queued_message_id" | "session_id" | "run_id" | "created_at">,
): QueuedMessage {
  const { attachments, client_context } = input;
  return snapshot({
    ...identity,
    agent: agentSlug(input.agent),
    message: scalarText(input.message) ?? "",
    attachments: isContainer(attachments) ? attachments : [],
    client_context: isContainer(client_context) ? client_context : emptyMap,
  }) as QueuedMessage;
}

function isNewer(run: Run, other: Run): boolean {
  for (const field of ["updated_at", "started_at", "run_id"] as const) {
    if (run[field] !== other[field]) return run[field] > other[field];
  }
  return false;
}

// Owners are compared, never shown. A run without one is visible to callers without one.
function fingerprint(owner: RunOwner | null | undefined): string {
  return owner == null ? "" : sha256(`${owner.type}:${owner.key}`);
}

function queueKey(sessionId: string, owner: RunOwner | undefined): string {
  return `${fingerprint(owner)}:${sessionId}`;
}

function nameless(): HoldfastError {
  return holdfastError("invalid_run_record", "session_id must be a non-empty string");
}

function notFound(message: string): OperationError {
  return operationError("agents_chat_run_not_found", message);
}
