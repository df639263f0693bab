// Runs a shipped plugin the way a gateway does: its entry point as a process, a request on stdin, a response on stdout.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { parse } from "yaml";

export const pluginsFolder = fileURLToPath(new URL("../../plugins/", import.meta.url));

export type PluginName = "echo" | "fetch" | "files" | "shell";

export type Answer = {
  readonly status: "ok" | "error";
  readonly result?: string;
  readonly error?: string;
  readonly retry?: boolean;
  readonly events?: readonly { readonly type: string; readonly payload: Readonly<Record<string, unknown>> }[];
  readonly logs?: readonly { readonly level: string; readonly message: string }[];
};

export type Ended = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

type RunOptions = { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string };

const python = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" });

/** Why the tests of plugins in Python are skipped; undefined where they run. */
export const withoutPython =
  python.status === 0 ? undefined : "python3 is not on the PATH: the plugins files and shell are not tested";

/** What `env` finds: the Node that runs the tests, and python3 itself rather than a script that looks for it. */
const folders = [
  dirname(process.execPath),
  ...(withoutPython ? [] : [dirname(python.stdout.trim())]),
  process.env.PATH,
];
export const environment = { PATH: folders.join(":"), HOME: process.env.HOME ?? "/" };

export function entryPoint(plugin: PluginName): string {
  const manifest = parse(readFileSync(join(pluginsFolder, plugin, "manifest.yaml"), "utf8"));
  return join(pluginsFolder, plugin, manifest.entrypoint);
}

/** Starts a program in a process group of its own, writes the text to its stdin and waits until it has ended. */
export async function runProgram(file: string, input: string | Buffer, options: RunOptions = {}): Promise<Ended> {
  const child = spawn(file, [], { env: { ...environment, ...options.env }, cwd: options.cwd, detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk) => stdout.push(chunk));
  child.stderr.on("data", (chunk) => stderr.push(chunk));
  // A program that ends without reading everything is judged by what it prints.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  child.on("error", reject);
  child.on("exit", () => endGroup(child.pid));
  child.on("close", (exitCode, signal) =>
    resolve({ exitCode, signal, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
  );
  return promise;
}

/** What the program has left behind ends with it, as in a gateway. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing was left behind.
  }
}

/** The plugin's one response. Fails when it printed anything else, wrote to stderr or did not exit with 0. */
export async function ask(plugin: PluginName, request: object, options: RunOptions = {}): Promise<Answer> {
  const ended = await runProgram(entryPoint(plugin), `${JSON.stringify({ ...envelope, ...request })}\n`, options);
  if (ended.exitCode !== 0 || ended.stderr !== "") throw new Error(`${plugin} ended with ${JSON.stringify(ended)}`);
  return JSON.parse(ended.stdout);
}

/** A `handle` request for an event with this payload. */
export function handling(payload: object, more: object = {}): object {
  const event = { type: "agentic.tool_request.any", payload, source: "agent", event_id: "e1" };
  return { command: "handle", event, payload: event, ...more };
}

/** The payload of the one event of a response. */
export function eventPayload(answer: Answer): Readonly<Record<string, unknown>> {
  const [event, ...others] = answer.events ?? [];
  if (event === undefined || others.length > 0) throw new Error(`not one event: ${JSON.stringify(answer)}`);
  return event.payload;
}

const envelope = {
  protocol: 2,
  job_id: "job-1",
  config: {},
  state: {},
  context: {},
  deadline_at: "2099-01-01T00:00:00Z",
};
