// Every operation on workflows and their runs, for the one list of operations.
import type { Operation } from "../../abilities/operation.ts";
import type { Workbench } from "../../abilities/reach.ts";
import type { WorkflowsRuntime } from "../durable/workflows.ts";
import { awaitOperations } from "./await.ts";
import { createDeps } from "./deps.ts";
import { eventOperations } from "./events.ts";
import { manyOperations } from "./many.ts";
import { runOperations } from "./runs.ts";
import { startOperations } from "./start.ts";
import { steerOperations } from "./steer.ts";
import { specOperations } from "./workflows.ts";

export function workflowOperations(workbench: Workbench, workflows: WorkflowsRuntime): readonly Operation[] {
  const deps = createDeps(workbench, workflows);
  return [
    specOperations,
    startOperations,
    // Before those on one run: "cancel" and "retry" stand where a run has its id.
    manyOperations,
    runOperations,
    awaitOperations,
    eventOperations,
    steerOperations,
  ].flatMap((operations) => operations(deps));
}
