// A path as a person would say it: from here where the file is below, and whole where it is elsewhere.
import { relative } from "node:path";

export function shortPath(cwd: string, file: string): string {
  const path = relative(cwd, file);
  return path.startsWith("..") ? file : path;
}
