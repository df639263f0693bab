// Predicates over dotted paths: the `if` of pipelines, the `when` of workflows.
import { RE2JS } from "re2js";
import { errorMessage, holdfastError } from "../error.ts";
import { jsonEqual } from "../gateway/json-equal.ts";
import { isMap, type Json, type UnknownMap } from "../json.ts";
import { lookUp, type PathScope, parsePath } from "./paths.ts";

export type Predicate =
  | { readonly path: string; readonly op: PredicateOp; readonly value?: Json }
  | { readonly all: readonly Predicate[] }
  | { readonly any: readonly Predicate[] }
  | { readonly not: Predicate };

const predicateOps = [
  ...(["exists", "eq", "neq", "in", "gt", "gte", "lt", "lte"] as const),
  ...(["contains", "startswith", "endswith", "regex"] as const),
] as const;
export type PredicateOp = (typeof predicateOps)[number];

/** Levels of a predicate, the innermost comparison included. */
const MAX_PREDICATE_LEVELS = 3;
/** Comparisons in one predicate. */
export const MAX_PREDICATES = 20;
/** Characters of a regular expression. */
const MAX_REGEX_LENGTH = 1000;
/** Instructions of a compiled one: repetitions such as `x{1000}` multiply. */
const MAX_REGEX_SIZE = 10_000;

type Comparison = Extract<Predicate, { readonly op: PredicateOp }>;

export type PredicateCheck =
  | { readonly valid: true; readonly predicate: Predicate }
  | { readonly valid: false; readonly problem: string };

/** Checks a predicate as it was written, regular expressions included. Its paths begin with one of the roots. */
export function validatePredicate(value: unknown, roots: readonly string[]): PredicateCheck {
  const count = { comparisons: 0 };
  const problem = findProblem(value, roots, 1, count);
  if (problem !== undefined) return { valid: false, problem };
  return { valid: true, predicate: value as Predicate };
}

/**
 * True when the predicate holds. A missing path compares as null. Throws `invalid_predicate` where types clash: text
 * compared as a number, anything else as text.
 */
export function evaluatePredicate(predicate: Predicate, scope: PathScope): boolean {
  if ("all" in predicate) return predicate.all.every((each) => evaluatePredicate(each, scope));
  if ("any" in predicate) return predicate.any.some((each) => evaluatePredicate(each, scope));
  if ("not" in predicate) return !evaluatePredicate(predicate.not, scope);
  return compare(predicate, scope);
}

function compare(comparison: Comparison, scope: PathScope): boolean {
  const { path, op } = comparison;
  const parsed = parsePath(path);
  if (parsed === undefined) throw invalid(`${JSON.stringify(path)} is no path`);
  const lookup = lookUp(scope, parsed);
  const actual = lookup.found ? lookup.value : null;
  const expected = comparison.value ?? null;
  switch (op) {
    case "exists":
      return lookup.found;
    case "eq":
      return jsonEqual(actual, expected);
    case "neq":
      return !jsonEqual(actual, expected);
    case "in":
      return listOf(expected, path, op).some((each) => jsonEqual(actual, each));
    case "gt":
      return number(actual, path, op) > number(expected, "value", op);
    case "gte":
      return number(actual, path, op) >= number(expected, "value", op);
    case "lt":
      return number(actual, path, op) < number(expected, "value", op);
    case "lte":
      return number(actual, path, op) <= number(expected, "value", op);
    case "contains":
      return lowered(actual, path, op).includes(lowered(expected, "value", op));
    case "startswith":
      return lowered(actual, path, op).startsWith(lowered(expected, "value", op));
    case "endswith":
      return lowered(actual, path, op).endsWith(lowered(expected, "value", op));
    case "regex":
      return regex(text(expected, "value", op)).matches(text(actual, path, op));
    default:
      op satisfies never;
      throw invalid(`${JSON.stringify(op)} is no operator`);
  }
}

function number(value: Json, what: string, op: PredicateOp): number {
  if (typeof value === "number") return value;
  throw invalid(`${op} compares numbers, and ${what} is ${kindOf(value)}`);
}

function text(value: Json, what: string, op: PredicateOp): string {
  if (typeof value === "string") return value;
  throw invalid(`${op} compares text, and ${what} is ${kindOf(value)}`);
}

