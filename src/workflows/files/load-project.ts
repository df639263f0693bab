// The workflows that belong to a project because of where their files stand.
import { join, resolve } from "node:path";
import type { JsonMap } from "../../contracts/json.ts";
import { type CheckOptions, nestedWorkflows } from "../../contracts/workflows/check-workflow.ts";
import { findFiles } from "./find-files.ts";
import { type LoadedWorkflows, loadFound } from "./load-workflows.ts";

export type ProjectWorkflows = LoadedWorkflows & {
  /** The files and folders whose change makes other workflows of it; those that may come included, `*` for any name. */
  readonly lookedAt: readonly string[];
};

export type LoadProjectOptions = Pick<CheckOptions, "stepTypes"> & {
  /** Files are named relative to it. */
  readonly cwd: string;
  /** The specs that the program has itself, by their ids. */
  readonly program?: ReadonlyMap<string, JsonMap>;
};

const FOLDERS = ["agents", "workflows"];

const PATTERNS = ["*.workflow.yaml", "*.workflow.yml", "*.workflow.json"];

/** Files `*.workflow.yaml`, `.yml` and `.json` in the folder itself, and what `loadWorkflows` finds in `agents` and `workflows`. */
export function loadProjectWorkflows(
  folder: string,
  { cwd, stepTypes, program = new Map() }: LoadProjectOptions,
): ProjectWorkflows {
  const root = resolve(cwd, folder);
  const found = findFiles(root, cwd, FOLDERS);
  const loaded = loadFound(found, {
    stepTypes,
    workflows: (id) => nestedWorkflows(program.get(id) ?? {}),
    isTaken: (id) => program.has(id),
  });
  const files = found.files.map(({ path }) => path);
  const mayCome = [...FOLDERS, ...PATTERNS].map((name) => join(root, name));
  return { ...loaded, lookedAt: [...new Set([...mayCome, ...found.folders, ...files])] };
}
