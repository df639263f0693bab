// The commands by which an operator asks a plugin about itself. They run outside the queue and change no state.
import type { JsonMap } from "../../contracts/json.ts";
import { defaultTimeoutMs } from "./defaults.ts";
import type { Execution, Plugin } from "./plugin.ts";

export type DiagnosisOptions = {
  readonly jobId: string;
  readonly state: JsonMap;
  readonly now: Date;
  readonly signal: AbortSignal;
};

/** Undefined when the plugin has no `health` command. */
export function runHealth(plugin: Plugin, options: DiagnosisOptions): Promise<Execution> | undefined {
  return diagnose(plugin, "health", options);
}

/** Undefined when the plugin has no `init` command. It is not retried. */
export function runInit(plugin: Plugin, options: DiagnosisOptions): Promise<Execution> | undefined {
  return diagnose(plugin, "init", options);
}

function diagnose(
  plugin: Plugin,
  command: "health" | "init",
  { jobId, state, now, signal }: DiagnosisOptions,
): Promise<Execution> | undefined {
  if (!plugin.manifest.commands.some(({ name }) => name === command)) return undefined;
  const timeoutMs = plugin.timeoutsMs[command] ?? defaultTimeoutMs(command);
  const deadline = new Date(now.getTime() + timeoutMs).toISOString();
  const request = { job_id: jobId, command, config: plugin.config, state, deadline_at: deadline };
  return plugin.run({ protocol: 2, ...request }, { timeoutMs, signal }).then(withoutEffects);
}

/** Whatever events and state updates these commands answer are dropped. */
function withoutEffects(execution: Execution): Execution {
  if (execution.outcome !== "succeeded") return execution;
  const { status, result, logs } = execution.response;
  return { ...execution, response: { status, result, logs, events: [] } };
}
