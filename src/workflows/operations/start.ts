// Starting a workflow: the run acts for the caller who starts it, and where the caller may be.
import { z } from "zod";
import { entryKey } from "../../abilities/caller-identity.ts";
import { defined } from "../../abilities/defined.ts";
import { actingFor } from "../../abilities/open-for.ts";
import type { Operation } from "../../abilities/operation.ts";
import { jsonMap, ownKey } from "../../abilities/shapes.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import { USUAL_WORKSPACE } from "../../memory/memory-subject.ts";
import type { StartOptions } from "../durable/start-run.ts";
import type { WorkflowsRuntime } from "../durable/workflows.ts";
import type { WorkflowDeps } from "./deps.ts";
import { inputs, runShape, shownRun, tags, workflowId } from "./shapes.ts";

type ForCaller = {
  readonly principal: Principal;
  /** The caller's own name of the start. Others who use the same one start something else. */
  readonly key?: string | undefined;
};

/** Throws what `workflows.start` throws. */
export async function startFor(
  { workbench: { runtime, reach }, workflows }: WorkflowDeps,
  workflow: string | JsonMap,
  given: JsonMap,
  { principal, key, ...options }: ForCaller & Omit<StartOptions, "principal" | "workspace" | "key">,
): ReturnType<WorkflowsRuntime["start"]> {
  const { workspace_id } = principal;
  const own = entryKey(principal, key);
  return await workflows.start(workflow, given, {
    ...options,
    principal: await actingFor(runtime, principal, reach.managesRuns),
    ...(workspace_id !== null && { workspace: { ...USUAL_WORKSPACE, workspace_id } }),
    ...(own !== undefined && { key: own }),
  });
}

export function startOperations(deps: WorkflowDeps): readonly Operation[] {
  const { define } = deps.workbench;
  return [
    define({
      name: "holdfast/start-workflow",
      title: "Start a workflow",
      description: "Starts a run of a workflow and answers at once. The same start under the same key is the same run.",
      input: z.object({
        workflow_id: workflowId,
        inputs: inputs.default({}),
        key: ownKey.optional().meta({ description: "Your own name for this start; the Idempotency-Key unless given." }),
        tags: tags.optional(),
        continue_on_error: z
          .boolean()
          .optional()
          .meta({ description: "Steps behind one that failed are carried out all the same." }),
        metadata: jsonMap.optional().meta({ description: "Kept in the record of the run." }),
      }),
      output: runShape.extend({ outcome: z.enum(["started", "repeated"]) }),
      effect: "write",
      capability: "workflows.run",
      doors: ["http", "cli", "mcp"],
      route: { method: "post", path: "/workflows/{workflow_id}/runs", status: 201 },
      async execute({ workflow_id, inputs: given, key, continue_on_error, ...rest }, caller) {
        const run = await startFor(deps, workflow_id, given, {
          ...{ principal: caller.principal, key: key ?? caller.key },
          ...defined({ ...rest, continueOnError: continue_on_error }),
        });
        return { ...shownRun(await run.summary()), outcome: run.outcome };
      },
    }),
  ];
}
