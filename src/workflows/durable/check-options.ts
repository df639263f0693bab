import { type CheckOptions, nestedWorkflows } from "../../contracts/workflows/check-workflow.ts";
import type { StepType } from "../steps/step-type.ts";
import type { RunHost } from "./run-host.ts";

/** What a spec is checked with here: types of steps beside the contract's and ours, and workflows that it may run. */
export function checkOptions(host: RunHost, more: readonly StepType[] = []): CheckOptions {
  return {
    stepTypes: [...Object.keys(host.stepHandlers ?? {}), ...host.stepTypes, ...more],
    workflows: (id) => {
      const known = host.workflows.find(id);
      return known ? nestedWorkflows(known.spec.raw) : [];
    },
  };
}
