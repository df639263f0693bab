// Takes a thread up where it stands: what there is to do for it, and what that begins with.
import type { StoredRequest } from "../backend/request-store.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { CommitConflict } from "../engine/retry-commit.ts";
import { isProposed, proposedRequest } from "../loop/approve.ts";
import type { Arrived } from "../loop/next.ts";
import { initialState, type State } from "../loop/state.ts";
import type { Working } from "../loop/working.ts";
import { applyChanges } from "./apply-changes.ts";
import { Batch } from "./batch.ts";
import { begunCall, resolveInFlight } from "./calls/in-flight.ts";
import { type LeftBehind, withControl, withoutStarts } from "./calls/left-behind.ts";
import { toolOf } from "./cast/cast.ts";
import { keepTranscript } from "./consent/keep-transcript.ts";
import { runDueEffect } from "./effects/due-effect.ts";
import { hasWork, isWork, staysStopped, stopsIn } from "./entries.ts";
import type { HeldThread } from "./held-thread.ts";
import { tellBorn } from "./hooks/thread-born.ts";
import type { Host } from "./host.ts";
import { proposedBy } from "./requests/binding.ts";
import { broughtFor, timeLeft } from "./requests/brought.ts";
import { decidedIn, decisionNote } from "./requests/notes.ts";
import { policyVersion } from "./requests/terms.ts";
import { tellStopped } from "./run-end.ts";
import { cutOff, endLost, takeStop } from "./stopping.ts";
import { takeUpRun } from "./take-up-run.ts";
import type { ThreadRun } from "./thread-run.ts";

/** What a thread goes on with, and what goes into the same commit. */
export type Start = {
  readonly run: ThreadRun;
  readonly batch: Batch;
  readonly arrived: Arrived | undefined;
  /** The call that is about to run again may have run before. */
  readonly mayHaveRun?: boolean;
};

/** What came of an effect, at which place of the run, and what was to be queued with it. */
export type Unstored = { readonly arrived: Arrived; readonly left: LeftBehind; readonly seq: number };

/** What there is to do; undefined when there is nothing, and the thread was laid down. */
export async function startThread(
  host: Host,
  held: HeldThread,
  unstored: Unstored | undefined,
  onRun: (run: ThreadRun) => void,
): Promise<Start | undefined> {
  if (!held.state || held.state.position === "ended") return await startIdle(host, held, onRun);
  const run = takeUpRun(host, held, false);
  onRun(run);
  held.state = whereItWaits(held.state, run.working);
  const start = await startAgain(host, held, held.state, run, unstored);
  if (!run.lost || !start || (start.arrived && "stop" in start.arrived)) return start;
  host.report(run.lost, held.id);
  return { ...start, arrived: endLost(run.lost, start.arrived) };
}

/** Goes on with a run where it stands. */
async function startAgain(
  host: Host,
  held: HeldThread,
  state: State,
  run: ThreadRun,
  unstored: Unstored | undefined,
): Promise<Start | undefined> {
  const batch = new Batch(held.from);
  if (state.position === "call.parked") return await startParked(host, held, run, batch);
  if (unstored?.seq === state.seq) {
    // A wish to stop that came meanwhile is found after the commit, unless it is what has arrived.
    if ("stop" in unstored.arrived) takeStop(held, batch, unstored.arrived.performed);
    run.left = held.isTerminated ? withoutStarts(unstored.left) : unstored.left;
    return { run, batch, arrived: unstored.arrived };
  }
  const stop = takeStop(held, batch, true);
  if (stop) return { run, batch, arrived: stop };
  // Where calls run one stays until its outcome is known: it has begun, whatever else the state says.
  if (state.position === "call.run") return await startUnsettled(host, held, run, batch);
  // Where it costs something the machine writes that down itself.
  const isLost = state.in_flight?.kind === "call_model" || state.in_flight?.kind === "summarize";
  if (isLost && !state.reserved) batch.notes.push({ type: "model_lost", metadata: { at: host.now() } });
  return { run, batch, arrived: undefined };
}

/**
 * The state of a run whose call waits for a yes is that it waits, and for which request: both are sealed with the call, and
 * the state is not. Whoever wrote another one past us would have it run on no yes, or on one to another call.
 */
function whereItWaits(state: State, working: Working): State {
  const request_id = proposedRequest(working);
  const { position } = state;
  if (request_id === undefined || (position !== "call.parked" && position !== "call.run")) return state;
  const waiting = { call: working.call?.number ?? 0, request_id, as: "approval" } as const;
  return { ...state, position: "call.parked", in_flight: null, waiting };
}

