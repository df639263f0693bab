// What the request to an agent carries in its context: the same whether it runs inside the gateway or as a process of its own.
import { type AgentHints, hintContext } from "../../../contracts/gateway/agent/agent-hints.ts";
import { pendingSince, readRuns } from "../../../contracts/gateway/agent/agentic-run.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import type { DispatchDeps } from "../deps.ts";
import type { Opened } from "../execute/opened-job.ts";
import type { Snapshot } from "../snapshot.ts";

type HintDeps = Pick<DispatchDeps, "jobs" | "control" | "workspaceRoot">;

/** Keys of the request's context; none for a plugin that is no agent. */
export async function agentHints(
  deps: HintDeps,
  { config }: Snapshot,
  { job, executed }: Opened,
  state: JsonMap,
): Promise<JsonMap> {
  if (!executed.isAgent) return {};
  const hints: AgentHints = { workspaceRoot: deps.workspaceRoot };
  switch (job.command) {
    case "handle": {
      const taken = await deps.jobs.countedJobs(job.root_job_id);
      return hintContext({ ...hints, treeJobsLeft: Math.max(0, config.service.max_tree_jobs - taken) });
    }
    case "poll":
      return hintContext({ ...hints, pausedMs: await pausedTimes(deps, state) });
    default:
      return hintContext(hints);
  }
}

/** Of the running runs that the dispatcher was paused for. */
async function pausedTimes({ control }: HintDeps, state: JsonMap): Promise<ReadonlyMap<string, number>> {
  const waiting = readRuns(state)
    .flatMap(({ id, run }) => (run.status === "running" ? [{ id, since: pendingSince(run).getTime() * 1_000 }] : []))
    .toSorted((one, other) => one.since - other.since);
  const paused = new Map<string, number>();
  for (const { id, since } of waiting) {
    const time = await control.pausedSince(since);
    // Those that have waited for less were not paused for longer.
    if (time === 0) break;
    paused.set(id, time / 1_000);
  }
  return paused;
}
