// What still runs, or waits to run, for an agent run that was cancelled is cancelled with it.
import type { ListedJob } from "../../../backend/gateway/job-store.ts";
import { readRun, storedRuns } from "../../../contracts/gateway/agent/agentic-run.ts";
import { readCorrelation } from "../../../contracts/gateway/agent/correlation.ts";
import type { DispatchDeps } from "../deps.ts";
import type { Applied } from "../execute/executed-job.ts";
import type { Opened } from "../execute/opened-job.ts";
import type { Snapshot } from "../snapshot.ts";
import { cancelledParts } from "./cancelled-parts.ts";

export type CancelledRun = {
  readonly run_id: string;
  readonly agent: string;
  /** The job that started the run. */
  readonly job_id: string | null;
};

/**
 * Cancels the jobs that a run waits for, and resolves with how many there were. The agent's own turns end by themselves, and
 * other runs of the tree go on.
 */
export async function cancelTools(
  deps: DispatchDeps,
  snapshot: Snapshot,
  run: CancelledRun,
  by: string,
): Promise<number> {
  const found = await toolJobs(deps, run);
  for (const { id } of found) await deps.jobs.cancel(id, by, await cancelledParts(deps, snapshot, id, by));
  return found.length;
}

/** The turn that was under way when a run was cancelled may have requested another tool. */
export async function runCancelled(
  deps: DispatchDeps,
  snapshot: Snapshot,
  { job, payload, executed }: Opened,
  { state }: Applied,
): Promise<void> {
  const { run_id, by } = payload;
  if (!executed.isAgent || job.command !== "cancel" || !state || typeof run_id !== "string") return;
  const runs = storedRuns(state.value);
  const run = Object.hasOwn(runs, run_id) ? readRun(runs[run_id]) : undefined;
  if (!run) return;
  const cancelled = { run_id, agent: job.plugin, job_id: startJobId(run.workspace_ref) };
  await cancelTools(deps, snapshot, cancelled, typeof by === "string" ? by : `job ${job.id}`);
}

/** The job that started the run with this workspace. */
export function startJobId(workspaceRef: string): string | null {
  return workspaceRef.startsWith("job:") ? workspaceRef.slice("job:".length) : null;
}

async function toolJobs(deps: DispatchDeps, { run_id, agent, job_id }: CancelledRun): Promise<readonly ListedJob[]> {
  const start = job_id === null ? undefined : await deps.jobs.get(job_id);
  // Agents of other makers need not store which job has started a run.
  const jobs = start ? await deps.jobs.tree(start.root_job_id) : await openJobs(deps);
  const found: ListedJob[] = [];
  for (const job of jobs) {
    if (job.plugin !== agent && isOpen(job) && (await isOfRun(deps, job, run_id))) found.push(job);
  }
  return found;
}

function isOpen({ status }: ListedJob): boolean {
  return status === "queued" || status === "running";
}

const PAGE = 500;

async function openJobs({ jobs }: DispatchDeps): Promise<readonly ListedJob[]> {
  const found: ListedJob[] = [];
  for (let last: ListedJob | undefined; ; ) {
    const page = await jobs.list({ statuses: ["queued", "running"], limit: PAGE, ...(last && { after: last }) });
    found.push(...page);
    last = page.at(-1);
    if (page.length < PAGE) return found;
  }
}

async function isOfRun({ jobs, sealed }: DispatchDeps, { context_id }: ListedJob, runId: string): Promise<boolean> {
  const text = context_id === null ? undefined : await jobs.context(context_id);
  if (context_id === null || text === undefined) return false;
  return readCorrelation(sealed.open("context", context_id, text))?.run_id === runId;
}
