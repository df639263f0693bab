// One claimed job from its claim to its commit: checked, executed, applied. Nothing takes effect before the commit, and the
// commit is all of it or nothing.
import type { ClaimedJob, JobCommit, JobCommitOutcome } from "../../backend/gateway/job-store.ts";
import { HoldfastError } from "../../contracts/error.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { LeaseLost, retryWhileDatabaseDown } from "../../engine/retry-commit.ts";
import type { Execution } from "../plugins/plugin.ts";
import { applyExecution, refused } from "./apply-execution.ts";
import type { DispatchDeps } from "./deps.ts";
import { droppedJob } from "./dropped-job.ts";
import { evaluateSwitch } from "./evaluate-switch.ts";
import type { Applied, Outcome } from "./executed-job.ts";
import { openJob } from "./open-job.ts";
import type { Opened } from "./opened-job.ts";
import { prepareRequest } from "./prepare-request.ts";
import type { Failure } from "./settle.ts";
import type { Snapshot } from "./snapshot.ts";
import { storeCommit } from "./store-commit.ts";
import { traceJob } from "./trace-job.ts";

export type JobControl = {
  /** Aborted when the lease is lost, the job is cancelled or the process shuts down. */
  readonly signal: AbortSignal;
  /** Who asked for the cancellation of the job. */
  readonly cancelledBy: () => string | null;
  /** True once nothing of the job may be committed here any more. */
  readonly isLost: () => boolean;
};

/** Resolves once the job was committed or given up. Throws what was not planned for; the job is then claimed again. */
export async function runJob(
  deps: DispatchDeps,
  snapshot: Snapshot,
  claimed: ClaimedJob,
  control: JobControl,
): Promise<void> {
  const found = await openJob(deps, snapshot, claimed);
  for (;;) {
    const state = await readState(deps, found.job.plugin);
    const opened = state.problem && !found.problem ? { ...found, problem: state.problem } : found;
    const execution = await traceJob(
      opened,
      () => execute(deps, snapshot, opened, state.value, control),
      describeOutcome,
    );
    if (execution === undefined || control.isLost()) return;
    const outcome = await commit(deps, snapshot, opened, { ...execution, state }, control);
    if (outcome === "done") return;
    // An agent's turn was taken with a state that is not the stored one any more: it has to be taken again.
  }
}

function describeOutcome(executed: Executed | undefined) {
  if (!executed) return undefined;
  const { outcome } = executed;
  return outcome.kind === "ok"
    ? { status: "succeeded", reason: null }
    : { status: outcome.failure.outcome, reason: outcome.failure.reason };
}

type StoredState = { readonly value: JsonMap; readonly revision: number; readonly problem?: Failure };
type Executed = { readonly outcome: Outcome; readonly execution: Execution | undefined; readonly startedAt: number };

async function readState({ pluginState, sealed }: DispatchDeps, plugin: string): Promise<StoredState> {
  const stored = await pluginState.get(plugin);
  if (!stored) return { value: {}, revision: 0 };
  const { revision, sealed_state } = stored;
  try {
    return { value: sealed.open("state", plugin, sealed_state), revision };
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    const error = `The state of the plugin ${plugin} cannot be read: ${thrown.message}`;
    return { value: {}, revision, problem: { ...preflightFailure, error } };
  }
}

/** Undefined when it was aborted for another reason than a cancellation. */
async function execute(
  deps: DispatchDeps,
  snapshot: Snapshot,
  opened: Opened,
  state: JsonMap,
  control: JobControl,
): Promise<Executed | undefined> {
  const startedAt = deps.now() * 1_000;
  const failed = (failure: (Outcome & { kind: "failed" })["failure"]): Executed => ({
    ...{ outcome: { kind: "failed", failure }, execution: undefined, startedAt },
  });
  if (control.cancelledBy() !== null) return failed(cancelled(control));
  if (opened.problem) return failed(opened.problem);
  if (opened.isSwitch) return { outcome: evaluateSwitch(snapshot, opened), execution: undefined, startedAt };
  const prepared = await prepareRequest(deps, snapshot, opened, state);
  if ("problem" in prepared) return failed({ ...preflightFailure, error: prepared.problem });
  const { plugin, request, timeoutMs } = prepared;
  await deps.onCrashPoint("before effect plugin");
  const execution = await plugin.run(request, { timeoutMs, signal: control.signal, rootJobId: opened.job.root_job_id });
  await deps.onCrashPoint("after effect plugin");
  if (execution.outcome === "aborted") {
    return control.cancelledBy() === null ? undefined : { ...failed(cancelled(control)), execution };
  }
  for (const entry of logsOf(execution)) deps.log(entry.level, entry.message, opened.job);
  return { outcome: outcomeOf(execution), execution, startedAt };
}

