// The code that steps of a run may be carried out with: that of its own workflow, and what the runtime has beside it.
import type { StepFunctions } from "../steps/step-functions.ts";
import type { StepType } from "../steps/step-type.ts";
import type { LeasedRun } from "./leased-run.ts";
import type { RunHost } from "./run-host.ts";

export type StepCode = { readonly functions: StepFunctions; readonly stepTypes: readonly StepType[] };

/** A run goes on under the spec that it began with, and with the code that this process has for its workflow now. */
export function codeOf(host: RunHost, run: Pick<LeasedRun, "body">): StepCode {
  const own = host.workflows.find(run.body.typed.id);
  return {
    functions: { ...host.functions, ...own?.functions },
    stepTypes: [...host.stepTypes, ...(own?.stepTypes ?? [])],
  };
}
