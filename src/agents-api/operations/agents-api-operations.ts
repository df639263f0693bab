// The operations on workflows under the names of the Agents API, for the one list of operations. They act on the workflows and the
// runs of the runtime, unless a host's handlers keep its own.
import type { Operation } from "../../abilities/operation.ts";
import type { Workbench } from "../../abilities/reach.ts";
import type { RunHost } from "../../workflows/durable/run-host.ts";
import type { WorkflowsRuntime } from "../../workflows/durable/workflows.ts";
import { createDeps } from "../../workflows/operations/deps.ts";
import { runOperations } from "./runs.ts";
import { specOperations } from "./specs.ts";

export function agentsApiOperations(
  workbench: Workbench,
  workflows: WorkflowsRuntime,
  host: RunHost,
): readonly Operation[] {
  const deps = { ...createDeps(workbench, workflows), host, hooks: host.hooks };
  return [...specOperations(deps), ...runOperations(deps)];
}
