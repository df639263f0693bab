// Workflows from files: one, or all that are in a folder. A broken file is a problem of its own; the others are loaded.
import { resolve } from "node:path";
import { holdfastError } from "../../contracts/error.ts";
import { type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { type CheckOptions, checkWorkflow, nestedWorkflows } from "../../contracts/workflows/check-workflow.ts";
import { typedSpec, type WorkflowSpec } from "../../contracts/workflows/spec.ts";
import { displayPath, type Place, showPlace } from "../../yaml/place.ts";
import { firstByPlace } from "../../yaml/report.ts";
import { isFolder } from "../../yaml/text-file.ts";
import { type FoundFiles, findFiles } from "./find-files.ts";
import { locateError, problemAt, readSource, type WorkflowProblem, type WorkflowSource } from "./read-file.ts";

export type LoadOptions = CheckOptions & {
  /** Files are named relative to it; the working directory of the process unless given. */
  readonly cwd?: string | undefined;
};

export type LoadedWorkflow = {
  readonly spec: WorkflowSpec;
  /** As problems name it. */
  readonly file: string;
  /** What its author may have meant otherwise. */
  readonly notices: readonly WorkflowProblem[];
};

type BrokenWorkflow = { readonly problems: readonly WorkflowProblem[] };

export type LoadedWorkflows = {
  readonly workflows: readonly LoadedWorkflow[];
  readonly problems: readonly WorkflowProblem[];
};

/** The workflow in a YAML or JSON file, or what is wrong with it, by place and 50 problems at most. */
export function readWorkflowFile(path: string, options: LoadOptions = {}): LoadedWorkflow | BrokenWorkflow {
  const cwd = options.cwd ?? process.cwd();
  const absolute = resolve(cwd, path);
  const source = readSource(absolute, displayPath(absolute, cwd));
  return "problems" in source ? source : check(source, snapshotMap(source.source.value), options);
}

/**
 * All workflows of a folder and those in it: files `*.workflow.yaml`, `.yml` and `.json`, and every YAML or JSON file below a
 * folder named `workflows`. Of two files with one id the first by path counts, and the other is a problem. Throws
 * `invalid_argument` when there is no such folder.
 */
export function loadWorkflows(folder: string, options: LoadOptions = {}): LoadedWorkflows {
  const cwd = options.cwd ?? process.cwd();
  const root = resolve(cwd, folder);
  if (!isFolder(root)) {
    throw holdfastError("invalid_argument", `folder ${folder} is not there`);
  }
  return loadFound(findFiles(root, cwd), options);
}

/** `isTaken`: whether a workflow from elsewhere has that id. Then the one of the file is a problem. */
export function loadFound(
  { files, problems }: Pick<FoundFiles, "files" | "problems">,
  options: CheckOptions & { readonly isTaken?: (id: string) => boolean },
): LoadedWorkflows {
  const read = files.map(({ path, file }) => readSource(path, file));
  const broken = read.flatMap((each) => ("problems" in each ? each.problems : []));
  const sources = read.filter((each) => "source" in each);
  const { unique, doubles } = withoutDoubles(sources, options.isTaken ?? (() => false));
  const nested = new Map(unique.map(({ raw }) => [raw.id, nestedWorkflows(raw)]));
  const workflows = (id: string) => nested.get(id) ?? options.workflows?.(id) ?? [];
  const checked = unique.map(({ source, raw }) => check(source, raw, { ...options, workflows }));
  return {
    workflows: checked.filter((each) => "spec" in each),
    problems: [...problems, ...broken, ...doubles, ...checked.flatMap((each) => ("spec" in each ? [] : each.problems))],
  };
}

function check(source: WorkflowSource, raw: JsonMap, options: CheckOptions): LoadedWorkflow | BrokenWorkflow {
  const { errors, notices } = checkWorkflow(raw, options);
  if (errors.length > 0) return { problems: firstByPlace(errors.map((error) => locateError(error, source))) };
  return { spec: typedSpec(raw), file: source.file, notices: notices.map((notice) => locateError(notice, source)) };
}

type Unique = { readonly source: WorkflowSource; readonly raw: JsonMap };

function withoutDoubles(sources: readonly WorkflowSource[], isTaken: (id: string) => boolean) {
  const places = new Map<unknown, Place>();
  const unique: Unique[] = [];
  const doubles: WorkflowProblem[] = [];
  for (const source of sources) {
    const raw = snapshotMap(source.source.value);
    const { id } = raw;
    const place = source.source.locate(["id"]);
    const other = typeof id === "string" ? places.get(id) : undefined;
    const isProgram = typeof id === "string" && isTaken(id);
    if (other === undefined && !isProgram) {
      places.set(id, place);
      unique.push({ source, raw });
      continue;
    }
    const where = other === undefined ? "is one of the program's" : `stands at ${showPlace(other)}`;
    const message = `The workflow ${JSON.stringify(id)} ${where} already.`;
    doubles.push(problemAt(place, "duplicate_workflow", message, "id"));
  }
  return { unique, doubles };
}
