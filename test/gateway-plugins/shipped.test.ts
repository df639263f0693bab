// Promise: every shipped plugin loads under the strictest rules, needs nothing but its own folder, and fails as the
// protocol says.
import { execFileSync } from "node:child_process";
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { builtinModules } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { PluginRequest } from "../../src/contracts/gateway/protocol/request.ts";
import { discoverPlugins } from "../../src/gateway/plugins/discover.ts";
import type { Execution } from "../../src/gateway/plugins/plugin.ts";
import type { After } from "../../src/gateway/plugins/process/run-process.ts";
import { runAsSubprocess } from "../../src/gateway/plugins/subprocess-plugin.ts";
import { entryPoint, environment, type PluginName, pluginsFolder, runProgram, withoutPython } from "./run-plugin.ts";
import { newFolder } from "./workspace.ts";

const shipped: readonly PluginName[] = ["echo", "fetch", "files", "shell"];
const discovery = discoverPlugins(
  shipped.map((name) => join(pluginsFolder, name)),
  { strict: true, allowSymlinks: false },
);

/** Runs a plugin's command as the dispatcher does. */
async function execute(name: PluginName, asked: Partial<PluginRequest>, more: { env?: object; after?: After } = {}) {
  const plugin = discovery.plugins.get(name);
  if (plugin === undefined) throw new Error(`${name} was not discovered`);
  const run = runAsSubprocess(plugin, {
    ...{ environment: { ...environment, ...more.env }, strict_protocol: true, exit_code_policy: "strict" as const },
    ...(more.after && { after: more.after }),
  });
  const request = {
    protocol: 2,
    job_id: "j1",
    command: "handle",
    config: {},
    state: {},
    deadline_at: "2099-01-01T00:00:00Z",
  };
  return await run({ ...request, protocol: 2, ...asked }, { timeoutMs: 100_000, signal: new AbortController().signal });
}

const failed = ({ outcome, ...rest }: Execution) => ({
  outcome,
  ...("reason" in rest && { reason: rest.reason, retryable: rest.retryable }),
});

