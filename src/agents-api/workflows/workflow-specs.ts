// Whether a workflow could be used here, and what one that is known looks like.
import { asMap } from "../../contracts/json.ts";
import { isOperationError } from "../../contracts/operation-error.ts";
import { type KnownTypesHost, knownTypes } from "../../contracts/workflows/known-types.ts";
import { describe, type WorkflowDescription, type Workflows } from "../../contracts/workflows/registry.ts";
import { normalize } from "../../contracts/workflows/spec.ts";

/** All that is wrong with the `spec` in the input, as it would be refused when it is registered. */
export async function validateWorkflow(input: unknown, host: KnownTypesHost) {
  const spec = normalize(asMap(input)?.spec, await knownTypes(host));
  return isOperationError(spec) ? { valid: false, errors: spec.data?.errors ?? [] } : { valid: true, errors: [] };
}

/** The workflow with the `workflow_id` in the input. */
export function describeWorkflow(input: unknown, workflows: Pick<Workflows, "find">): WorkflowDescription {
  return describe(asMap(input)?.workflow_id, workflows);
}
