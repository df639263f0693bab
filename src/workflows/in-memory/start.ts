// What a run begins with. A workflow of the program has functions, types of steps and a schema for its inputs, a spec has none.
import { errorMessage } from "../../contracts/error.ts";
import { type Json, type JsonMap, snapshot, snapshotMap } from "../../contracts/json.ts";
import { typedSpec, type WorkflowSpec } from "../../contracts/workflows/spec.ts";
import type { BuiltWorkflow } from "../steps/built-workflow.ts";
import type { WorkflowHost } from "./workflow-host.ts";

type CheckedInputs = {
  /** As a schema has accepted them; as they were given where there is none, or it has refused them. */
  readonly inputs: JsonMap;
  /** Why the run cannot begin with them. */
  readonly wrong?: JsonMap;
};

type Start = CheckedInputs & { readonly spec: WorkflowSpec; readonly host: WorkflowHost };

export async function startOf(
  workflow: WorkflowSpec | BuiltWorkflow,
  given: JsonMap,
  host: WorkflowHost,
): Promise<Start> {
  if (!isBuilt(workflow)) return { spec: workflow, inputs: given, host };
  const spec = typedSpec(snapshotMap(workflow.spec));
  const functions = { ...workflow.functions, ...host.functions };
  const stepTypes = [...(workflow.stepTypes ?? []), ...(host.stepTypes ?? [])];
  return { spec, ...(await checkInputs(workflow, given)), host: { ...host, functions, stepTypes } };
}

function isBuilt(workflow: WorkflowSpec | BuiltWorkflow): workflow is BuiltWorkflow {
  return "spec" in workflow;
}

async function checkInputs({ inputs: schema }: BuiltWorkflow, given: JsonMap): Promise<CheckedInputs> {
  if (!schema) return { inputs: given };
  const checked = await schema.validate(given);
  if (!checked.ok) return { inputs: given, wrong: refusal(snapshot(checked.problems)) };
  try {
    return { inputs: snapshotMap(checked.value) };
  } catch (thrown) {
    return { inputs: given, wrong: refusal([{ path: "", message: errorMessage(thrown) }]) };
  }
}

function refusal(problems: Json): JsonMap {
  const message = "The inputs do not fit the schema of the workflow.";
  return { code: "workflow_inputs_invalid", message, data: { problems } };
}
