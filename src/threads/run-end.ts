// The end of a run, beyond its own outcome: what ended the session, what a parent is told, what a reader sees of a failure.
import type { Write } from "../backend/write.ts";
import * as message from "../contracts/conversation/message.ts";
import { isMap } from "../contracts/json.ts";
import { contentText } from "../contracts/standard/content-text.ts";
import type { State } from "../loop/state.ts";
import type { Batch } from "./batch.ts";
import { readEnd, SESSION_ENDS, type SessionEnd } from "./calls/lifecycle.ts";
import { bindsTerminalTools } from "./cast/side-rules.ts";
import type { HeldThread } from "./held-thread.ts";
import type { Host } from "./host.ts";
import type { RunOutcome } from "./outcome.ts";
import { keptRequest } from "./requests/awaited-request.ts";
import { deliveryOf } from "./subagents/deliver.ts";
import type { ThreadRun } from "./thread-run.ts";

/** What a run came to, with what its rules say of it. */
export async function sessionOutcome(
  host: Host,
  held: HeldThread,
  batch: Batch,
  outcome: RunOutcome,
): Promise<RunOutcome> {
  const standing = held.state?.standing;
  if (!standing) return outcome;
  const session = await sessionEnd(host, held, batch);
  // What else ends a run comes between two steps: the last one that was judged had nothing to do with it.
  const code = isEndedByRules(outcome) ? standing.code : null;
  return {
    ...outcome,
    ...statusOf(outcome, code, session),
    ...(code !== null && { stop_code: code }),
    ...(session && { session }),
  };
}

const LIMITS: ReadonlySet<string> = new Set([
  "max_side_steps",
  "max_session_turns",
  "max_total_steps",
  "repeated_tool_error",
]);

function isEndedByRules({ status }: RunOutcome): boolean {
  return status === "completed" || status === "max_turns";
}

function statusOf(outcome: RunOutcome, code: string | null, session: SessionEnd | null): Partial<RunOutcome> {
  if (!isEndedByRules(outcome)) return {};
  if (code === "hook_blocked") return { status: "blocked", completed: false };
  if (code !== null && LIMITS.has(code)) return { status: "limit_reached", completed: false };
  if (session?.status === "failure") {
    const failure = { type: "session_fail", code: "session_fail", message: session.text };
    return { status: "failed", completed: false, failure };
  }
  return { status: "completed", completed: true };
}

/** What was kept of the call that ended the session, whether it is stored or about to be. */
async function sessionEnd({ stores }: Host, held: HeldThread, batch: Batch): Promise<SessionEnd | null> {
  const { code = null, control } = held.state?.standing ?? {};
  const ending = code === "session_stop" || code === "session_fail" ? code : control?.session && "state_stop_session";
  if (!ending) return null;
  const key = SESSION_ENDS[ending];
  const isEnd = (write: Write) => write.write === "value" && write.thread_id === held.id && write.key === key;
  const unstored = batch.writes.findLast(isEnd);
  const text = unstored?.write === "value" ? unstored.value : await stores.state.value(held.id, key);
  return readEnd(text ?? undefined);
}

/** Adds to the last commit of a run what follows from it for others. */
export async function endWrites(
  host: Host,
  held: HeldThread,
  run: ThreadRun,
  batch: Batch,
  { outcome, isStopped }: { readonly outcome: RunOutcome; readonly isStopped: boolean },
): Promise<void> {
  const { state } = held;
  if (!state) return;
  if (run.cast.agent.style === "standard" && outcome.status === "failed") tellFailure(batch, state, outcome);
  if (outcome.session) {
    for (const key of Object.values(SESSION_ENDS))
      batch.writes.push({ write: "value", thread_id: held.id, key, value: null });
  }
  if (!held.thread.child) return;
  const { control } = state.standing ?? {};
  const { writes, notice } = await deliveryOf(host, held.thread, {
    code: isStopped ? "stopped" : (outcome.stop_code ?? outcome.status),
    session: outcome.session ?? null,
    lastMessage: lastWords(run),
    notifies: control?.session?.notifies ?? true,
    bindsTerminalTools: bindsTerminalTools(run.cast.agent),
    ...failureOf(outcome, isStopped),
    writes: batch.writes,
  });
  batch.writes.push(...writes);
  if (notice) batch.addNotice(notice);
}

/** How often sides speak is for their agent to say: a child that has no tool to end with ends like this. */
const USUAL_ENDS: ReadonlySet<string | undefined> = new Set(["max_session_turns", "max_side_steps"]);

/** A child that is stopped before it has begun with what it was asked for will not answer: its parent must not wait. */
export async function tellStopped(host: Host, held: HeldThread, batch: Batch): Promise<void> {
  const { thread } = held;
  const agent = host.agents.get(thread.agent);
  if (!thread.child || thread.child_status !== "running" || !agent) return;
  const asked = held.entries.findLast((entry) => entry.kind === "message" && entry.body.request_id !== undefined);
  const requestId = asked?.kind === "message" ? asked.body.request_id : undefined;
  const { writes, notice } = await deliveryOf(host, thread, {
    ...{ code: "stopped", failure: "It was stopped.", session: null, lastMessage: "", notifies: true },
    bindsTerminalTools: bindsTerminalTools(agent),
    writes: requestId === undefined ? [] : [keptRequest(thread.id, requestId)],
  });
  batch.writes.push(...writes);
  if (notice) batch.addNotice(notice);
}

function failureOf(outcome: RunOutcome, isStopped: boolean): { failure?: string } {
  if (isStopped) return { failure: "It was stopped." };
  const { completed, session, stop_code, status, budget, failure } = outcome;
  if (completed || session || USUAL_ENDS.has(stop_code)) return {};
  if (budget !== undefined) return { failure: `Its budget of ${budget} is used up.` };
  const words = isMap(failure) ? failure.message : undefined;
  return { failure: typeof words === "string" ? words : `It ended as ${stop_code ?? status}.` };
}

/** What was said last on the thread itself. */
function lastWords({ working }: ThreadRun): string {
  const transcript = working.outer[0]?.transcript ?? working.transcript;
  const isSaid = ({ type, metadata }: message.Message) => type === "text" && metadata.silent !== true;
  const last = transcript.findLast((each) => isSaid(each) && (each.role === "assistant" || each.role === "user"));
  return last ? contentText(last.content) : "";
}

/** An answer that never came is seen by those who read the thread, and by no model. */
function tellFailure(batch: Batch, { stops }: State, { failure }: RunOutcome): void {
  if (!stops.failure) return;
  const words = isMap(failure) && typeof failure.message === "string" ? failure.message : "The model did not answer.";
  batch.addNotice(message.text("assistant", "", { status: "failed", error: words }));
}
