// The problems of files: collected while they are read, shown together.
import { compareText } from "../contracts/compare-text.ts";
import type { LocatedProblem, Place } from "./place.ts";

/** More than these are not shown. */
export const MOST_PROBLEMS = 50;

/** A broken file of a megabyte has no use for more. */
const MOST_COLLECTED = 10_000;

const LONGEST_MESSAGE = 500;

/** What kind of problem it is, where that has a name of its own. */
export type YamlCode =
  | "alias_in_itself"
  | "duplicate_key"
  | "invalid_yaml"
  | "nested_too_deep"
  | "not_text"
  | "too_large"
  | "too_many_aliases"
  | "unknown_alias"
  | "unsafe_key"
  | "unsupported_tag";

export type ProblemReport = {
  /** The code is for those who match on it; the sentence says it all. */
  problem(place: Place, message: string, code?: YamlCode): void;
};

export type Report = ProblemReport & {
  warning(place: Place, message: string): void;
  /** By place, each once, 50 at most. */
  problems(): LocatedProblem[];
  warnings(): LocatedProblem[];
};

export function createReport(): Report {
  const problems = new Map<string, LocatedProblem>();
  const warnings = new Map<string, LocatedProblem>();
  return {
    problem: (place, message) => collect(problems, place, message),
    warning: (place, message) => collect(warnings, place, message),
    problems: () => firstByPlace(problems.values()),
    warnings: () => firstByPlace(warnings.values()),
  };
}

// One part can be reached through several aliases, and is reported once.
function collect(into: Map<string, LocatedProblem>, { file, line, column }: Place, message: string): void {
  const sentence = oneLine(message);
  if (into.size >= MOST_COLLECTED) return;
  into.set(`${file}:${line}:${column}:${sentence}`, { file, line, column, message: sentence });
}

/** Keys of the file are in it, and a key can be anything. */
export function oneLine(message: string): string {
  const text = message.replaceAll(/\p{Cc}+/gu, " ");
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE).toWellFormed()}…` : text;
}

/** In the order of files, lines and columns, 50 at most. */
export function firstByPlace<Problem extends LocatedProblem>(problems: Iterable<Problem>): Problem[] {
  return [...problems].sort(comparePlaces).slice(0, MOST_PROBLEMS);
}

function comparePlaces(one: LocatedProblem, other: LocatedProblem): number {
  return compareText(one.file, other.file) || one.line - other.line || one.column - other.column;
}
