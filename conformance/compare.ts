// How an answer is judged against a golden case; the rules are those of vectors/README.md.
import { isMap, type UnknownMap } from "../src/contracts/json.ts";
import { isOperationError } from "../src/contracts/operation-error.ts";

/** One case of a vector file: what goes in, and either the answer or the error that must come out. */
export type Case = {
  name: string;
  input: unknown;
  expect?: unknown;
  expect_error?: { contains: string };
  quirk?: string;
};

export type Outcome = { value: unknown } | { thrown: unknown };

export type Difference = { path: string; expected: unknown; actual: unknown };

/** What is wrong with an outcome, in a line; undefined when the case is satisfied. */
export function judge(vector: Case, outcome: Outcome): string | undefined {
  if (vector.expect_error) return judgeError(vector.expect_error.contains, outcome);
  if ("thrown" in outcome) return `expected a value, but it threw ${words(outcome.thrown)}`;
  const found = difference(vector.expect, outcome.value);
  return found && `${found.path || "the value"}: expected ${shown(found.expected)}, got ${shown(found.actual)}`;
}

/** Where an answer first differs from what is expected; undefined when it does not. */
export function difference(expected: unknown, actual: unknown, path = ""): Difference | undefined {
  if (expected === "<any>") return actual === undefined ? { path, expected, actual } : undefined;
  if (isNothing(expected) && isNothing(actual)) return undefined;
  if (isEmpty(expected) && isEmpty(actual)) return undefined;
  if (Array.isArray(expected) && Array.isArray(actual)) return listDifference(expected, actual, path);
  if (isMap(expected) && isMap(actual)) return mapDifference(expected, actual, path);
  return expected === actual ? undefined : { path, expected, actual };
}

function listDifference(expected: unknown[], actual: unknown[], path: string): Difference | undefined {
  const shared = Math.min(expected.length, actual.length);
  for (let index = 0; index < shared; index++) {
    const found = difference(expected[index], actual[index], `${path}[${index}]`);
    if (found) return found;
  }
  if (expected.length === actual.length) return undefined;
  return { path: `${path}[${shared}]`, expected: expected[shared], actual: actual[shared] };
}

function mapDifference(expected: UnknownMap, actual: UnknownMap, path: string): Difference | undefined {
  for (const key of Object.keys(expected)) {
    const found = difference(expected[key], Object.hasOwn(actual, key) ? actual[key] : undefined, inside(path, key));
    if (found) return found;
  }
  for (const key of Object.keys(actual)) {
    const extra = actual[key];
    if (Object.hasOwn(expected, key) || isNothing(extra) || isEmpty(extra)) continue;
    return { path: inside(path, key), expected: undefined, actual: extra };
  }
  return undefined;
}

// Some operations answer with an error instead of throwing it: both are errors to the caller.
function judgeError(contains: string, outcome: Outcome): string | undefined {
  const error = "thrown" in outcome ? outcome.thrown : outcome.value;
  if (!("thrown" in outcome) && !isOperationError(error)) {
    return `expected an error with ${shown(contains)}, got the value ${shown(error)}`;
  }
  if (words(error).includes(contains)) return undefined;
  return `expected an error with ${shown(contains)}, got ${words(error)}`;
}

function words(error: unknown): string {
  if (!isMap(error)) return String(error);
  const label = String(error.code ?? error.name);
  const text = String(error.message);
  return text.startsWith(label) ? text : `${label}: ${text}`;
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined;
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) && Object.values(value).every((item) => item === undefined);
}

function inside(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
