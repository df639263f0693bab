// The types of steps that we add to those of the contract, and what each of them has to look like.
import { isTruthyText } from "../coerce.ts";
import { parseDuration } from "../gateway/durations.ts";
import { asMap, type Json, type JsonMap } from "../json.ts";
import { type DottedPath, parsePath } from "../predicates/paths.ts";
import { type Predicate, validatePredicate } from "../predicates/predicate.ts";
import { parseRfc3339 } from "../rfc3339.ts";
import { missing, noDuration, notMap, type SpecError, specError } from "./spec-error.ts";
import { unsafeNames } from "./unsafe-names.ts";
import { listErrors } from "./validate.ts";
import { waitErrors } from "./wait-step.ts";

/** The keys of each type besides those that every step may have. */
export const ownStepTypes = {
  branch: ["cases", "else"],
  sleep: ["for", "until"],
  wait: ["event", "match", "payload", "timeout", "approval", "request"],
  workflow: ["workflow", "inputs", "detached"],
  function: ["function", "input"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type OwnType = keyof typeof ownStepTypes;

export function isOwnType(type: unknown): type is OwnType {
  return typeof type === "string" && Object.hasOwn(ownStepTypes, type);
}

/** What is wrong with a step of one of our types, and with the steps inside it. */
export function ownErrors(step: JsonMap, type: OwnType, at: string, types: ReadonlySet<unknown>): Iterable<SpecError> {
  switch (type) {
    case "branch":
      return branchErrors(step, at, types);
    case "sleep":
      return sleepErrors(step, at);
    case "wait":
      return waitErrors(step, at);
    case "workflow":
      return workflowErrors(step, at);
    case "function":
      return isTruthyText(step.function) ? [] : [missing(`${at}.function`, "The name of the function")];
    default:
      return type satisfies never;
  }
}

const predicateRoots: readonly string[] = ["inputs", "steps", "vars"];

/** The `when` of a case; a problem for what cannot be read as one. */
export function readWhen(when: Json): { readonly predicate: Predicate } | { readonly problem: string } {
  const check = validatePredicate(when, predicateRoots);
  if (!check.valid) return { problem: check.problem };
  const problem = [...pathsIn(check.predicate)].map(pathProblem).find((each) => each !== undefined);
  return problem === undefined ? { predicate: check.predicate } : { problem };
}

/** The ids of the steps whose outputs a predicate compares. */
export function stepsInPredicate(predicate: Predicate): string[] {
  const paths = [...pathsIn(predicate)].map((path) => parsePath(path));
  return paths.flatMap((path) => (path?.root === "steps" ? path.keys.slice(0, 1) : []));
}

function* pathsIn(predicate: Predicate): Generator<string> {
  if ("all" in predicate) for (const each of predicate.all) yield* pathsIn(each);
  else if ("any" in predicate) for (const each of predicate.any) yield* pathsIn(each);
  else if ("not" in predicate) yield* pathsIn(predicate.not);
  else yield predicate.path;
}

function pathProblem(path: string): string | undefined {
  const { root, keys = [] }: Partial<DottedPath> = parsePath(path) ?? {};
  const unsafe = keys.find((key) => unsafeNames.includes(key));
  if (unsafe !== undefined) return `A path cannot go through ${unsafe}.`;
  const isOutput = root !== "steps" || keys[1] === "output";
  return isOutput ? undefined : "Of a step only steps.<id>.output can be compared.";
}

function* branchErrors(step: JsonMap, at: string, types: ReadonlySet<unknown>): Generator<SpecError> {
  const { cases } = step;
  if (!isFilledList(cases)) yield missing(`${at}.cases`, "A case");
  else for (const [index, given] of cases.entries()) yield* caseErrors(given, `${at}.cases.${index}`, types);
  if (step.else !== undefined && step.else !== null) yield* insideErrors(step.else, `${at}.else`, types);
}

function* caseErrors(given: Json, at: string, types: ReadonlySet<unknown>): Generator<SpecError> {
  const each = asMap(given) as JsonMap | undefined;
  if (each === undefined) {
    yield notMap(at, "The case");
    return;
  }
  if (each.when === undefined || each.when === null) yield missing(`${at}.when`, "The predicate of the case");
  else {
    const read = readWhen(each.when);
    if ("problem" in read) yield specError(`${at}.when`, "invalid_predicate", read.problem);
  }
  yield* insideErrors(each.steps, `${at}.steps`, types);
}

function insideErrors(steps: Json | undefined, path: string, types: ReadonlySet<unknown>): SpecError[] {
  return isFilledList(steps) ? listErrors(steps, path, types) : [missing(path, "A step")];
}

function* sleepErrors(step: JsonMap, at: string): Generator<SpecError> {
  if (isGiven(step.for) === isGiven(step.until)) {
    yield specError(at, "invalid_sleep_shape", "A sleep step has either for or until.");
    return;
  }
  if (isGiven(step.for)) {
    if (parseDuration(step.for) === undefined) yield noDuration(`${at}.for`);
    return;
  }
  const { until } = step;
  if (isBinding(until) || (typeof until === "string" && parseRfc3339(until) !== undefined)) return;
  const message = "It is no time such as 2030-01-31T09:00:00Z, and no binding that gives one.";
  yield specError(`${at}.until`, "invalid_time", message);
}

function* workflowErrors(step: JsonMap, at: string): Generator<SpecError> {
  if (!isTruthyText(step.workflow)) yield missing(`${at}.workflow`, "The id of the workflow");
  if (isGiven(step.inputs) && asMap(step.inputs) === undefined && !isBinding(step.inputs)) {
    yield notMap(`${at}.inputs`, "What the workflow takes in");
  }
  if (isGiven(step.detached) && typeof step.detached !== "boolean") {
    yield specError(`${at}.detached`, "invalid_type", "It is either true or false.");
  }
}

/** What it comes to shows when the step runs. */
function isBinding(value: Json | undefined): boolean {
  return typeof value === "string" && value.includes("${");
}

function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}

function isFilledList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value) && value.length > 0;
}
