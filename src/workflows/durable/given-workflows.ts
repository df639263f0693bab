// The workflows that a program lists, looked at when it starts: a mistake in one of them shows at once, and not at the start of
// a run some day.
import { holdfastError } from "../../contracts/error.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import { checkWorkflow, nestedWorkflows } from "../../contracts/workflows/check-workflow.ts";
import { specHash } from "../../contracts/workflows/spec-hash.ts";
import type { BuiltWorkflow } from "../steps/built-workflow.ts";
import type { StepType } from "../steps/step-type.ts";
import {
  createKnownWorkflows,
  isBuilt,
  type KnownWorkflow,
  type KnownWorkflows,
  knownWorkflows,
} from "./known-workflows.ts";
import { invalidSpec } from "./run-errors.ts";
import type { RunHost } from "./run-host.ts";

type Given = Pick<RunHost, "stepTypes" | "stepHandlers"> & {
  readonly workflows: readonly (BuiltWorkflow | JsonMap)[];
};

/** Throws `workflow_spec_invalid`, also for two that differ and have the same id, and `invalid_argument` for no list. */
export function givenWorkflows({ workflows: given, stepTypes, stepHandlers = {} }: Given): KnownWorkflows {
  if (!isListOfMaps(given)) {
    throw holdfastError("invalid_argument", "workflows must be a list of workflows");
  }
  const parts = given.flatMap(partsOf);
  const specs = new Map<unknown, JsonMap>(parts.map(({ spec }) => [spec.id, spec]));
  for (const { spec, stepTypes: own } of parts) {
    const { errors } = checkWorkflow(spec, {
      stepTypes: [...Object.keys(stepHandlers), ...stepTypes, ...own],
      workflows: (id) => nestedWorkflows(specs.get(id) ?? {}),
    });
    if (errors.length > 0) throw invalidSpec(errors, spec.id);
  }
  const all = knownWorkflows(given);
  const workflows = createKnownWorkflows(all);
  for (const each of all) {
    const other = workflows.find(each.spec.id);
    if (other && !isSame(each, other)) {
      throw holdfastError("workflow_spec_invalid", `Two workflows have the id "${each.spec.id}".`);
    }
  }
  return workflows;
}

/** A configuration may be in JavaScript. */
function isListOfMaps(given: unknown): boolean {
  return Array.isArray(given) && given.every(isMap);
}

type Part = { readonly spec: JsonMap; readonly stepTypes: readonly StepType[] };

function partsOf(given: BuiltWorkflow | JsonMap): readonly Part[] {
  if (!isBuilt(given)) return [{ spec: given, stepTypes: [] }];
  const { spec, stepTypes = [], workflows = [] } = given;
  return [...workflows.flatMap(partsOf), { spec, stepTypes }];
}

/** One that several others run is listed with each of them. */
function isSame(one: KnownWorkflow, other: KnownWorkflow): boolean {
  const isSpec = one.source === "spec" && other.source === "spec";
  return (isSpec || one.functions === other.functions) && specHash(one.spec.raw) === specHash(other.spec.raw);
}
