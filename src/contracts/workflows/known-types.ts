// Which types of steps and triggers a host knows besides those of the contract.
import type { Hooks } from "../hooks.ts";
import { isMap, type Json } from "../json.ts";
import { type KnownTypes, stepTypes } from "./validate.ts";
import { triggerTypes } from "./validate-triggers.ts";

/** What knows them: the list of the installation, and whoever has a say about it. */
export type KnownTypesHost = KnownTypes & { readonly hooks?: Hooks | undefined };

/** All that can be used here. A filter may add to them; those of the contract stay known whatever it answers. */
export async function knownTypes({
  hooks,
  knownStepTypes = [],
  knownTriggerTypes = [],
}: KnownTypesHost): Promise<KnownTypes> {
  return {
    knownStepTypes: (await hooks?.apply("workflowKnownStepTypes", [...stepTypes, ...knownStepTypes])) ?? knownStepTypes,
    knownTriggerTypes:
      (await hooks?.apply("workflowKnownTriggerTypes", [...triggerTypes, ...knownTriggerTypes])) ?? knownTriggerTypes,
  };
}

/** A type of step of a program that knows what its input has to look like. */
export type CheckedStepType = {
  readonly type: string;
  /** What is wrong with an input in which nothing is left to be bound, as far as it can be said at once. */
  readonly inputProblems: (input: Json) => readonly { readonly path: string; readonly message: string }[];
};

export function isCheckedStepType(given: unknown): given is CheckedStepType {
  return isMap(given) && typeof given.type === "string" && typeof given.inputProblems === "function";
}
