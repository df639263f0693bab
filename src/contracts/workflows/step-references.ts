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
    for (const id of referredSteps(step, innerKeys(step))) {
      if (!earlier.has(id)) errors.push(unknownReference(`steps.${index}`, id));
    }
    earlier.add(step.id);
  }
  return errors;
}

export function unknownReference(path: string, id: string): SpecError {
  const message = `It refers to the step "${id}", and none of that id comes before it.`;
  return specError(path, "unknown_step_reference", message);
}

/** Under which keys a step of the contract has steps of its own, which see others than it does itself. */
export function innerKeys({ type }: UnknownMap): readonly string[] {
  if (type === "foreach") return ["steps"];
  return type === "parallel" ? ["steps", "branches"] : [];
}

/** The ids that a step names outside of some of its keys, each as often as it does. */
export function* referredSteps(step: UnknownMap, except: readonly string[]): Generator<string> {
  const waiting = Object.keys(step)
    .filter((key) => !except.includes(key))
    .map((key) => step[key])
    .reverse();
  // A list of what is still to be looked at, because the stack would not hold a value that is nested deep.
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string") for (const [, id = ""] of value.matchAll(REFERENCE)) yield id;
    if (isContainer(value)) for (const item of Object.values(value).reverse()) waiting.push(item);
  }
}
