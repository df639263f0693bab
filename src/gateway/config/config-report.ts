// The problems of a configuration: collected while it is read, shown together.
import { isAbsolute, relative, sep } from "node:path";
import { compareText } from "../../contracts/compare-text.ts";
import { type HoldfastError, holdfastError } from "../../contracts/error.ts";
import type { ConfigProblem, Place } from "./gateway-config.ts";

/** More than these are not shown. */
export const MOST_PROBLEMS = 50;

/** A broken file of a megabyte has no use for more. */
const MOST_COLLECTED = 10_000;

const LONGEST_MESSAGE = 500;

export type Report = {
  problem(place: Place, message: string): void;
  warning(place: Place, message: string): void;
  /** By place, each once, 50 at most. */
  problems(): ConfigProblem[];
  warnings(): ConfigProblem[];
};

export function createReport(): Report {
  const problems = new Map<string, ConfigProblem>();
  const warnings = new Map<string, ConfigProblem>();
  return {
    problem: (place, message) => collect(problems, place, message),
    warning: (place, message) => collect(warnings, place, message),
    problems: () => firstByPlace(problems.values()),
    warnings: () => firstByPlace(warnings.values()),
  };
}

// One part can be reached through several aliases, and is reported once.
function collect(into: Map<string, ConfigProblem>, { file, line, column }: Place, message: string): void {
  const sentence = oneLine(message);
  if (into.size >= MOST_COLLECTED) return;
  into.set(`${file}:${line}:${column}:${sentence}`, { file, line, column, message: sentence });
}

/** Keys of the configuration are in it, and a key can be anything. */
function oneLine(message: string): string {
  const text = message.replaceAll(/\p{Cc}+/gu, " ");
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE).toWellFormed()}…` : text;
}

function firstByPlace(problems: Iterable<ConfigProblem>): ConfigProblem[] {
  return [...problems].sort(comparePlaces).slice(0, MOST_PROBLEMS);
}

function comparePlaces(one: ConfigProblem, other: ConfigProblem): number {
  return compareText(one.file, other.file) || one.line - other.line || one.column - other.column;
}

/** One error for all problems: a line each, sorted by place, 50 at most. */
export function configError(problems: readonly ConfigProblem[]): HoldfastError {
  const lines = firstByPlace(problems).map((problem) => `${showPlace(problem)}: ${problem.message}`);
  if (lines.length === 1) return holdfastError("gateway_config_invalid", lines.join(""));
  const count = problems.length < MOST_PROBLEMS ? `${problems.length}` : `at least ${MOST_PROBLEMS}`;
  return holdfastError(
    "gateway_config_invalid",
    `The gateway's configuration has ${count} problems:\n${lines.join("\n")}`,
  );
}

/** `file:line:column`, or only the file where there are no lines. */
export function showPlace({ file, line, column }: Place): string {
  return line === 0 ? file : `${file}:${line}:${column}`;
}

/** Relative to the working directory when it is below it. */
export function displayPath(path: string, cwd: string): string {
  const below = relative(cwd, path);
  const isBelow = below !== "" && below !== ".." && !below.startsWith(`..${sep}`) && !isAbsolute(below);
  return (isBelow ? below : path).replaceAll(/\p{Cc}/gu, "?");
}
