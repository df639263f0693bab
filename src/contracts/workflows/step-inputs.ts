// Inputs that stand in a spec as they will be in a run, held against what the type of the step asks for.
import type { JsonMap } from "../json.ts";
import type { CheckedStepType } from "./known-types.ts";
import { type SpecError, specError } from "./spec-error.ts";

/** What is wrong with the input of a step. One with a binding in it is looked at when the step runs. */
export function inputErrors({ input = {} }: JsonMap, { inputProblems }: CheckedStepType, at: string): SpecError[] {
  if (JSON.stringify(input).includes("${")) return [];
  return inputProblems(input).map(({ path, message }) => {
    return specError(`${at}.input${dotted(path)}`, "invalid_step_input", message);
  });
}

/** `lines[0].cents` as a spec writes it: `.lines.0.cents`. */
function dotted(path: string): string {
  const keys = path.replaceAll(/\[(\d+)\]/g, ".$1");
  return keys === "" || keys.startsWith(".") ? keys : `.${keys}`;
}
