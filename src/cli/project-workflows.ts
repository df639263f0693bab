// The workflows that stand in files of a project, beside those of its program.
import { isMap, type JsonMap } from "../contracts/json.ts";
import type { Project } from "../holdfast.ts";
import { loadProjectWorkflows, type ProjectWorkflows } from "../workflows/files/load-project.ts";
import { inOneLine } from "./problem-line.ts";
import { Refusal } from "./refusal.ts";

/** More are of no use before the first are mended. */
const MOST_SHOWN = 20;

export function workflowsOfProject(project: Project, folder: string, cwd: string): ProjectWorkflows {
  const { stepTypes = [], stepHandlers = {}, workflows = [] } = project;
  const specs = Array.isArray(workflows) ? workflows.flatMap(specsOf) : [];
  return loadProjectWorkflows(folder, {
    cwd,
    stepTypes: [...Object.keys(stepHandlers), ...stepTypes],
    program: new Map(specs.map((spec) => [String(spec.id), spec])),
  });
}

/** With those that the steps of a workflow of the program run. What is no workflow is refused where the runtime is created. */
function specsOf(given: unknown): readonly JsonMap[] {
  if (!isMap(given)) return [];
  const { spec, functions, workflows } = given;
  if (!isMap(spec) || !isMap(functions)) return [given as JsonMap];
  return [...(Array.isArray(workflows) ? workflows.flatMap(specsOf) : []), spec as JsonMap];
}

/** Throws what is wrong with the files, each problem with its place: a workflow that is missing would be found out too late. */
export function specsInFiles({ workflows, problems }: ProjectWorkflows): readonly JsonMap[] {
  if (problems.length === 0) return workflows.map(({ spec }) => spec.raw);
  const shown = problems.slice(0, MOST_SHOWN).map(inOneLine);
  const more = problems.length > shown.length ? [`and ${problems.length - shown.length} more`] : [];
  const heading = problems.length > 1 ? [`The files of workflows have ${problems.length} problems:`] : [];
  throw new Refusal({ code: "workflow_spec_invalid", message: [...heading, ...shown, ...more].join("\n") });
}
