// Where a part of a file stands, and how that is shown.
import { isAbsolute, relative, sep } from "node:path";

/** Lines and columns begin at 1; 0 where the value was no file but an object. */
export type Place = { readonly file: string; readonly line: number; readonly column: number };

export type LocatedProblem = Place & { readonly message: string };

/** A value from a file, and where each part of it stands. */
export type LocatedValue = {
  readonly value: unknown;
  /** The place of the part at a path; of its nearest parent when it is not there. */
  locate(path: readonly (string | number)[]): Place;
};

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
