// One claimed job from its claim to its commit: opened, executed, committed.
import type { ClaimedJob } from "../../../backend/gateway/job-store.ts";
import { commitExecution } from "../commit/commit-execution.ts";
import type { DispatchDeps } from "../deps.ts";
import type { Snapshot } from "../snapshot.ts";
import { type Executed, executeJob } from "./execute-job.ts";
import type { JobControl } from "./job-control.ts";
import { openJob } from "./open-job.ts";
import { readState } from "./stored-state.ts";
import { traceJob } from "./trace-job.ts";

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
      () => executeJob(deps, snapshot, opened, state.value, control),
      describeOutcome,
    );
    if (control.isLost()) return;
    if (execution === undefined) return giveBack(deps, found.job);
    const outcome = await commitExecution(deps, snapshot, opened, { ...execution, state }, control);
    if (outcome === "done") return;
    // An agent's turn was taken with a state that is not the stored one any more: it has to be taken again.
  }
}

/** Its lease was about to run out. That costs no attempt: what went wrong is not the plugin's fault. */
function giveBack({ jobs, log }: DispatchDeps, job: ClaimedJob): void {
  log("warn", "no renewal of the lease was answered: the plugin was ended, and the job begins anew", job);
  // Nothing waits for this. If the database is away for longer the lease runs out in it too; if another worker has the job by
  // then, nothing is changed.
  void jobs.putBack(job).catch(() => undefined);
}

function describeOutcome(executed: Executed | undefined) {
  if (!executed) return undefined;
  const { outcome } = executed;
  return outcome.kind === "ok"
    ? { status: "succeeded", reason: null }
    : { status: outcome.failure.outcome, reason: outcome.failure.reason };
}
