// A discovered plugin as the dispatcher runs it: one process for each execution.
import { mkdir } from "node:fs/promises";
import { errorMessage, holdfastError } from "../../contracts/error.ts";
import { encodeRequest, type PluginRequest } from "../../contracts/gateway/protocol/request.ts";
import { type DecodeOptions, decodeResponse, type FailureReason } from "../../contracts/gateway/protocol/response.ts";
import type { DiscoveredPlugin } from "./discover.ts";
import type { Execution, ExecutionOutcome, Plugin } from "./plugin.ts";
import { type After, type ProcessEnd, runProcess, STDERR_LIMIT, STDOUT_LIMIT } from "./process/run-process.ts";
import type { Spawn } from "./process/start-process.ts";
import { recheckTrust } from "./trust.ts";

export type SubprocessOptions = DecodeOptions & {
  /** Everything that the process sees of the environment, see `pluginEnvironment`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly after?: After;
  readonly spawn?: Spawn;
};

/** Runs the plugin's entry point, provided it is still what was discovered. */
export function runAsSubprocess(plugin: DiscoveredPlugin, options: SubprocessOptions): Plugin["run"] {
  return async (request, { timeoutMs, signal, onSpawned }) => {
    const input = encode(request);
    if (input === undefined) return notStarted("The request cannot be written as JSON.");
    const trust = recheckTrust(plugin.place, plugin.entry);
    if ("problem" in trust) return notStarted(holdfastError("plugin_untrusted", `${trust.problem}.`).message);
    const { file, startProblem } = trust.entry;
    if (startProblem) return notStarted(`${file} ${startProblem}.`);
    const problem = await makeWorkspace(request);
    if (problem !== undefined) return notStarted(problem);
    const { environment, after, spawn } = options;
    const injected = { ...(after && { after }), ...(spawn && { spawn }), ...(onSpawned && { onSpawned }) };
    const end = await runProcess({ file, environment, input, timeoutMs, signal, ...injected });
    return execution(end, timeoutMs, options);
  };
}

/** A plugin may begin in its workspace, before an agent has written to it. */
async function makeWorkspace({ workspace_dir }: PluginRequest): Promise<string | undefined> {
  try {
    if (workspace_dir !== undefined) await mkdir(workspace_dir, { recursive: true, mode: 0o700 });
    return undefined;
  } catch (thrown) {
    return `The folder of the run cannot be made: ${errorMessage(thrown)}`;
  }
}

function encode(request: PluginRequest): string | undefined {
  try {
    return encodeRequest(request);
  } catch {
    return undefined;
  }
}

function execution(end: ProcessEnd, timeoutMs: number, options: DecodeOptions): Execution {
  const { exitCode, stderr } = end;
  return { ...outcome(end, timeoutMs, options), stdout: textOf(end), stderr, exit_code: exitCode };
}

function outcome(end: ProcessEnd, timeoutMs: number, options: DecodeOptions): ExecutionOutcome {
  switch (end.kind) {
    case "exited":
      return decodeResponse({ stdout: end.stdout, exitCode: end.exitCode, options });
    case "timed_out":
      return failure("timed_out", "timeout", `The plugin did not end within ${timeoutMs} ms.`);
    case "overflowed":
      return failure("failed", "spawn_error", `The plugin wrote more than ${STDOUT_LIMIT} bytes to stdout.`);
    case "not_started":
      return failure("failed", "spawn_error", `The plugin could not be started: ${end.error}`);
    case "aborted":
      return { outcome: "aborted" };
    default:
      return end.kind satisfies never;
  }
}

function failure(outcome: "failed" | "timed_out", reason: FailureReason, error: string): ExecutionOutcome {
  return { outcome, reason, retryable: true, error, logs: [] };
}

function notStarted(error: string): Execution {
  return { ...failure("failed", "spawn_error", error), stdout: "", stderr: "", exit_code: null };
}

/** What was printed beyond all limits is kept as far as stderr is. */
function textOf({ kind, stdout }: ProcessEnd): string {
  const kept = kind === "overflowed" ? stdout.subarray(0, STDERR_LIMIT) : stdout;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(kept, { stream: kind === "overflowed" });
}
