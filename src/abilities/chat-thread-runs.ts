// The runs of a chat as run control shows them: a view of what its thread has stored, found by the run id that a message
// was left under.
import type { LeftEntry } from "../backend/inbox.ts";
import type { ChatRunsHost } from "../contracts/chat/chat-runs.ts";
import { identifier, trimmed } from "../contracts/coerce.ts";
import { normalizeChatRun } from "../contracts/conversation/chat-run-control.ts";
import {
  endedStatuses,
  eventsPage,
  type Run,
  type RunEvent,
  type RunStatus,
} from "../contracts/conversation/run-control.ts";
import { HoldfastError } from "../contracts/error.ts";
import { operationError } from "../contracts/operation-error.ts";
import type { AttachmentInput } from "../threads/state/thread-state.ts";
import type { ThreadHandle, ThreadRunSummary } from "../threads/thread.ts";
import { cancelKey, runStatus } from "./chat-output.ts";
import { defined } from "./defined.ts";
import { timeOf } from "./shapes.ts";

type Found = {
  readonly entry: LeftEntry;
  readonly stored: ThreadRunSummary | undefined;
  readonly stop: LeftEntry | undefined;
  readonly run: Run;
};

/** Run control over one thread; undefined is a chat that is not there. */
export function threadRuns(
  thread: ThreadHandle | undefined,
  { key }: { readonly key?: string | undefined } = {},
): ChatRunsHost["runs"] {
  /** The run of an id; of the last message that was sent when none is given. */
  async function find(runId?: string): Promise<Found | undefined> {
    const entry = await thread?.left.sent(runId);
    if (!thread || !entry) return undefined;
    const stop = await thread.left.stop(cancelKey(entry.key));
    const stored = entry.run === null ? undefined : await thread.run(entry.run);
    const { agent, updated_at } = await thread.status();
    const changed = stored?.ended_at ?? (stored || stop ? updated_at : entry.created_at);
    const status = await statusOf(thread, { entry, stored, stop });
    const run = normalizeChatRun({
      run_id: entry.key,
      session_id: thread.id,
      status,
      started_at: timeOf(stored?.started_at ?? entry.created_at),
      updated_at: timeOf(changed),
      metadata: { agent },
      ...(status === "cancelled" && { cancelled: true }),
    });
    return { entry, stored, stop, run };
  }

  return {
    get: async (runId) => (await find(runId))?.run,

    async events(runId, page = {}) {
      const found = await find(runId);
      return found && eventsPage(found.run, eventsOf(found), page);
    },

    async cancel(runId) {
      const found = await find(runId);
      if (!thread || !found) return undefined;
      const { run, entry } = found;
      if (endedStatuses.has(run.status)) return normalizeChatRun({ ...run, cancelled: false });
      if (!entry.drained && (await thread.cancelQueued(entry.id))) {
        return normalizeChatRun({ ...run, status: "cancelled", cancelled: true });
      }
      await leaveStop(thread, cancelKey(entry.key));
      return normalizeChatRun({ ...run, status: "cancelling", cancelled: true });
    },

    async queue(input) {
      const runId = identifier(input.run_id);
      const found = await find(runId);
      if (!thread || !found)
        return operationError("agents_chat_run_not_found", "There is no run to queue a message behind.");
      const message = trimmed(input.message);
      if (message === undefined) {
        return operationError("agents_chat_empty_message", "message must not be empty.", { status: 400 });
      }
      const attachments = Array.isArray(input.attachments) ? (input.attachments as readonly AttachmentInput[]) : [];
      const { id } = await thread.queueMessage(message, { attachments, ...defined({ key }) });
      const waiting = (await thread.left.waiting()).filter(({ kind }) => kind === "message");
      // One that was taken in at once had nobody before it.
      const position = Math.max(1, waiting.findIndex((entry) => entry.id === id) + 1);
      const { run_id, session_id } = found.run;
      const { updated_at } = await thread.status();
      const queued = { status: "queued", updated_at: timeOf(updated_at), queued_message_id: id, position };
      return normalizeChatRun({ run_id, session_id, ...queued });
    },
  };
}

async function statusOf(thread: ThreadHandle, { entry, stored, stop }: Omit<Found, "run">): Promise<RunStatus> {
  if (entry.drained && entry.run === null) return "cancelled";
  const { status } = await thread.status();
  if (!stored) return status === "terminated" ? "cancelled" : status === "stuck" ? "stalled" : "queued";
  if (stored.ended_at === null && stop && !stop.drained) return "cancelling";
  if (stored.outcome !== null) return await runStatus(thread, stored.outcome, entry.key);
  return status === "stuck" ? "stalled" : "running";
}

function eventsOf({ entry, stored, stop, run }: Found): readonly RunEvent[] {
  const happened: (readonly [RunEvent["type"], number, RunStatus])[] = [];
  if (stored) happened.push(["run_started", stored.started_at, "running"]);
  if (stop) happened.push(["cancel_requested", stop.created_at, "cancelling"]);
  const ended_at = stored?.ended_at ?? (entry.drained && entry.run === null ? entry.created_at : null);
  if (ended_at !== null) happened.push(["run_finished", ended_at, run.status]);
  return happened.map(([type, at, status], index) => ({
    ...{ id: String(index), type, created_at: timeOf(at), metadata: { status } },
  }));
}

/** Leaves the wish to stop and does not wait until somebody has seen to it: the run says so itself. */
async function leaveStop(thread: ThreadHandle, key: string): Promise<void> {
  try {
    await thread.stop({ key, reason: "Cancelled.", signal: AbortSignal.abort() });
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError) || thrown.code !== "aborted") throw thrown;
  }
}
