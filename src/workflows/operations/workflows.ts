// The operations on workflows themselves: which there are, what one looks like, and whether a spec could be used here.
import { z } from "zod";
import type { Door, Operation } from "../../abilities/operation.ts";
import { plain } from "../../abilities/plain.ts";
import { jsonMap } from "../../abilities/shapes.ts";
import { holdfastError } from "../../contracts/error.ts";
import { isMap } from "../../contracts/json.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { WorkflowSpec } from "../../contracts/workflows/spec.ts";
import type { WorkflowDeps } from "./deps.ts";
import { workflowId } from "./shapes.ts";

const doors: readonly Door[] = ["http", "cli", "mcp"];

const workflowShape = z.object({
  workflow_id: z.string(),
  version: z.string(),
  title: z.string(),
  description: z.string(),
  inputs: jsonMap.meta({ description: "Name to type, and whether it is required." }),
  source: z.enum(["program", "spec"]).meta({
    description: "program: functions of the program belong to it. spec: it is a spec alone, such as one of a file.",
  }),
  steps: z.int().meta({ description: "How many steps it has of its own." }),
});

const problemShape = z.object({ path: z.string(), code: z.string(), message: z.string() });

export function specOperations({
  workbench: { define, reach, runtime },
  workflows,
}: WorkflowDeps): readonly Operation[] {
  /** A spec may hold what is not for everybody, such as prompts and addresses. */
  async function maySeeSpecs(principal: Principal): Promise<boolean> {
    return (await runtime.authority.allows(principal, "workflows.run")) || (await reach.managesRuns(principal));
  }

  function shown(spec: WorkflowSpec): z.input<typeof workflowShape> {
    const { id: workflow_id, version, inputs, steps, raw } = spec;
    const { title = "", description = "" } = { ...(isMap(spec.meta) ? spec.meta : {}), ...raw };
    return plain({
      ...{ workflow_id, version, inputs, steps: steps.length, source: workflows.about(workflow_id)?.source ?? "spec" },
      title: typeof title === "string" ? title : "",
      description: typeof description === "string" ? description : "",
    });
  }

  return [
    define({
      name: "holdfast/list-workflows",
      title: "List workflows",
      description: "The workflows that can be started here by their ids, and what they take in.",
      input: z.object({}),
      output: z.object({ workflows: z.array(workflowShape) }),
      effect: "read",
      capability: "workflows.read",
      doors,
      route: { method: "get", path: "/workflows" },
      execute: async () => ({ workflows: workflows.list().map(shown) }),
    }),

    define({
      name: "holdfast/get-workflow",
      title: "Look at a workflow",
      description: "One workflow, with its spec for those who may start it.",
      input: z.object({ workflow_id: workflowId }),
      output: workflowShape.extend({
        input_schema: jsonMap.nullable().meta({ description: "JSON Schema of the inputs, where the program has one." }),
        spec: jsonMap
          .nullable()
          .meta({ description: "Null without the capability workflows.run or workflows.manage." }),
      }),
      effect: "read",
      capability: "workflows.read",
      doors,
      route: { method: "get", path: "/workflows/{workflow_id}" },
      async execute({ workflow_id }, { principal }) {
        const spec = workflows.find(workflow_id);
        if (!spec) throw holdfastError("workflow_not_found", `There is no workflow "${workflow_id}".`);
        const { input_schema = null } = workflows.about(workflow_id) ?? {};
        const raw = (await maySeeSpecs(principal)) ? spec.raw : null;
        return plain({ ...shown(spec), input_schema, spec: raw });
      },
    }),

    define({
      name: "holdfast/check-workflow",
      title: "Check a workflow",
      description: "Tells what keeps a spec from being used here, and what its author may have meant otherwise.",
      input: z.object({ spec: jsonMap }),
      output: z.object({
        valid: z.boolean(),
        errors: z.array(problemShape),
        notices: z.array(problemShape),
      }),
      effect: "read",
      capability: "workflows.read",
      doors,
      route: { method: "post", path: "/workflows/check" },
      async execute({ spec }) {
        const { errors, notices } = workflows.check(spec);
        return plain({ valid: errors.length === 0, errors, notices });
      },
    }),
  ];
}