describe("the shipped plugins", () => {
  it("are discovered in strict mode without a warning", () => {
    expect(discovery.warnings).toEqual([]);
    expect([...discovery.plugins.keys()]).toEqual(shipped);
  });

  it("have descriptions, typed commands and health", () => {
    for (const { manifest } of discovery.plugins.values()) {
      expect(manifest.description).not.toBe("");
      expect(manifest.commands.map(({ name }) => name)).toContain("health");
      expect(manifest.commands.filter(({ description }) => description === "")).toEqual([]);
      expect(manifest.required_config).toEqual([]);
    }
  });

  it.each(shipped)("have entry points that can be executed: %s", (name) => {
    accessSync(entryPoint(name), constants.X_OK);
    expect(readFileSync(entryPoint(name), "utf8")).toMatch(/^#!\/(bin\/sh|usr\/bin\/env (node|python3))\n/);
  });

  it.for(shipped)("are healthy as they come: %s", async (name, context) => {
    context.skip(withoutPython !== undefined && (name === "files" || name === "shell"), withoutPython);
    expect(await execute(name, { command: "health" })).toMatchObject({
      outcome: "succeeded",
      warnings: [],
      stderr: "",
    });
  });
});

describe("what a plugin imports", () => {
  it.each(globSync(`${pluginsFolder}fetch/*.{ts,mjs}`))("is Node's or beside it: %s", (file) => {
    const code = readFileSync(file, "utf8");
    const imported = [...code.matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map(([, specifier = ""]) => specifier);
    const isBuiltIn = (specifier: string) => builtinModules.includes(specifier.replace(/^node:/, ""));
    const isBeside = (specifier: string) => specifier === `./${basename(specifier)}`;
    expect(imported.filter((specifier) => !isBuiltIn(specifier) && !isBeside(specifier))).toEqual([]);
  });

  it.each(globSync(`${pluginsFolder}{files,shell}/*.py`))("is Python's or beside it: %s", (file) => {
    const code = readFileSync(file, "utf8");
    const imported = [...code.matchAll(/^(?:import (\w+)$|from (\w+) import)/gm)].map(
      ([, whole, part]) => whole ?? part ?? "",
    );
    const isBeside = (module: string) => existsSync(join(dirname(file), `${module}.py`));
    expect(imported.filter((module) => !isBeside(module) && !standardLibrary.includes(module))).toEqual([]);
  });
});

describe("under the gateway's own runner", () => {
  const event = {
    type: "t",
    payload: { text: "hello" },
    source: "s",
    timestamp: "2026-01-01T00:00:00Z",
    event_id: "e",
  };

  it("echo succeeds with the text and no event", async () => {
    const execution = await execute("echo", { event });
    expect(execution).toMatchObject({ outcome: "succeeded", response: { result: "hello", events: [] } });
  });

  it.each([
    ["plugin_error", true, { mode: "error" }],
    ["plugin_retry_false", false, { mode: "error", retry: false }],
    ["spawn_error", true, { mode: "protocol_error" }],
    ["nonzero_exit", true, { exit_code: 3 }],
    ["exit_code_78", false, { mode: "error", exit_code: 78 }],
  ])("echo fails with %s; retryable: %s", async (reason, retryable, config) => {
    expect(failed(await execute("echo", { event, config }))).toEqual({ outcome: "failed", reason, retryable });
  });

  it("echo in the mode hang is timed out", async () => {
    // The first wait is the deadline; the ones after it are for the process to end.
    let waits = 0;
    const after: After = (ms, callback) => {
      const timer = setTimeout(callback, waits++ === 0 ? 0 : ms);
      return () => clearTimeout(timer);
    };
    const execution = await execute("echo", { event, config: { mode: "hang" } }, { after });
    expect(failed(execution)).toEqual({ outcome: "timed_out", reason: "timeout", retryable: true });
  });

  it.each(["files", "shell"] as const)("%s without python3 is a spawn_error that may be retried", async (name) => {
    const env = { PATH: folderWithOnly("env") };
    const execution = await execute(name, { command: "health" }, { env });
    expect(failed(execution)).toEqual({ outcome: "failed", reason: "spawn_error", retryable: true });
    expect(execution).toMatchObject({ stdout: "" });
  });

  it("fetch without node is a spawn_error that may be retried", async () => {
    const execution = await execute("fetch", { command: "health" }, { env: { PATH: folderWithOnly("env") } });
    expect(failed(execution)).toEqual({ outcome: "failed", reason: "spawn_error", retryable: true });
  });
});

describe("fetch in an installed package", () => {
  it("runs as JavaScript, because Node does not strip types below node_modules", async () => {
    const folder = join(newFolder(), "node_modules/holdfast/plugins/fetch");
    mkdirSync(folder, { recursive: true });
    const root = fileURLToPath(new URL("../..", import.meta.url));
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    execFileSync(process.execPath, [
      compiler,
      "-p",
      join(root, "plugins/tsconfig.build.json"),
      "--outDir",
      dirname(folder),
    ]);
    cpSync(join(pluginsFolder, "fetch/run.mjs"), join(folder, "run.mjs"));
    cpSync(join(root, "package.json"), join(folder, "../../package.json"));
    expect(existsSync(join(folder, "main.ts"))).toBe(false);

    const refusal = { command: "handle", payload: { url: "http://127.0.0.1/" } };
    const [health, handled] = [
      await runProgram(join(folder, "run.mjs"), JSON.stringify({ command: "health" })),
      await runProgram(join(folder, "run.mjs"), JSON.stringify(refusal)),
    ];

    expect(JSON.parse(health.stdout)).toMatchObject({ status: "ok" });
    expect(JSON.parse(handled.stdout)).toMatchObject({ status: "error", retry: false });

    cpSync(join(pluginsFolder, "fetch/main.ts"), join(folder, "main.ts"));
    const unpacked = await runProgram(join(folder, "run.mjs"), JSON.stringify({ command: "health" }));
    expect(unpacked.stderr).toContain("ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING");
    rmSync(join(folder, "main.ts"));
  });
});

/** A PATH with one program and nothing else. */
function folderWithOnly(program: string): string {
  const folder = newFolder();
  symlinkSync(`/usr/bin/${program}`, join(folder, program));
  return folder;
}

const standardLibrary = [
  ...["base64", "binascii", "contextlib", "datetime", "errno", "fcntl", "hashlib", "heapq", "json", "os", "re"],
  ...["selectors", "stat", "subprocess", "sys", "threading", "time"],
];
