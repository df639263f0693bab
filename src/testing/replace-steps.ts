// Workflows whose steps a test replaces: by functions, in the places of those that call something outside, or wait for it.
import { type HoldfastError, holdfastError } from "../contracts/error.ts";
import { type Json, type JsonMap, snapshotMap } from "../contracts/json.ts";
import { checkWorkflow } from "../contracts/workflows/check-workflow.ts";
import type { WorkflowSpec } from "../contracts/workflows/spec.ts";
import type { BuiltWorkflow } from "../workflows/steps/built-workflow.ts";
import type { StepFunctions } from "../workflows/steps/step-functions.ts";
import type { StepFunctionContext } from "../workflows/steps/step-work.ts";
import { asFunction } from "./as-function.ts";
import { eachPlace, rewritten } from "./step-places.ts";

/** What is done in the place of a step. It gets what the step would have been called with. */
// As a method, so that a function may say more exactly what its input is.
export type Replacement = { replace(input: Json, context: StepFunctionContext): unknown }["replace"];

/**
 * The workflow with functions in the place of some of its steps; all else stays as it is. A step is named by the ids that lead to
 * it, as in `each/pack`, a step of a branch with the role too and one of a case with its position or `else`. What undoes a step
 * has `.undo` behind its place; it stays, unless it is replaced itself. Throws `workflow_step_not_found`.
 */
export function replaceSteps<Inputs, Output>(
  workflow: BuiltWorkflow<Inputs, Output>,
  replacements: Readonly<Record<string, Replacement>>,
): BuiltWorkflow<Inputs, Output>;
export function replaceSteps(
  spec: WorkflowSpec | JsonMap,
  replacements: Readonly<Record<string, Replacement>>,
): BuiltWorkflow;
export function replaceSteps(
  given: BuiltWorkflow | WorkflowSpec | JsonMap,
  replacements: Readonly<Record<string, Replacement>>,
): BuiltWorkflow {
  const { spec, functions, ...more } = asBuilt(given);
  const id = String(spec.id);
  const places = [...eachPlace(spec)];
  for (const place of Object.keys(replacements)) checkPlace(place, places, id);
  const replaced = rewritten(spec, (step, place) => {
    return Object.hasOwn(replacements, place) ? asFunction(step, nameOf(id, place)) : step;
  });
  const added = Object.entries(replacements).map(([place, replacement]) => {
    if (typeof replacement !== "function") throw holdfastError("invalid_argument", `${place} must be a function.`);
    return [nameOf(id, place), replacement];
  });
  return Object.freeze({
    ...more,
    spec: snapshotMap(replaced),
    functions: Object.freeze({ ...functions, ...(Object.fromEntries(added) as StepFunctions) }),
  });
}

// No function of the program is called so: one that a host adds would be called in its place.
function nameOf(id: string, place: string): string {
  return `replaced:${id}/${place}`;
}

/** Everything of a workflow but the ways to make a longer one. */
function asBuilt(given: BuiltWorkflow | WorkflowSpec | JsonMap): BuiltWorkflow {
  if (isBuilt(given)) {
    const { spec, functions, stepTypes, workflows, inputs } = given;
    return { spec, functions, stepTypes, workflows, inputs };
  }
  const spec = snapshotMap("raw" in given ? given.raw : given);
  // Types of steps may be the host's.
  const error = checkWorkflow(spec).errors.find(({ code }) => code !== "unknown_step_type");
  if (error) throw holdfastError("invalid_workflow", `${String(spec.id)}, at ${error.path}: ${error.message}`);
  return { spec, functions: {} };
}

function isBuilt(given: BuiltWorkflow | WorkflowSpec | JsonMap): given is BuiltWorkflow {
  return "spec" in given && "functions" in given;
}

function checkPlace(place: string, places: readonly string[], id: string): void {
  const count = places.filter((each) => each === place).length;
  if (count === 1) return;
  if (count > 1) throw notFound(`${id}: ${count} steps stand at ${JSON.stringify(place)}`);
  const shown = places.slice(0, MOST_SHOWN).join(", ");
  throw notFound(`${id}: no step stands at ${JSON.stringify(place)}, only at ${shown}`);
}

const MOST_SHOWN = 50;

function notFound(detail: string): HoldfastError {
  return holdfastError("workflow_step_not_found", detail);
}
