// How runs of workflows stand, in numbers.
import type { WorkflowCount, WorkflowStore } from "../../backend/workflow-store.ts";
import type { RunMetrics } from "../../contracts/workflows/run-metrics.ts";
import { OVERDUE_US } from "./diagnose-runs.ts";

/** Specs may come along with every start: what is watched must not grow with them. */
const MOST_WORKFLOWS = 50;
const OTHERS = "*";

export async function readRunMetrics(
  workflows: Pick<WorkflowStore, "standing" | "byWorkflow">,
  activeHere: number,
): Promise<RunMetrics> {
  const [standing, counts] = await Promise.all([workflows.standing({ for_us: OVERDUE_US }), workflows.byWorkflow()]);
  return {
    workflow_runs: bounded(counts),
    workflow_runs_due: standing.due,
    workflow_runs_overdue: standing.overdue,
    workflow_oldest_due_ms: Math.round((standing.oldest_due_age ?? 0) / 1_000),
    workflow_runs_stuck: standing.stuck,
    workflow_runs_with_problems: standing.problems,
    workflow_unknown_steps: standing.unknown_steps,
    workflow_runs_here: activeHere,
  };
}

/** By workflow, and those with the fewest runs in one. */
function bounded(counts: readonly WorkflowCount[]): RunMetrics["workflow_runs"] {
  const runs = new Map<string, number>();
  for (const each of counts) runs.set(each.workflow_id, (runs.get(each.workflow_id) ?? 0) + each.runs);
  const most = [...runs].sort(([, one], [, other]) => other - one).slice(0, MOST_WORKFLOWS);
  const shown = new Set(most.map(([id]) => id));
  const byName = new Map<string, Record<string, number>>();
  for (const { workflow_id, status, runs: count } of counts) {
    const name = shown.has(workflow_id) ? workflow_id : OTHERS;
    const own = byName.get(name) ?? {};
    own[status] = (own[status] ?? 0) + count;
    byName.set(name, own);
  }
  return Object.fromEntries(byName);
}
