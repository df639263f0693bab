// Which types of steps and triggers a host knows besides those of the contract.
import type { Hooks } from "../hooks.ts";
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
