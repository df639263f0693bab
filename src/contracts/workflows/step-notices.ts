// What a spec carries along that asks for nothing here, though its author may have meant it to.
import type { Json, JsonMap } from "../json.ts";
import { nearestName } from "../nearest-name.ts";
import { isOwnType, ownStepTypes } from "./own-steps.ts";
import { type SpecError, specError } from "./spec-error.ts";
import { onFailureOf, retryOf, timeoutOf, undoOf } from "./step-options.ts";
import type { PlacedStep } from "./step-walk.ts";

/** Keys that every step may have. */
const ofEveryStep: readonly string[] = [
  ...["id", "type", "retry", "timeout", "idempotent", "undo", "concurrency", "continue_on_error"],
];
const ofSpecs: readonly string[] = ["id", "version", "inputs", "steps", "triggers", "meta", "on_failure"];

export function optionNotices(raw: JsonMap, steps: readonly PlacedStep[]): SpecError[] {
  return [...steps.flatMap((placed) => [...noticesOf(placed)]), ...specNotices(raw)];
}

function* noticesOf({ step, path }: PlacedStep): Generator<SpecError> {
  if (step === undefined) return;
  const isContainer = ["foreach", "parallel", "branch"].includes(String(step.type));
  yield* misspelledKeys(step, isOwnType(step.type) ? [...ofEveryStep, ...ownStepTypes[step.type]] : ofEveryStep, path);
  if (isIgnored(step, "retry", retryOf(step))) {
    const shape = "{ max_attempts, backoff, multiplier, max_backoff }, from 2 to 100 attempts";
    yield ignored(path, "retry", `The step is not tried again: a retry is ${shape} and durations.`);
  }
  if (isContainer && isGiven(step.retry) && retryOf(step) !== undefined) {
    yield ignored(path, "retry", "A step with steps inside is not tried again as a whole: ask for it in these.");
  }
  if (isContainer && isGiven(step.timeout) && timeoutOf(step) !== undefined) {
    yield ignored(path, "timeout", "A step with steps inside has no time limit of its own: set one in these.");
  }
  // For a wait it is more than an option, and checked as such.
  if (step.type !== "wait" && isIgnored(step, "timeout", timeoutOf(step))) {
    yield ignored(path, "timeout", "The step has no time limit: a timeout is a duration such as 30s or 1h30m.");
  }
  if (path.endsWith(".undo") && isGiven(step.undo)) {
    yield ignored(path, "undo", "Nothing undoes what undoes a step.");
  } else if (isIgnored(step, "undo", undoOf(step))) {
    yield ignored(path, "undo", "Nothing undoes the step: an undo is a single step with a type.");
  }
  if (isIgnored(step, "concurrency", concurrencyOf(step))) {
    const shape = "a whole number from 1, on a foreach or parallel step";
    yield ignored(path, "concurrency", `How many run at once stays as it is: concurrency is ${shape}.`);
  }
}

function* specNotices(raw: JsonMap): Generator<SpecError> {
  yield* misspelledKeys(raw, ofSpecs, "");
  const { on_failure } = raw;
  const isNothing = !isGiven(on_failure) || (Array.isArray(on_failure) && on_failure.length === 0);
  if (isNothing || onFailureOf({ raw }).length > 0) return;
  yield specError("on_failure", "on_failure_ignored", "Nothing runs after a failure: on_failure is a list of steps.");
}

function* misspelledKeys(map: JsonMap, known: readonly string[], path: string): Generator<SpecError> {
  for (const key of Object.keys(map)) {
    if (known.includes(key)) continue;
    const meant = nearestName(key, known);
    // Keys that are like none of ours belong to whoever wrote them.
    if (meant === undefined || Object.hasOwn(map, meant)) continue;
    yield specError(path === "" ? key : `${path}.${key}`, "unknown_key", `It is not read. Did you mean "${meant}"?`);
  }
}

function concurrencyOf({ type, concurrency }: JsonMap): number | undefined {
  const isMeant = type === "foreach" || type === "parallel";
  return isMeant && typeof concurrency === "number" && Number.isInteger(concurrency) && concurrency > 0
    ? concurrency
    : undefined;
}

function isIgnored(step: JsonMap, key: string, read: unknown): boolean {
  return read === undefined && isGiven(step[key]);
}

function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}

function ignored(path: string, key: string, message: string): SpecError {
  return specError(`${path}.${key}`, `${key}_ignored`, message);
}
