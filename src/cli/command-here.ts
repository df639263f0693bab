// A command as it is to be typed where this one was: by npm in a clone, and by npx where it is installed.
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProjectOptions } from "./project.ts";

const root = resolve(fileURLToPath(new URL("../..", import.meta.url)));

/** With the options that it needs to find the same project and the same data. */
export function commandHere(
  verb: string,
  { cwd, config, data }: Pick<ProjectOptions, "cwd" | "config" | "data">,
): string {
  const program = cwd === root ? "npm run holdfast --" : "npx holdfast";
  const options = Object.entries({ config, data }).map(([name, value]) =>
    value === undefined ? "" : ` --${name} ${shellWord(value)}`,
  );
  return `${program} ${verb}${options.join("")}`;
}

/** As a shell reads it as one word. */
export function shellWord(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
