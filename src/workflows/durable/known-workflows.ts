// The workflows that this process can start, by id.
import { isMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { typedSpec, type WorkflowSpec } from "../../contracts/workflows/spec.ts";
import type { ReadSchema } from "../../threads/schemas/tool-schema.ts";
import type { BuiltWorkflow } from "../steps/built-workflow.ts";
import type { StepFunctions } from "../steps/step-functions.ts";
import type { StepType } from "../steps/step-type.ts";

export type KnownWorkflow = {
  readonly spec: WorkflowSpec;
  /** `program`: functions of the program belong to it. `spec`: it is a spec alone. */
  readonly source: "program" | "spec";
  readonly functions: StepFunctions;
  /** Types of its steps that are neither the contract's nor ours. */
  readonly stepTypes?: readonly StepType[] | undefined;
  /** What the inputs of a run are checked with, beside what the spec itself requires. */
  readonly inputs?: ReadSchema | undefined;
};

export interface KnownWorkflows {
  find(id: string): KnownWorkflow | undefined;
  /** In the order in which they were added. */
  all(): readonly KnownWorkflow[];
  /** Adds a workflow, in the place of one with the same id. */
  add(workflow: KnownWorkflow): void;
  /** False when there was none. */
  remove(id: string): boolean;
}

export function createKnownWorkflows(workflows: readonly KnownWorkflow[] = []): KnownWorkflows {
  const known = new Map(workflows.map((workflow) => [workflow.spec.id, workflow]));
  return {
    find: (id) => known.get(id),
    all: () => [...known.values()],
    add: (workflow) => void known.set(workflow.spec.id, workflow),
    remove: (id) => known.delete(id),
  };
}

/** The workflows of a program or of raw specs in which nothing is wrong, each with those that its steps run. */
export function knownWorkflows(given: readonly (BuiltWorkflow | JsonMap)[]): readonly KnownWorkflow[] {
  return given.flatMap((each) =>
    isBuilt(each) ? [...knownWorkflows(each.workflows ?? []), ofProgram(each)] : [ofSpec(each)],
  );
}

function ofSpec(raw: JsonMap): KnownWorkflow {
  return { spec: typedSpec(snapshotMap(raw)), source: "spec", functions: {} };
}

function ofProgram({ spec, functions, stepTypes, inputs }: BuiltWorkflow): KnownWorkflow {
  return {
    ...{ spec: typedSpec(snapshotMap(spec)), source: "program", functions },
    ...(stepTypes && { stepTypes }),
    ...(inputs && { inputs }),
  };
}

/** Of anything at all: programs without types may pass what is neither. */
export function isBuilt(given: unknown): given is BuiltWorkflow {
  return isMap(given) && isMap(given.spec) && isMap(given.functions);
}
