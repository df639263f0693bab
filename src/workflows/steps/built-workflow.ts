// What a workflow of the program consists of: its spec, and what no spec can hold.
import type { JsonMap } from "../../contracts/json.ts";
import type { ReadSchema } from "../../threads/schemas/tool-schema.ts";
import type { StepFunctions } from "./step-functions.ts";
import type { StepType } from "./step-type.ts";

declare const inputs: unique symbol;
declare const output: unique symbol;

export interface BuiltWorkflow<Inputs = unknown, Output = unknown> {
  /** As it would stand in a file; nothing is wrong with it. */
  readonly spec: JsonMap;
  /** The functions that its steps run. */
  readonly functions: StepFunctions;
  /** The types of its steps that are neither the contract's nor ours. */
  readonly stepTypes?: readonly StepType[] | undefined;
  /** The workflows that its steps run, where they are known by more than their ids. */
  readonly workflows?: readonly BuiltWorkflow[] | undefined;
  /** What the inputs of a run are checked with; absent when they may be anything. */
  readonly inputs?: ReadSchema | undefined;
  readonly [inputs]?: Inputs;
  readonly [output]?: Output;
}

/** What a run of a workflow begins with. */
export type InputsOf<Workflow> = Workflow extends BuiltWorkflow<infer Inputs> ? Inputs : unknown;
