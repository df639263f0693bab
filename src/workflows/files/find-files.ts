// The files of a folder that hold workflows.
import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { compareText } from "../../contracts/compare-text.ts";
import { displayPath } from "../../yaml/place.ts";
import { identify, isFolder } from "../../yaml/text-file.ts";
import { problemAt, type WorkflowProblem } from "./read-file.ts";

/** More are left out. */
const MOST_FILES = 10_000;

export type FoundFile = {
  /** Without links in it. */
  readonly path: string;
  /** As it is shown. */
  readonly file: string;
};

type Folder = { readonly path: string; readonly isForWorkflows: boolean };

export type FoundFiles = {
  readonly files: readonly FoundFile[];
  readonly problems: readonly WorkflowProblem[];
  /** The folders that were looked into, the one itself excepted. */
  readonly folders: readonly string[];
};

/**
 * In a fixed order, each file once, whatever links lead to it. A link that leads out of the folder is not followed. `only`: the
 * names of the folders to look into, of those that stand in it directly; all of them unless given.
 */
export function findFiles(root: string, cwd: string, only?: readonly string[]): FoundFiles {
  const top = identify(root);
  const files = new Map<string, FoundFile>();
  const problems: WorkflowProblem[] = [];
  const folders: string[] = [];
  const seen = new Set<string>();
  const refuse = (path: string, code: string, message: string) => {
    problems.push(problemAt({ file: displayPath(path, cwd), line: 1, column: 1 }, code, message));
  };

  function enter({ path, isForWorkflows }: Folder): Folder[] {
    const below: Folder[] = [];
    for (const entry of entriesOf(path)) {
      const at = join(path, entry.name);
      const isWorkflow = isWorkflowName(entry.name, isForWorkflows);
      const real = entry.isSymbolicLink() ? realPath(at) : at;
      const isBelow = entry.isDirectory() || (entry.isSymbolicLink() && isFolder(at));
      if (!isBelow && !isWorkflow) continue;
      if (isBelow && path === root && only?.includes(entry.name) === false) continue;
      if (real === undefined) refuse(at, "unreadable", "This link leads nowhere.");
      else if (entry.isSymbolicLink() && !isInside(real, top)) refuse(at, "outside_folder", OUTSIDE);
      else if (isBelow) below.push({ path: at, isForWorkflows: isForWorkflows || entry.name === FOLDER });
      else files.set(identify(real), { path: real, file: displayPath(at, cwd) });
    }
    return below;
  }

  function entriesOf(path: string): Dirent[] {
    try {
      const entries = readdirSync(path, { withFileTypes: true });
      return entries.filter(({ name }) => !isPassedOver(name)).sort((one, other) => compareText(one.name, other.name));
    } catch {
      refuse(path, "unreadable", "This folder cannot be read.");
      return [];
    }
  }

  const open: Folder[] = [{ path: root, isForWorkflows: basename(root) === FOLDER }];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    // A link can lead to a folder around it.
    const identity = `${folder.isForWorkflows}:${identify(folder.path)}`;
    if (seen.has(identity)) continue;
    seen.add(identity);
    if (folder.path !== root) folders.push(folder.path);
    for (const below of enter(folder).reverse()) open.push(below);
  }
  if (files.size > MOST_FILES) refuse(root, "too_many_files", `Only the first ${MOST_FILES} files are read.`);
  return { files: [...files.values()].slice(0, MOST_FILES), problems, folders };
}

const FOLDER = "workflows";

const OUTSIDE = "This link leads out of the folder and is not followed.";

function isWorkflowName(name: string, isForWorkflows: boolean): boolean {
  return isForWorkflows ? /\.(?:ya?ml|json)$/i.test(name) : /\.workflow\.(?:ya?ml|json)$/i.test(name);
}

function isPassedOver(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
