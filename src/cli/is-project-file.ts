// Whether a file is written by whoever writes the project, or is of what the project is made with.
import { sep } from "node:path";
import { fileURLToPath } from "node:url";

/** This package's own files, which lie in no node_modules where they are run as sources. */
const own = fileURLToPath(new URL("..", import.meta.url));

export function isProjectFile(file: string): boolean {
  return !file.startsWith(own) && !file.includes(`${sep}node_modules${sep}`);
}
