// The operations on workflows themselves as the Agents API names them: run one, check a spec, show one.
import { z } from "zod";
import { lenientInput } from "../../abilities/lenient-input.ts";
import type { Caller, Operation } from "../../abilities/operation.ts";
import { plain } from "../../abilities/plain.ts";
import { anyId, id, jsonMap } from "../../abilities/shapes.ts";
import { identifier, scalarText, truthy } from "../../contracts/coerce.ts";
import { isMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { isOperationError } from "../../contracts/operation-error.ts";
import type { Handler } from "../../contracts/seams.ts";
import { startFor } from "../../workflows/operations/start.ts";
import { runWorkflow } from "../workflows/run-workflow.ts";
import { mayUseWorkflows } from "../workflows/workflow-permission.ts";
import { describeWorkflow } from "../workflows/workflow-specs.ts";
import { type AgentsApiDeps, permits } from "./deps.ts";

const startedShape = z.looseObject({ run_id: z.string(), workflow_id: z.string(), status: z.string() });

export function specOperations(deps: AgentsApiDeps): readonly Operation[] {
  const { workbench, workflows, hooks } = deps;
  const { define } = workbench;
  const mayUse = permits(deps);

  /** Starts a durable run, unless a host runs workflows itself. */
  function starting({ principal, key }: Caller): Handler {
    return async (given) => {
      const { spec, inputs } = given;
      const options = snapshotMap(given.options);
      const run = await startFor(
        deps,
        isMap(spec) ? spec : (scalarText(given.workflow_id) ?? ""),
        snapshotMap(inputs),
        {
          principal,
          // The caller's own id of a run is a name of the start: the same one again is the same run.
          key: key ?? identifier(options.run_id),
          continueOnError: truthy(options.continue_on_error),
          metadata: snapshotMap(options.metadata),
          evidenceRefs: listOfMaps(options.evidence_refs),
          artifacts: listOfMaps(options.artifacts),
          logs: listOfMaps(options.logs),
        },
      );
      const { run_id, workflow_id, status } = await run.summary();
      return { run_id, workflow_id, status };
    };
  }

  return [
    define({
      name: "agents/run-workflow",
      title: "Run a workflow",
      description:
        "Starts a run of a workflow, or of a spec that comes along, and answers at once. A spec that comes along takes the capability workflows.manage.",
      input: lenientInput(
        z.object({
          workflow_id: anyId.nullable().optional(),
          spec: jsonMap.nullable().optional(),
          inputs: jsonMap.default({}),
          options: jsonMap.default({}),
        }),
      ),
      output: startedShape,
      effect: "destroy",
      capability: "workflows.run",
      // The seam may let in who holds nothing.
      orCapability: "workflows.read",
      mayCall: (input, caller) =>
        mayUse("run", snapshotMap(input), caller, [isMap(input.spec) ? "workflows.manage" : "workflows.run"]),
      async execute(input, caller) {
        const answer = await runWorkflow(input, { handler: starting(caller), hooks });
        return isOperationError(answer) ? answer : plain(answer);
      },
    }),

    define({
      name: "agents/validate-workflow",
      title: "Validate a workflow",
      description: "All that keeps a spec from being registered here.",
      input: lenientInput(z.object({ spec: jsonMap })),
      output: z.object({
        valid: z.boolean(),
        errors: z.array(z.object({ path: z.string(), code: z.string(), message: z.string() })),
      }),
      effect: "read",
      capability: "workflows.read",
      mayCall: (input) => mayUseWorkflows("validate", input, { isSignedIn: true, hooks }),
      async execute({ spec }) {
        const { errors } = workflows.check(spec ?? null);
        return plain({ valid: errors.length === 0, errors });
      },
    }),

    define({
      name: "agents/describe-workflow",
      title: "Describe a workflow",
      description: "The spec of a workflow and what it takes in; both are null where there is none of that id.",
      input: lenientInput(z.object({ workflow_id: id })),
      output: z.object({ spec: jsonMap.nullable(), inputs: jsonMap.nullable() }),
      effect: "read",
      capability: "workflows.run",
      orCapability: "workflows.manage",
      execute: async (input) => plain(describeWorkflow(input, workflows)),
    }),
  ];
}

function listOfMaps(value: unknown): readonly JsonMap[] {
  return Array.isArray(value) ? value.filter(isMap).map(snapshotMap) : [];
}
