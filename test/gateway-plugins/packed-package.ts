// The package as npm packs it, unpacked as npm installs it: below `node_modules`, where Node runs no TypeScript.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newFolder } from "../gateway/gateway-world.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dependencies = join(root, "node_modules");

/** The folder of the installed package. Built in a copy: other tests run the sources meanwhile. */
export function installPacked(): string {
  const [copy, project] = [newFolder(), newFolder()];
  cpSync(join(root, "package.json"), join(copy, "package.json"));
  cpSync(join(root, "plugins"), join(copy, "plugins"), { recursive: true });
  compile("tsconfig.build.json", join(copy, "dist"));
  compile("plugins/tsconfig.build.json", join(copy, "plugins"));
  const modules = join(project, "node_modules");
  mkdirSync(join(modules, "holdfast"), { recursive: true });
  for (const name of readdirSync(dependencies)) symlinkSync(join(dependencies, name), join(modules, name));
  run("npm", ["pack", "--ignore-scripts", "--loglevel=error"], copy);
  const [archive = ""] = readdirSync(copy).filter((name) => name.endsWith(".tgz"));
  run("tar", ["-xzf", join(copy, archive), "--strip-components=1", "-C", join(modules, "holdfast")], copy);
  return join(modules, "holdfast");
}

/** Types are checked elsewhere. */
function compile(project: string, outDir: string): void {
  const compiler = join(dependencies, "typescript/bin/tsc");
  run(process.execPath, [
    compiler,
    "-p",
    join(root, project),
    "--noCheck",
    "--declaration",
    "false",
    "--outDir",
    outDir,
  ]);
}

function run(program: string, args: readonly string[], cwd = root): void {
  execFileSync(program, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
}
