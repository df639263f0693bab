// The text of a workflow file as a value whose every part has its place.
import type { SpecError } from "../../contracts/workflows/spec-error.ts";
import { locatedValue } from "../../yaml/located-node.ts";
import type { LocatedProblem, LocatedValue, Place } from "../../yaml/place.ts";
import { readYamlNode } from "../../yaml/read-yaml.ts";
import { firstByPlace, oneLine, type ProblemReport } from "../../yaml/report.ts";
import { readTextFile } from "../../yaml/text-file.ts";

/** What is wrong with a file, or with the spec in it: then the path says where in the spec. */
export type WorkflowProblem = LocatedProblem & Pick<SpecError, "code"> & Partial<Pick<SpecError, "path">>;

export type WorkflowSource = { readonly file: string; readonly source: LocatedValue };

/** Reads one file, shown under another name. Never throws; what cannot be used is a list of problems, 50 at most. */
export function readSource(
  path: string,
  file: string,
): WorkflowSource | { readonly problems: readonly WorkflowProblem[] } {
  const start = { file, line: 1, column: 1 };
  const content = readTextFile(path);
  if ("problem" in content) {
    const { problem, code, line = 1, column = 1 } = content;
    return { problems: [problemAt({ file, line, column }, code, problem)] };
  }
  const problems: WorkflowProblem[] = [];
  const node = readYamlNode(content.text, file, reportInto(problems));
  if (problems.length === 0 && isJsonFile(path)) problems.push(...jsonProblems(content.text, start));
  if (problems.length > 0 || node === undefined) return { problems: firstByPlace(problems) };
  if (node.kind === "map") return { file, source: locatedValue(node) };
  return { problems: [problemAt(start, "invalid_type", "A workflow is a map with an id and steps.")] };
}

/** The problem at a part of a spec, found by its path. */
export function locateError({ path, code, message }: SpecError, { source }: WorkflowSource): WorkflowProblem {
  return problemAt(source.locate(keysOf(path, source.value)), code, message, path);
}

export function problemAt(
  { file, line, column }: Place,
  code: string,
  message: string,
  path?: string,
): WorkflowProblem {
  return { file, line, column, code, message: oneLine(message), ...(path !== undefined && { path }) };
}

/** Steps that stand under keys are counted in paths. */
function keysOf(path: string, spec: unknown): readonly string[] {
  const [list, index, ...rest] = path === "" ? [] : path.split(".");
  const steps = (spec as { readonly steps?: unknown }).steps;
  if (list === undefined || index === undefined) return list === undefined ? [] : [list];
  const isKeyed = list === "steps" && typeof steps === "object" && steps !== null && !Array.isArray(steps);
  return [list, isKeyed ? (Object.keys(steps)[Number(index)] ?? index) : index, ...rest];
}

/** A broken file of a megabyte has no use for more. */
const MOST_COLLECTED = 10_000;

function reportInto(problems: WorkflowProblem[]): ProblemReport {
  return {
    problem(place, message, code = "invalid_yaml") {
      if (problems.length < MOST_COLLECTED) problems.push(problemAt(place, code, message));
    },
  };
}

function isJsonFile(path: string): boolean {
  return path.toLowerCase().endsWith(".json");
}

/** JSON is read as YAML, which knows places and keys that stand twice; but not all of YAML is JSON. */
function* jsonProblems(text: string, start: Place): Generator<WorkflowProblem> {
  try {
    JSON.parse(text);
  } catch (thrown) {
    // Without the parser's words: they show what stands in the file.
    const [, line = "1", column = "1"] = /\(line (\d+) column (\d+)\)$/.exec(String(thrown)) ?? [];
    const place = { ...start, line: Number(line), column: Number(column) };
    yield problemAt(place, "invalid_json", "This is not valid JSON; a file in YAML ends in .yaml.");
  }
}
