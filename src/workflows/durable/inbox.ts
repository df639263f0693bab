// What has come in for a run: wishes of operators, answers to its requests, and events.
import type { Entry } from "../../backend/inbox.ts";
import type { StoredRequest } from "../../backend/request-store.ts";
import { isMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { isIdempotent } from "../../contracts/workflows/step-options.ts";
import type { Arrived, Outcome } from "../machine/next.ts";
import { bodyOf } from "../machine/working.ts";
import { boundTo, readAnswer } from "./asked-request.ts";
import { findEvent, wantedBy } from "./events.ts";
import type { LeasedRun } from "./leased-run.ts";
import { comparePaths } from "./path-order.ts";
import type { RunBatch } from "./run-batch.ts";
import type { RunHost } from "./run-host.ts";
import type { OpenStep } from "./run-state.ts";
import { approvalExpired, approvalOutdated, approvalRejected, requestMismatch, timedOut } from "./step-errors.ts";
import { outcomeOfAgent } from "./steps/agent-step.ts";
import { policyOf, toolOfStep } from "./steps/approval-step.ts";
import { outcomeOfNested } from "./steps/nested-step.ts";
import { outcomeOfWait } from "./steps/wait-step.ts";

export type RunInbox = {
  readonly isCancelled: boolean;
  /** Undefined where it stays as it is. */
  readonly isPaused: boolean | undefined;
  /** The failed run is to be carried on. */
  readonly isRetry: boolean;
  /** What open steps have come to. `begin`: a person has agreed to the step, which code of this process carries out now. */
  outcomes(how: { readonly holdsBack: boolean; readonly begin: (path: string) => void }): Promise<Arrived[]>;
};

/** Takes everything but answers and events at once, in order; these are taken with `outcomes`. */
export async function readInbox(host: RunHost, run: LeasedRun, batch: RunBatch): Promise<RunInbox> {
  const isOver = run.state.machine.status !== "running";
  let isCancelled = false;
  let isPaused: boolean | undefined;
  let isRetry = false;
  for (const { seq, kind } of run.entries) {
    const staysFor = kind === "answer" || kind === "event";
    if (staysFor && !isOver) continue;
    batch.drained.push(seq);
    // What came in before the wish to go on was for the run that has ended.
    if (kind === "retry") [isCancelled, isPaused, isRetry] = [false, undefined, true];
    else if (kind === "stop") isCancelled = true;
    else if (kind === "pause") isPaused = true;
    else if (kind === "resume") isPaused = false;
  }
  return {
    ...{ isCancelled, isPaused, isRetry },
    async outcomes({ holdsBack, begin }) {
      if (isOver) return [];
      const answered: Arrived[] = [];
      const inTime = new Set<string>();
      for (const entry of run.entries) {
        if (entry.kind !== "answer") continue;
        const taken = await takeAnswer(host, run, batch, entry, { holdsBack, begin });
        if (taken.path !== undefined) inTime.add(taken.path);
        if (taken.arrived) answered.push(taken.arrived);
      }
      return [...answered, ...takeEvents(host, run, batch), ...expired(host, run, inTime)];
    },
  };
}

type Taking = { readonly holdsBack: boolean; readonly begin: (path: string) => void };

/** `path`: of the step that was answered, in time however late that is looked at. */
type Taken = { readonly path?: string | undefined; readonly arrived?: Arrived };

async function takeAnswer(
  host: RunHost,
  run: LeasedRun,
  batch: RunBatch,
  entry: Entry,
  taking: Taking,
): Promise<Taken> {
  const { request_id } = snapshotMap(JSON.parse(entry.body));
  const [path, open] = Object.entries(run.state.open).find(([, each]) => each.request_id === request_id) ?? [];
  const request = await host.threads.stores.requests.get(String(request_id));
  const isWaited = open !== undefined && open.by !== "process";
  // A paused run begins nothing: the answer is taken once it goes on.
  if (isWaited && open.by === "approval" && taking.holdsBack) return { path };
  batch.drained.push(entry.seq);
  if (request?.status === "answered") batch.closed.push({ id: request.id, from: "answered", to: "settled" });
  if (!isWaited || path === undefined) return {};
  const outcome = await outcomeOf(host, run, { path, open, request, begin: taking.begin });
  return { path, ...(outcome && { arrived: { path, attempt: open.attempt, outcome } }) };
}

type Answered = {
  readonly path: string;
  readonly open: OpenStep;
  readonly request: StoredRequest | undefined;
  readonly begin: (path: string) => void;
};

async function outcomeOf(host: RunHost, run: LeasedRun, answered: Answered): Promise<Outcome | undefined> {
  const { path, open, request, begin } = answered;
  const { resolved = {}, suspend } = bodyOf(run.working, path);
  const { sealing } = host.threads;
  if (open.by === "child") {
    const answer: unknown = request?.answer == null ? null : JSON.parse(request.answer);
    const read = isMap(answer) ? snapshotMap(answer) : {};
    if (request?.status !== "answered") return { as: "failed", error: requestMismatch };
    return open.waits_for === "workflow"
      ? await outcomeOfNested(host, open.child_id ?? "", read)
      : outcomeOfAgent(read, open.child_id ?? "");
  }
  if (open.by === "wait") {
    const parameters = boundTo(run, { path }, snapshotMap(suspend?.asked));
    return outcomeOfWait(resolved, readAnswer(sealing, request, { name: request?.tool_name ?? "", parameters }));
  }
  const tool = await toolOfStep(host, run.principal, resolved);
  const parameters = boundTo(run, { path }, snapshotMap(resolved.args));
  const read = readAnswer(sealing, request, { name: tool?.name ?? "", parameters });
  if (read.outcome !== "answered" || !tool) return { as: "failed", error: requestMismatch };
  if (read.answer.decision !== "accepted") return { as: "failed", error: approvalRejected(read.answer.reason) };
  if (request?.terms.policy_version !== policyOf(tool)) return { as: "failed", error: approvalOutdated };
  begin(path);
  return undefined;
}

/** The oldest event that fits goes to the step that stands first. */
function takeEvents({ threads }: RunHost, run: LeasedRun, batch: RunBatch): Arrived[] {
  const arrived: Arrived[] = [];
  if (!run.entries.some(({ kind }) => kind === "event")) return arrived;
  const waiting = Object.entries(run.state.open).filter(
    ([, { by, waits_for }]) => by === "wait" && waits_for === "event",
  );
  for (const [path, { attempt }] of waiting.sort(([one], [other]) => comparePaths(one, other))) {
    const wanted = wantedBy(bodyOf(run.working, path).resolved ?? {});
    const found = findEvent(threads.sealing, run, batch.drained, wanted);
    if (!found) continue;
    batch.drained.push(found.seq);
    arrived.push({ path, attempt, outcome: { as: "succeeded", output: found.payload } });
  }
  return arrived;
}

/** Approvals that were not decided in time, and children that took too long. Waits of the machine end there. */
function expired({ threads }: RunHost, run: LeasedRun, inTime: ReadonlySet<string>): Arrived[] {
  const now = threads.now();
  return Object.entries(run.state.open).flatMap(([path, { attempt, by, waits_for, until }]) => {
    if (until === undefined || until > now || inTime.has(path)) return [];
    const isApproval = by === "approval" || waits_for === "approval";
    const error = isApproval ? approvalExpired : tookTooLong(run, path, waits_for);
    return [{ path, attempt, outcome: { as: "failed", error } }];
  });
}

/** The thread of an agent is ended with its step, so that another attempt works alone. A run may still have to undo what it did. */
function tookTooLong(run: LeasedRun, path: string, waitsFor: OpenStep["waits_for"]): JsonMap {
  const mayRepeat = waitsFor === "agent" || isIdempotent(bodyOf(run.working, path).resolved ?? {});
  const { retryable: _, ...error } = timedOut;
  return mayRepeat ? error : timedOut;
}
