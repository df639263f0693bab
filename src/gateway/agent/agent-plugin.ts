// The agent as a plugin that runs inside the gateway: the same turns as in a process of its own, without the process.
import { AGENT_PLUGIN } from "../../contracts/gateway/agent/agentic-event.ts";
import type { Manifest } from "../../contracts/gateway/protocol/manifest.ts";
import type { PluginRequest } from "../../contracts/gateway/protocol/request.ts";
import type { PluginResponse } from "../../contracts/gateway/protocol/response.ts";
import type { Execution, RunOptions } from "../plugins/plugin.ts";
import { agentManifest } from "./agent-manifest.ts";
import { lazyPlanner } from "./planner/lazy-planner.ts";
import type { Planner } from "./planner/planner.ts";
import type { RoutableTool } from "./tools.ts";
import { takeTurn } from "./turn.ts";
import { fileWorkspaces } from "./workspace/file-workspace.ts";

export type AgentPluginOptions = {
  /** What decides; a function makes it for a turn that needs it, from the agent's configuration. */
  readonly planner: Planner | ((request: PluginRequest) => Promise<Planner> | Planner);
  /** The folder of all workspaces, absolute. */
  readonly workspaceRoot: string;
  /** Of the agent with this name, by the suffix of their requests' type; asked at every turn, because a reload may change it. */
  readonly routableTools: (agent: string) => ReadonlyMap<string, RoutableTool>;
  /** Every agent of the gateway. */
  readonly agentNames: () => ReadonlySet<string>;
  readonly now?: () => Date;
};

export type AgentPlugin = {
  readonly manifest: Manifest;
  /** Takes one turn. Never throws: everything that can go wrong is an outcome. */
  run(request: PluginRequest, options: RunOptions): Promise<Execution>;
};

export function createAgentPlugin(options: AgentPluginOptions): AgentPlugin {
  const { planner, now = () => new Date() } = options;

  async function turn(request: PluginRequest, signal: AbortSignal, checkLease?: () => void): Promise<PluginResponse> {
    // Another process may be repeating the turn: two at a time must not write the files of a run.
    const workspaces = fileWorkspaces(options.workspaceRoot, () => {
      checkLease?.();
      signal.throwIfAborted();
    });
    return await takeTurn(request, {
      planner: typeof planner === "function" ? lazyPlanner(() => planner(request)) : planner,
      workspaces,
      clock: now,
      routableTools: options.routableTools(agentName(request)),
      agentNames: options.agentNames(),
      signal,
    });
  }

  return {
    manifest: agentManifest,
    async run(request, { timeoutMs, signal, checkLease }) {
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(new Error("The deadline has passed.")), timeoutMs);
      const until = AbortSignal.any([signal, deadline.signal]);
      try {
        // A planner that does not listen goes on, and what it answers is not looked at.
        return executionOf(await Promise.race([turn(request, until, checkLease), rejectionOf(until)]));
      } catch (thrown) {
        if (signal.aborted) return { outcome: "aborted", ...nothingPrinted };
        const error = deadline.signal.aborted ? `the turn took longer than ${timeoutMs} ms` : String(thrown);
        const reason = deadline.signal.aborted ? "timeout" : "plugin_error";
        const outcome = deadline.signal.aborted ? "timed_out" : "failed";
        return { outcome, reason, retryable: true, error, logs: [], ...nothingPrinted };
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Under which the agent is configured. */
function agentName({ context }: PluginRequest): string {
  const name = context?.ductile_plugin;
  return typeof name === "string" ? name : AGENT_PLUGIN;
}

const nothingPrinted = { stdout: "", stderr: "", exit_code: null };

function executionOf(response: PluginResponse): Execution {
  // For the job's log, as if it had been printed.
  const printed = { ...nothingPrinted, stdout: JSON.stringify(response) };
  if (response.status === "ok") return { outcome: "succeeded", response, warnings: [], ...printed };
  const { error, retry, logs } = response;
  const reason = retry ? "plugin_error" : "plugin_retry_false";
  return { outcome: "failed", reason, retryable: retry, error, logs, ...printed };
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fire = () => reject(signal.reason);
    if (signal.aborted) fire();
    else signal.addEventListener("abort", fire, { once: true });
  });
}
