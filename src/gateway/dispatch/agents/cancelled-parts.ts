// What the cancellation of a job causes that no worker ends: its agent hears of it, and pipelines that listen for failures.
import type { CancelParts } from "../../../backend/gateway/job-store.ts";
import { hasEnded } from "../../../contracts/gateway/job.ts";
import { applyExecution } from "../commit/apply-execution.ts";
import { storedRows, storeParts } from "../commit/store-commit.ts";
import type { DispatchDeps } from "../deps.ts";
import { openJob } from "../execute/open-job.ts";
import type { Snapshot } from "../snapshot.ts";

/**
 * Nothing for a job that has ended. Also for one that runs: its worker may put it back for a retry before it is asked to end
 * it. The store adds the parts only where it ends the job itself.
 */
export async function cancelledParts(
  deps: DispatchDeps,
  snapshot: Snapshot,
  id: string,
  by: string,
): Promise<CancelParts> {
  const job = await deps.jobs.get(id);
  if (!job || hasEnded(job.status)) return {};
  const sealed_context = job.context_id === null ? null : ((await deps.jobs.context(job.context_id)) ?? null);
  const opened = await openJob(deps, snapshot, { ...job, epoch: 0, sealed_context });
  const failure = { outcome: "cancelled", reason: "cancelled", retryable: false, error: `cancelled by ${by}` } as const;
  const now = new Date(deps.now()).toISOString();
  const options = { tables: snapshot.tables, state: {}, now, random: 0 };
  const applied = applyExecution(opened.executed, { kind: "failed", failure }, options);
  const { contexts, children, stream } = storeParts(deps, storedRows(deps, snapshot), job, applied);
  return { contexts, children, stream };
}