// At the end of a word a capital sigma is lowered to ς, anywhere else to σ: part of a word would not be found in the whole.
function lowered(value: Json, what: string, op: PredicateOp): string {
  return text(value, what, op).toLowerCase().replaceAll("ς", "σ");
}

function listOf(value: Json, path: string, op: PredicateOp): readonly Json[] {
  if (Array.isArray(value)) return value;
  throw invalid(`${op} looks for ${path} in a list, and value is ${kindOf(value)}`);
}

function kindOf(value: Json): string {
  if (value === null) return "null or missing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "a map" : `a ${typeof value}`;
}

function invalid(what: string, cause?: unknown) {
  return holdfastError("invalid_predicate", `The predicate cannot be evaluated: ${what}.`, cause);
}

// Compiled once: a predicate is evaluated for every event. The patterns come from the configuration, so there are few.
const compiled = new Map<string, RE2JS>();
const MOST_COMPILED = 500;

/** RE2 takes time linear in the text, whatever the pattern. */
function regex(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const expression = RE2JS.compile(pattern);
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  compiled.set(pattern, expression);
  return expression;
}

type Count = { comparisons: number };

function findProblem(value: unknown, roots: readonly string[], level: number, count: Count): string | undefined {
  if (!isMap(value)) return "A predicate is a map: { path, op, value }, or all, any or not.";
  if (level > MAX_PREDICATE_LEVELS) return `A predicate is at most ${MAX_PREDICATE_LEVELS} levels deep.`;
  const keys = Object.keys(value);
  const [form] = keys;
  if (keys.length === 1 && (form === "all" || form === "any"))
    return listProblem(value[form], form, roots, level, count);
  if (keys.length === 1 && form === "not") return findProblem(value.not, roots, level + 1, count);
  const stray = keys.find((key) => key !== "path" && key !== "op" && key !== "value");
  if (stray !== undefined)
    return `A predicate is either { path, op, value } or one of all, any and not; ${JSON.stringify(stray)} is too much.`;
  count.comparisons += 1;
  if (count.comparisons > MAX_PREDICATES) return `A predicate has at most ${MAX_PREDICATES} comparisons.`;
  return comparisonProblem(value, roots);
}

function listProblem(
  list: unknown,
  form: "all" | "any",
  roots: readonly string[],
  level: number,
  count: Count,
): string | undefined {
  if (!Array.isArray(list) || list.length === 0) return `${form} takes a list of predicates that is not empty.`;
  for (const each of list) {
    const problem = findProblem(each, roots, level + 1, count);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function comparisonProblem({ path, op, value }: UnknownMap, roots: readonly string[]): string | undefined {
  if (parsePath(path, roots) === undefined) {
    return `${JSON.stringify(path) ?? "A missing path"} is no path below ${roots.join(", ")}.`;
  }
  if (!predicateOps.some((each) => each === op)) {
    return `${JSON.stringify(op) ?? "A missing op"} is no operator; there are ${predicateOps.join(", ")}.`;
  }
  return valueProblem(op as PredicateOp, value);
}

function valueProblem(op: PredicateOp, value: unknown): string | undefined {
  switch (op) {
    case "exists":
      return value === undefined || value === null ? undefined : "exists takes no value.";
    case "eq":
    case "neq":
      return value === undefined ? `${op} needs a value.` : undefined;
    case "in":
      return Array.isArray(value) ? undefined : "in takes a list as its value.";
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return typeof value === "number" && Number.isFinite(value) ? undefined : `${op} takes a number as its value.`;
    case "contains":
    case "startswith":
    case "endswith":
      return typeof value === "string" ? undefined : `${op} takes text as its value.`;
    case "regex":
      return regexProblem(value);
    default:
      return op satisfies never;
  }
}

function regexProblem(pattern: unknown): string | undefined {
  if (typeof pattern !== "string") return "regex takes text as its value.";
  if (pattern.length > MAX_REGEX_LENGTH) return `A regular expression has at most ${MAX_REGEX_LENGTH} characters.`;
  try {
    return regex(pattern).programSize() > MAX_REGEX_SIZE
      ? "The regular expression is too large once its repetitions are written out."
      : undefined;
  } catch (thrown) {
    return `The regular expression cannot be compiled: ${errorMessage(thrown)}.`;
  }
}
