// A pipeline that a caller has named. A synchronous one is waited for, up to a limit of callers and of time; the work goes on
// whether or not the caller still waits.
import type { ListedJob } from "../../../backend/gateway/job-store.ts";
import { holdfastError } from "../../../contracts/error.ts";
import { SWITCH_PLUGIN } from "../../../contracts/gateway/job.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import type { Gateway, JobView, PipelineResult, Submitter } from "../../gateway.ts";
import type { Changes } from "../changes.ts";
import type { DispatchDeps } from "../deps.ts";
import { readMap, viewDetails } from "../job-views.ts";
import type { Snapshot } from "../snapshot.ts";
import { submitPipeline } from "./submit.ts";
import { waitForTree } from "./wait-for-tree.ts";

export type PipelineDeps = {
  readonly deps: DispatchDeps;
  readonly snapshot: Snapshot;
  readonly changes: Changes;
  readonly waiting: WaitingCallers;
  readonly submitted: <Result>(result: Result) => Result;
  readonly view: (job: ListedJob) => Promise<JobView>;
};

/** How many callers wait in this process. */
export type WaitingCallers = { count: number };

type Input = Parameters<Gateway["runPipeline"]>[1];

export async function runPipeline(
  { deps, snapshot, changes, waiting, submitted, view }: PipelineDeps,
  name: string,
  { payload, dedupe_key, isAsync = false, timeoutMs }: Input,
  { by, signal }: { readonly by: Submitter; readonly signal?: AbortSignal },
): Promise<PipelineResult> {
  const pipeline = snapshot.graph.pipelines.get(name);
  if (!pipeline) throw holdfastError("pipeline_not_found", `There is no pipeline "${name}".`);
  const waits = pipeline.execution_mode === "synchronous" && !isAsync;
  const { max_concurrent_sync, max_sync_timeout_ms } = snapshot.config.api;
  if (waits && waiting.count >= max_concurrent_sync) {
    throw holdfastError("gateway_busy", `${waiting.count} callers wait for synchronous pipelines.`);
  }
  const input = { payload, ...(dedupe_key !== undefined && { dedupe_key }) };
  if (!waits) {
    const queued = submitted(await submitPipeline(deps, snapshot, pipeline, input, { by, isSingle: false }));
    return { outcome: "queued", job_ids: queued.job_ids };
  }
  waiting.count++;
  try {
    const started = deps.now();
    const queued = submitted(await submitPipeline(deps, snapshot, pipeline, input, { by, isSingle: true }));
    const [jobId] = queued.job_ids;
    if (jobId === undefined) return { outcome: "queued", job_ids: [] };
    const patience = AbortSignal.timeout(Math.min(timeoutMs ?? pipeline.timeout_ms, max_sync_timeout_ms));
    const until = signal ? AbortSignal.any([patience, signal]) : patience;
    if (!(await waitForTree({ jobs: deps.jobs, changes }, jobId, until))) {
      return { outcome: "timeout_exceeded", job_id: jobId };
    }
    return await ended(deps, jobId, started, view);
  } finally {
    waiting.count--;
  }
}

async function ended(
  deps: DispatchDeps,
  jobId: string,
  started: number,
  view: (job: ListedJob) => Promise<JobView>,
): Promise<PipelineResult> {
  const tree = await deps.jobs.tree(jobId);
  const views = await Promise.all(tree.map(view));
  const last = lastOf(tree.filter(({ plugin }) => plugin !== SWITCH_PLUGIN));
  const hasFailed = tree.some(({ status }) => status === "failed" || status === "timed_out" || status === "dead");
  return {
    outcome: "ended",
    job_id: jobId,
    status: hasFailed ? "failed" : "succeeded",
    result: last ? await responseOf(deps, last.id) : null,
    duration_ms: Math.max(0, Math.round(deps.now() - started)),
    tree: views,
  };
}

/** The job that ended last; of several, the one that was queued last. */
function lastOf(jobs: readonly ListedJob[]): ListedJob | undefined {
  return jobs.toSorted((one, other) => (one.completed_at ?? 0) - (other.completed_at ?? 0)).at(-1);
}

/** The last response of a job as it was printed. */
async function responseOf(deps: DispatchDeps, jobId: string): Promise<JsonMap | null> {
  const { attempts } = await viewDetails(deps, jobId);
  const response = attempts.at(-1)?.response ?? null;
  return response === null ? null : readMap(response);
}
