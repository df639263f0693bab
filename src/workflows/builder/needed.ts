// What steps need of the program, because no spec can hold it: functions, types of steps, and the workflows that they run.
import { nestedWorkflows } from "../../contracts/workflows/check-workflow.ts";
import type { BuiltWorkflow } from "../steps/built-workflow.ts";
import type { StepFunction, StepFunctionDefinition, StepFunctions } from "../steps/step-functions.ts";
import type { StepType } from "../steps/step-type.ts";
import { invalid } from "./place.ts";

export type Needed =
  | { readonly kind: "function"; readonly name: string; readonly work: StepFunction | StepFunctionDefinition }
  | { readonly kind: "step_type"; readonly stepType: StepType }
  | { readonly kind: "workflow"; readonly workflow: BuiltWorkflow };

export type Needs = {
  readonly functions: StepFunctions;
  readonly stepTypes: readonly StepType[];
  readonly workflows: readonly BuiltWorkflow[];
};

/** Each of them once. Throws `invalid_workflow` where a spec could mean either of two. */
export function readNeeds(needs: readonly Needed[]): Needs {
  const functions = new Map<string, StepFunction | StepFunctionDefinition>();
  const stepTypes = new Map<string, StepType>();
  const workflows = new Map<string, BuiltWorkflow>();
  for (const needed of needs) {
    switch (needed.kind) {
      case "function":
        functions.set(needed.name, needed.work);
        break;
      case "step_type":
        addOnce(stepTypes, needed.stepType.type, needed.stepType, "types of steps have the name");
        break;
      case "workflow":
        addOnce(workflows, String(needed.workflow.spec.id), needed.workflow, "workflows that it runs have the id");
        break;
      default:
        needed satisfies never;
    }
  }
  return Object.freeze({
    functions: Object.freeze(Object.fromEntries(functions)),
    stepTypes: Object.freeze([...stepTypes.values()]),
    workflows: Object.freeze([...workflows.values()]),
  });
}

function addOnce<Value>(known: Map<string, Value>, name: string, value: Value, what: string): void {
  const other = known.get(name) ?? value;
  if (other !== value) throw invalid(`two ${what} ${JSON.stringify(name)}`);
  known.set(name, value);
}

/** The ids of the workflows that a workflow runs, as far as it is among those, or is run by one of them. */
export function nestedBy(workflows: readonly BuiltWorkflow[]): (id: string) => readonly string[] {
  const reached = new Set(workflows);
  // A set hands out what is added to it while it is gone through.
  for (const { workflows: inner = [] } of reached) for (const each of inner) reached.add(each);
  const nested = new Map([...reached].map(({ spec }) => [spec.id, nestedWorkflows(spec)]));
  return (id) => nested.get(id) ?? [];
}
