// Registering workflows, and who runs them, under the names of the Agents API. What is registered stands in the registry of a runtime:
// a process may have several.
import type { Hooks } from "../../contracts/hooks.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { type OperationError, operationError } from "../../contracts/operation-error.ts";
import type { Handler } from "../../contracts/seams.ts";
import type { WorkflowSpec } from "../../contracts/workflows/spec.ts";
import type { WorkflowsRuntime } from "../../workflows/durable/workflows.ts";

/** A runtime, or as much of one as has workflows. */
type WithWorkflows = { readonly workflows: Pick<WorkflowsRuntime, "check" | "register" | "find"> };

/** Adds a workflow, in the place of one with the same id; refuses with `workflow_spec_invalid` and all that is wrong. */
export function registerWorkflow({ workflows }: WithWorkflows, spec: JsonMap): WorkflowSpec | OperationError {
  const { errors } = workflows.check(spec);
  const [first] = errors;
  if (first === undefined) return workflows.register(spec);
  const place = first.path === "" ? "" : ` at ${first.path}`;
  return operationError("workflow_spec_invalid", `The workflow spec is invalid${place}: ${first.message}`, {
    errors: errors.map((each) => ({ ...each })),
    ...{ path: first.path, code: first.code },
  });
}

/** The workflow of that id; null where there is none. */
export function getWorkflow({ workflows }: WithWorkflows, workflowId: string): WorkflowSpec | null {
  return workflows.find(workflowId) ?? null;
}

/**
 * Has a function of the host run workflows in the place of the runtime: what `agents/run-workflow` asks. `hooks` are those that the
 * runtime was given. The function that is returned takes it back.
 */
export function registerWorkflowHandler(hooks: Hooks, handler: Handler): () => void {
  return hooks.filter("workflowHandler", () => handler);
}
