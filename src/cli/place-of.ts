// In which line of which file the loading of a module failed.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isProjectFile } from "./is-project-file.ts";

export type Place = { readonly file: string; readonly line?: number };

/** A mistake that we notice ourselves is in the file that has called us. `files`: where to look for a syntax error, about which JavaScript does not say where it is. */
export function placeOf(thrown: unknown, files: readonly string[]): Place | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const told = (thrown.stack ?? "")
    .split("\n")
    .flatMap(placeIn)
    .find(({ file }) => isProjectFile(file));
  return told ?? (thrown instanceof SyntaxError ? syntaxErrorIn(files.filter(isProjectFile)) : undefined);
}

/** Node asked about each by itself, since it tells the place to people and not to programs. */
function syntaxErrorIn(files: readonly string[]): Place | undefined {
  for (const file of files) {
    const { stderr } = spawnSync(process.execPath, ["--check", file], { encoding: "utf8" });
    const [first = ""] = stderr.split("\n");
    if (first.startsWith(`${file}:`)) return { file, line: Number(first.slice(file.length + 1)) };
  }
  return undefined;
}

/** A line of a stack trace, or the one above it with nothing but a place. */
function placeIn(line: string): readonly Place[] {
  const address = line.slice(Math.max(0, line.lastIndexOf("file://")));
  const [, url, number] = /^(file:\/\/[^\s)]+?):(\d+)(?::\d+)?\)?$/.exec(address) ?? [];
  return url === undefined ? [] : [{ file: fileURLToPath(url), line: Number(number) }];
}
