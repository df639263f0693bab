// Carries out what the machine orders, for a run in memory.

import type { Order, Outcome } from "../machine/next.ts";
import { parentOf, ROOT } from "../machine/path.ts";
import { aggregateBranches } from "./aggregate-branches.ts";
import { fanOut } from "./fan-out.ts";
import { keysOf, stepPerformer } from "./perform-step.ts";
import type { WorkflowHost } from "./workflow-host.ts";

/** Does what was ordered. */
export function performer(host: WorkflowHost, runId: string): (order: Order) => Promise<Outcome> {
  const { hooks } = host;
  const runStep = stepPerformer(host, keysOf(runId), false);
  return async (order) => {
    const { kind, path, step, context } = order;
    if (kind === "run_step") return await runStep(order);
    // No executor carries out branches inside another step: only the steps of the run itself can wait for them.
    const mayBeElsewhere = parentOf(path) === ROOT;
    return await fanOut(step, {
      runId,
      // A gate that answers null lets nothing pass.
      shouldFanOut: () => (hooks ? hooks.apply("workflowShouldFanout", true, step, context()) : true),
      executorOf: () => (mayBeElsewhere && hooks?.apply("workflowStepExecutor", null, step, context())) || null,
      finish: (aggregation) => aggregateBranches(aggregation, keysOf(runId, path), host),
    });
  };
}

/** Whether the host decides how parallel steps of a run are carried out. */
export function asksFanOut({ hooks }: WorkflowHost): boolean {
  return hooks !== undefined && (hooks.has("workflowShouldFanout") || hooks.has("workflowStepExecutor"));
}