const preflightFailure = { outcome: "failed", reason: "preflight", retryable: false } as const;

function cancelled(control: JobControl) {
  const error = `cancelled by ${control.cancelledBy()}`;
  return { outcome: "cancelled", reason: "cancelled", retryable: false, error } as const;
}

function outcomeOf(execution: Exclude<Execution, { outcome: "aborted" }>): Outcome {
  if (execution.outcome === "succeeded") return { kind: "ok", response: execution.response };
  const { outcome, reason, retryable, error } = execution;
  return { kind: "failed", failure: { outcome, reason, retryable, error } };
}

function logsOf(execution: Exclude<Execution, { outcome: "aborted" }>) {
  if (execution.outcome !== "succeeded") return execution.logs;
  const warnings = execution.warnings.map((message) => ({ level: "warn" as const, message }));
  return [...warnings, ...execution.response.logs];
}

/** Commits until it is known what came of it. `again`: the execution itself has to be repeated. */
async function commit(
  deps: DispatchDeps,
  snapshot: Snapshot,
  opened: Opened,
  executed: Executed & { readonly state: StoredState },
  control: JobControl,
): Promise<"done" | "again"> {
  const { outcome } = executed;
  let { state } = executed;
  const random = deps.random();
  const now = new Date(deps.now()).toISOString();
  const left = new Set<string>();
  let applied = apply(outcome);
  for (;;) {
    const written = storeCommit(deps, snapshot, opened, { ...executed, applied, state, left });
    await deps.onCrashPoint("before commit job");
    const result = await attempt(deps, written, control);
    if (result === undefined) return "done";
    switch (result.outcome) {
      case "committed":
        await deps.onCrashPoint("after commit job");
        for (const warning of applied.warnings) deps.log("warn", warning, opened.job);
        await deps.committed(opened, applied);
        return "done";
      case "lease_lost":
        return "done";
      case "duplicate": {
        const { child_id: id, existing_job_id } = result;
        const dedupe_key = applied.children.find((child) => child.id === id)?.dedupe_key ?? null;
        left.add(id);
        deps.log("info", droppedJob({ id, dedupe_key }, existing_job_id), opened.job);
        break;
      }
      case "state_changed":
        if (opened.executed.isAgent) return "again";
        state = await readState(deps, opened.job.plugin);
        applied = apply(state.problem ? { kind: "failed", failure: state.problem } : outcome);
        break;
      case "tree_too_large": {
        const most = snapshot.config.service.max_tree_jobs;
        const error = `tree_too_large: The tree of job ${opened.job.root_job_id} has ${result.jobs} jobs; ${most} are the most.`;
        applied =
          applied.settlement.status === "succeeded"
            ? apply({ kind: "failed", failure: refused(error) })
            : alone(applied);
        break;
      }
      default:
        throw result satisfies never;
    }
  }

  function apply(of: Outcome): Applied {
    return applyExecution(opened.executed, of, { tables: snapshot.tables, state: state.value, now, random });
  }
}

/** A tree that is full still learns that one of its jobs has failed, and so does its agent. */
function alone(applied: Applied): Applied {
  const children = applied.children.filter(({ is_exempt }) => is_exempt);
  const dropped = new Set(applied.children.filter((child) => !children.includes(child)).map(({ id }) => id));
  const stream = applied.stream.filter(({ data }) => typeof data.job_id !== "string" || !dropped.has(data.job_id));
  return { ...applied, children, contexts: [], stream };
}

/** Undefined when the job was given up while the database was away. */
async function attempt(
  { jobs }: DispatchDeps,
  written: JobCommit,
  control: JobControl,
): Promise<JobCommitOutcome | undefined> {
  try {
    return await retryWhileDatabaseDown(() => jobs.commit(written), control.isLost);
  } catch (thrown) {
    if (thrown instanceof LeaseLost) return undefined;
    throw thrown;
  }
}
