// Installs LangGraph.js into this folder, with the native module of its SQLite checkpointer: its binary is downloaded, or where
// that cannot be had it is compiled for this Node, with headers from the npm package of Node.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));

npm(here, ["ci", "--ignore-scripts"]);
const native = join(here, "node_modules", "better-sqlite3");
spawnSync(process.execPath, [join(here, "node_modules", "prebuild-install", "bin.js")], { cwd: native });
if (!runs()) {
  console.log("There is no binary of better-sqlite3 to be had; compiling it, which takes a minute or two.");
  const folder = await mkdtemp(join(tmpdir(), "holdfast-bench-"));
  try {
    // The package of Node for one platform holds its headers, too.
    const platform = process.platform === "win32" ? "win" : process.platform;
    const prefix = platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node";
    const name = `${prefix}-${platform}-${process.arch}`;
    npm(folder, ["install", "--prefix", folder, `${name}@${process.versions.node}`]);
    npm(here, ["rebuild", "better-sqlite3"], { npm_config_nodedir: join(folder, "node_modules", name) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
if (!runs())
  throw new Error("better-sqlite3 does not run on this Node, and could not be compiled: is there a C++ compiler?");

function runs(): boolean {
  const script = 'const Database = require("better-sqlite3"); new Database(":memory:")';
  return spawnSync(process.execPath, ["-e", script], { cwd: here }).status === 0;
}

function npm(cwd: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}): void {
  const { status } = spawnSync("npm", [...args, "--loglevel=error"], {
    cwd,
    env: { ...process.env, ...environment },
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm ${args[0]} did not succeed.`);
}
