// What operations on workflows are built with.
import type { Workbench } from "../../abilities/reach.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { RunHandle } from "../durable/run-handle.ts";
import type { WorkflowsRuntime } from "../durable/workflows.ts";

export type WorkflowDeps = {
  readonly workbench: Workbench;
  readonly workflows: WorkflowsRuntime;
  /** Throws `workflow_run_not_found` for a run that is not within reach, and to `act` also `workflow_run_acts_with_more`. */
  readonly runFor: (id: string, principal: Principal, need: "read" | "act") => Promise<RunHandle>;
};

export function createDeps(workbench: Workbench, workflows: WorkflowsRuntime): WorkflowDeps {
  return {
    workbench,
    workflows,
    async runFor(id, principal, need) {
      await workbench.reach.run(id, principal, need);
      return await workflows.run(id);
    },
  };
}
