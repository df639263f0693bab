// Which Node a plugin finds whose entry point begins with `#!/usr/bin/env node`: the one that the gateway runs on.
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";

/**
 * The PATH on which `node` is this file. Its folder comes right before the first one that holds another node, and at the end
 * where none does, so that no other program before that place is found elsewhere than the operator has put it.
 */
export function pathToNode(path: string, node: string): string {
  // Under another name it would not be found anyway.
  if (basename(node) !== "node") return path;
  const folders = path.split(delimiter);
  const first = folders.findIndex((folder) => isProgram(join(folder, "node")));
  if (first === -1) return [...folders, dirname(node)].join(delimiter);
  if (isSame(join(folders[first] ?? "", "node"), node)) return path;
  return folders.toSpliced(first, 0, dirname(node)).join(delimiter);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isSame(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
