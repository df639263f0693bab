// References from a step to the output of another, which has to have run by then.
import { asMap, isContainer, type UnknownMap } from "../json.ts";
import { type SpecError, specError } from "./spec-error.ts";

const REFERENCE = /\$\{[ \t\n\r\v\f]*steps\.([A-Za-z0-9_-]+)\./g;

/** An error for every reference to a step that does not stand earlier in the same list. */
export function referenceErrors(steps: readonly unknown[]): SpecError[] {
  const errors: SpecError[] = [];
  const earlier = new Set<unknown>();
  for (const [index, given] of steps.entries()) {
    const step = asMap(given);
    if (step === undefined) continue;
    for (const id of referredSteps(step)) {
      if (earlier.has(id)) continue;
      const message = `It refers to the step "${id}", and none of that id comes before it.`;
      errors.push(specError(`steps.${index}`, "unknown_step_reference", message));
    }
    earlier.add(step.id);
  }
  return errors;
}

/** The ids that a step names, each as often as it does. Steps inside it see others than it does itself. */
function* referredSteps(step: UnknownMap): Generator<string> {
  const innerLists = step.type === "foreach" ? ["steps"] : step.type === "parallel" ? ["steps", "branches"] : [];
  const waiting = Object.keys(step)
    .filter((key) => !innerLists.includes(key))
    .map((key) => step[key])
    .reverse();
  // A list of what is still to be looked at, because the stack would not hold a value that is nested deep.
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string") for (const [, id = ""] of value.matchAll(REFERENCE)) yield id;
    if (isContainer(value)) for (const item of Object.values(value).reverse()) waiting.push(item);
  }
}
