// Where the command line works: the project's own definitions, and the folder with its data.
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { postgres } from "../backend/postgres/postgres.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { errorMessage } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import type { HoldfastOptions, Project } from "../holdfast.ts";
import type { ServerOptions } from "../server/server-options.ts";
import type { ProjectWorkflows } from "../workflows/files/load-project.ts";
import { type DataFolder, dataFolder } from "./data-folder.ts";
import { usualGatewayFile } from "./gateway/gateway-setup.ts";
import { type Place, placeOf } from "./place-of.ts";
import { specsInFiles, workflowsOfProject } from "./project-workflows.ts";
import { Refusal } from "./refusal.ts";
import { shortPath } from "./short-path.ts";
import { tourProject } from "./tour/project.ts";

export type ProjectOptions = {
  /** The file with the project; `holdfast.config.*` in the current folder unless given. */
  readonly config?: string;
  /** The folder with the database, its key and the owner's token; `.holdfast` unless given. */
  readonly data?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** The files that were imported so far, where somebody counts them: a mistake may be in any of them. */
  readonly importedFiles?: () => readonly string[];
};

/** What a configuration file may export. */
export type ProjectFile = Project & { readonly server?: ServerOptions };

export type OpenedProject = {
  readonly project: ProjectFile;
  /** The file that it came from; undefined for the tour's. */
  readonly config: string | undefined;
  /** True where there is neither a project nor a gateway.yaml. */
  readonly hasTourGateway: boolean;
  readonly data: DataFolder;
  /** Those of files, with what is wrong with them. */
  readonly workflows: ProjectWorkflows;
  /** Whatever else is wrong with the project. */
  database(): HoldfastOptions["backend"];
  /** What the runtime is created with. Throws what is wrong with the files of workflows. */
  options(): HoldfastOptions;
};

const configNames = ["ts", "mts", "js", "mjs"].map((extension) => `holdfast.config.${extension}`);

/** The user that whoever sits at this machine acts as. */
export const OWNER = 1;

export async function openProject(options: ProjectOptions): Promise<OpenedProject> {
  const { config, env, cwd } = options;
  const folder = dataFolder(options);
  const file = configFile(config ?? env.HOLDFAST_CONFIG, cwd);
  const project: ProjectFile = file === undefined ? unnamedProject(folder.path, cwd) : await loadProject(file, options);
  const workflows = workflowsOfProject(project, file === undefined ? cwd : dirname(file), cwd);
  const database = () => project.backend ?? usualBackend(folder, env);
  return {
    project,
    config: file,
    hasTourGateway: file === undefined && !existsSync(usualGatewayFile(cwd)),
    data: folder,
    workflows,
    database,
    options() {
      const { server: _, ...definitions } = project;
      const { trust } = definitions;
      const specs = specsInFiles(workflows);
      return {
        ...definitions,
        ...(specs.length > 0 && { workflows: [...(definitions.workflows ?? []), ...specs] }),
        backend: database(),
        trust: { ...trust, administrators: [...new Set([OWNER, ...(trust?.administrators ?? [])])] },
      };
    },
  };
}

function usualBackend({ path, database }: DataFolder, env: NodeJS.ProcessEnv): HoldfastOptions["backend"] {
  if (env.DATABASE_URL) return postgres(env.DATABASE_URL);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return sqlite(database);
}

/** Where a project is looked for when none is named. */
export function configFiles(cwd: string): readonly string[] {
  return configNames.map((name) => join(cwd, name));
}

/**
 * The tour's, whose gateway gives way to that of a gateway.yaml: what was queued for one must not be run by the other, on the
 * same database.
 */
function unnamedProject(data: string, cwd: string): ProjectFile {
  const gateway = usualGatewayFile(cwd);
  return { ...tourProject(data), ...(existsSync(gateway) && { gateway }) };
}

function configFile(given: string | undefined, cwd: string): string | undefined {
  if (given === undefined) return configFiles(cwd).find((path) => existsSync(path));
  const path = resolve(cwd, given);
  if (existsSync(path)) return path;
  throw new Refusal(
    { code: "config_not_found", message: `There is no file ${given}.` },
    "Name a file whose default export is a project, or run holdfast init to make one.",
  );
}

async function loadProject(file: string, { cwd, importedFiles = () => [file] }: ProjectOptions): Promise<ProjectFile> {
  let loaded: { readonly default?: unknown };
  try {
    loaded = (await import(pathToFileURL(file).href)) as typeof loaded;
  } catch (thrown) {
    const place: Place = placeOf(thrown, importedFiles()) ?? { file };
    const where = `${shortPath(cwd, place.file)}${place.line === undefined ? "" : `:${place.line}`}`;
    throw new Refusal({ code: "config_invalid", message: `${where}: ${errorMessage(thrown)}` }, undefined, thrown);
  }
  const project = loaded.default;
  if (isMap(project) && Array.isArray(project.agents)) return project as unknown as ProjectFile;
  const message = `${shortPath(cwd, file)} has no project as its default export.`;
  throw new Refusal({ code: "config_invalid", message }, "Export { agents: [...] } as the default export of the file.");
}
