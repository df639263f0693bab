// What a run is started with, checked against what the workflow says that it takes in.
import { errorMessage } from "../../contracts/error.ts";
import { type Json, type JsonMap, snapshot, snapshotMap } from "../../contracts/json.ts";
import { missingInput } from "../../contracts/workflows/missing-input.ts";
import type { KnownWorkflow } from "./known-workflows.ts";

export type CheckedInputs = {
  /** As a schema has accepted them; as they were given where there is none, or it has refused them. */
  readonly inputs: JsonMap;
  /** Why a run cannot begin with them. */
  readonly refused?: JsonMap;
};

export async function checkInputs(workflow: KnownWorkflow, given: JsonMap): Promise<CheckedInputs> {
  const missing = missingInput(workflow.spec, given);
  if (missing) return { inputs: given, refused: missing };
  const { inputs: schema } = workflow;
  if (!schema) return { inputs: given };
  try {
    const checked = await schema.validate(given);
    if (!checked.ok) return { inputs: given, refused: misfit(snapshot(checked.problems)) };
    return { inputs: snapshotMap(checked.value) };
  } catch (thrown) {
    return { inputs: given, refused: misfit([{ path: "", message: errorMessage(thrown) }]) };
  }
}

function misfit(problems: Json): JsonMap {
  const message = "The inputs do not fit the schema of the workflow.";
  return { code: "workflow_inputs_invalid", message, data: { problems } };
}
