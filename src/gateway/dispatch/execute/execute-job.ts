// Runs the command of a job that was opened: nothing takes effect here.
import type { ClaimedJob } from "../../../backend/gateway/job-store.ts";
import { errorMessage } from "../../../contracts/error.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import type { Execution } from "../../plugins/plugin.ts";
import { storeEntry } from "../commit/store-commit.ts";
import type { DispatchDeps } from "../deps.ts";
import type { Snapshot } from "../snapshot.ts";
import { evaluateSwitch } from "./evaluate-switch.ts";
import type { Outcome } from "./executed-job.ts";
import type { JobControl } from "./job-control.ts";
import type { Opened } from "./opened-job.ts";
import { prepareRequest } from "./prepare-request.ts";
import { type Failure, preflightFailure } from "./settle.ts";

export type Executed = {
  readonly outcome: Outcome;
  readonly execution: Execution | undefined;
  readonly startedAt: number;
};

/** Undefined when it was aborted for another reason than a cancellation: its lease is lost, or may be. */
export async function executeJob(
  deps: DispatchDeps,
  snapshot: Snapshot,
  opened: Opened,
  state: JsonMap,
  control: JobControl,
): Promise<Executed | undefined> {
  const startedAt = deps.now() * 1_000;
  const failed = (failure: Failure): Executed => ({
    ...{ outcome: { kind: "failed", failure }, execution: undefined, startedAt },
  });
  if (control.cancelledBy() !== null) return failed(cancelled(control));
  if (opened.problem) return failed(opened.problem);
  if (opened.isSwitch) return { outcome: evaluateSwitch(snapshot, opened), execution: undefined, startedAt };
  const prepared = await prepareRequest(deps, snapshot, opened, state);
  if ("problem" in prepared) return failed(preflightFailure(prepared.problem));
  const { plugin, request, timeoutMs } = prepared;
  await deps.onCrashPoint("before effect plugin");
  let spawned: Promise<void> | undefined;
  const execution = await plugin.run(request, {
    ...{ timeoutMs, signal: control.signal, checkLease: control.checkLease, rootJobId: opened.job.root_job_id },
    onSpawned: () => {
      spawned = sayIsSpawned(deps, opened.job);
    },
  });
  // Before what the commit says of the job; the process was not kept waiting for it.
  await spawned;
  await deps.onCrashPoint("after effect plugin");
  if (execution.outcome === "aborted") {
    return control.cancelledBy() === null ? undefined : { ...failed(cancelled(control)), execution };
  }
  for (const entry of logsOf(execution)) deps.log(entry.level, entry.message, opened.job);
  return { outcome: outcomeOf(execution), execution, startedAt };
}

/** Adds an entry for every process; a failure to add it is logged and ends no job. */
async function sayIsSpawned(deps: DispatchDeps, job: ClaimedJob): Promise<void> {
  const { events, redact, log, announce, onCrashPoint } = deps;
  const { id, plugin, command, attempt } = job;
  try {
    const data = { job_id: id, plugin, command, attempt };
    await events.append([storeEntry({ type: "plugin.spawned", data }, id, redact)]);
    await onCrashPoint("after commit event");
    announce();
  } catch (thrown) {
    log("warn", `the event stream does not know that the process was started: ${errorMessage(thrown)}`, job);
  }
}

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