/** A new run if something waits for one; before that, what was asked to be changed between runs. */
async function startIdle(host: Host, held: HeldThread, onRun: (run: ThreadRun) => void): Promise<Start | undefined> {
  await tellBorn(host, held);
  await runDueEffect(host, held, null);
  const batch = new Batch({ ...held.from, seqs: [], outer: [] });
  const isStopped = staysStopped(held.entries, held.stoppedAt);
  const rests = held.isTerminated || isStopped || !hasWork(held.entries);
  // What is injected before something that a run takes in is taken in with that, in order.
  const taken = held.entries.filter((entry) => !isWork(entry) && (rests || entry.kind !== "inject"));
  for (const { seq } of taken) batch.drained.push(seq);
  await applyChanges(host, held, taken, batch);
  if (isStopped && !held.isTerminated && stopsIn(taken).length > 0) await tellStopped(host, held, batch);
  if (rests && batch.isEmpty) {
    await held.giveBack(null);
    return undefined;
  }
  if (rests || batch.messages.length + batch.facts.length > 0) {
    await keepTranscript(host, held, batch, held.nextMessage);
    const status = isStopped ? "stopped" : "idle";
    await held.commit(batch, null, rests ? status : "running", rests ? { dueAfter: null } : undefined);
    // What was changed is read again before a run begins with it.
    if (rests) return undefined;
    throw new CommitConflict("The transcript was changed.");
  }
  const turns = held.state?.standing?.turns;
  held.run++;
  held.state = initialState;
  held.funds?.startRun();
  const run = takeUpRun(host, held, true, turns);
  onRun(run);
  const first = new Batch(held.from);
  first.drained.push(...batch.drained);
  const { child, child_status } = held.thread;
  if (child && child_status !== "running") {
    first.writes.push({ write: "child_status", thread_id: held.id, status: "running" });
  }
  return { run, batch: first, arrived: undefined };
}

/** A parked call goes on with its answer, or when its time is up; a stop ends it. Otherwise it stays where it is. */
async function startParked(host: Host, held: HeldThread, run: ThreadRun, batch: Batch): Promise<Start | undefined> {
  const waiting = held.state?.waiting;
  if (!waiting) throw new Error(`Thread ${held.id} is parked and waits for nothing.`);
  const { requests } = host.stores;
  const request = await requests.get(waiting.request_id);
  const status = request?.status ?? "cancelled";
  for (const entry of held.entries) if (entry.kind === "answer") batch.drained.push(entry.seq);
  const { call } = run.working;
  // Whoever brought a result has done the work: that stands, and the stop comes after it.
  const isResult = status === "answered" && call !== null && !isProposed(call);
  const stop = isResult ? undefined : takeStop(held, batch, true);
  if (stop) {
    if (request) batch.closed = { id: request.id, from: status, to: "cancelled" };
    if (request?.kind !== "approval" || status !== "answered") return { run, batch, arrived: stop };
    // Somebody has decided all the same, and whoever looks later is told so.
    const decided = { ...decidedIn(request, outcomeOf(host, run, request)), overtaken: true } as const;
    batch.notes.push(decisionNote(request, decided));
    return { run, batch, arrived: { ...stop, decided } };
  }
  // Nobody could use an answer: it is not waited for.
  if (status === "pending" && run.lost) {
    if (request) batch.closed = { id: request.id, from: status, to: "cancelled" };
    return { run, batch, arrived: undefined };
  }
  if (status === "pending") await runDueEffect(host, held, run);
  const left = request?.expires_at == null ? null : timeLeft(request.expires_at, await requests.now());
  if (status === "pending" && (left === null || left > 0)) {
    await held.giveBack(left);
    return undefined;
  }
  if (request) batch.closed = { id: request.id, from: status, to: status === "pending" ? "expired" : "settled" };
  const outcome = outcomeOf(host, run, request);
  const brought = { call: waiting.call, request_id: waiting.request_id, outcome };
  if (request?.kind !== "approval") return { run, batch, arrived: brought };
  const decided = decidedIn(request, outcome);
  batch.notes.push(decisionNote(request, decided));
  return { run, batch, arrived: { ...brought, decided } };
}

/** What the answer to a request comes to for the call that waits for it. */
function outcomeOf({ sealing }: Host, { working, cast }: ThreadRun, request: StoredRequest | undefined): Outcome {
  const proposed = proposedBy(working);
  const version = policyVersion(cast.agent, toolOf(cast, proposed.tool_name));
  return broughtFor(sealing, request, { proposed, policyVersion: version });
}

/** A tool call that somebody began and nobody settled. */
async function startUnsettled(host: Host, held: HeldThread, run: ThreadRun, batch: Batch): Promise<Start | undefined> {
  const resolution = await resolveInFlight(host, held, run, held.state ?? initialState);
  switch (resolution.kind) {
    case "arrived":
      run.left = resolution.left;
      return { run, batch, arrived: withControl(resolution.outcome, resolution.left) };
    case "ask_later":
      await runDueEffect(host, held, run);
      await held.giveBack(resolution.after);
      return undefined;
    case "cut_off":
      return { run, batch, arrived: await cutOff(held, run, batch, true) };
    case "rerun":
      batch.calls.push(begunCall(host, held.state, run));
      return { run, batch, arrived: undefined, mayHaveRun: resolution.mayHaveRun };
    default:
      return resolution satisfies never;
  }
}
