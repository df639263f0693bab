// Agent runs as programs hold them: read from the agents' state, started and cancelled through jobs.
import { resolve } from "node:path";
import { compareText } from "../../../contracts/compare-text.ts";
import { holdfastError } from "../../../contracts/error.ts";
import { AGENT_PLUGIN } from "../../../contracts/gateway/agent/agentic-event.ts";
import { type AgentRun, derivedRunId, readRuns } from "../../../contracts/gateway/agent/agentic-run.ts";
import { isMap } from "../../../contracts/json.ts";
import { readAgentConfig } from "../../agent/agent-config.ts";
import { fileWorkspaces, knownFolder } from "../../agent/workspace/file-workspace.ts";
import type { AgentRunView, Gateway } from "../../gateway.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { DispatchDeps } from "../deps.ts";
import { findPlugin, START_EVENT, startPayload, submitCall } from "../intake/submit.ts";
import { readMap } from "../job-views.ts";
import { redactedJson } from "../redacted-json.ts";
import type { Snapshot } from "../snapshot.ts";
import { cancelTools, startJobId } from "./cancel-tools.ts";

export type AgentRunDeps = {
  readonly deps: DispatchDeps;
  readonly snapshot: () => Snapshot;
  readonly submitted: <Result>(result: Result) => Result;
};

export function agentRuns({ deps, snapshot, submitted }: AgentRunDeps): Gateway["runs"] {
  const { pluginState, sealed, redact } = deps;

  async function runsOf({ name: agent, config }: Plugin): Promise<readonly AgentRunView[]> {
    const stored = await pluginState.get(agent);
    if (!stored) return [];
    return readRuns(sealed.open("state", agent, stored.sealed_state), readAgentConfig(config)).map(({ id, run }) => ({
      ...withoutSecrets(run, redact),
      run_id: id,
      agent,
      job_id: startJobId(run.workspace_ref),
      workspace_dir: workspaceDir(run),
    }));
  }

  function workspaceDir({ workspace_ref }: AgentRun): string | null {
    const folder = knownFolder(workspace_ref);
    return folder === undefined ? null : resolve(deps.workspaceRoot, folder);
  }

  async function list(): Promise<readonly AgentRunView[]> {
    const all = await Promise.all(agentsOf(snapshot()).map(runsOf));
    return all
      .flat()
      .sort((one, other) => compareText(other.created_at, one.created_at) || compareText(other.run_id, one.run_id));
  }

  async function get(runId: string): Promise<AgentRunView> {
    const found = (await list()).find(({ run_id }) => run_id === runId);
    if (!found) throw holdfastError("agent_run_not_found", `There is no agent run "${runId}".`);
    return found;
  }

  return {
    list,
    get,

    async start({ agent = AGENT_PLUGIN, goal, context, run_id, dedupe_key }, by) {
      const plugin = findPlugin(snapshot(), agent);
      if (!plugin.isAgent) throw holdfastError("plugin_not_found", `The plugin ${agent} is no agent.`);
      const started = submitted(
        await submitCall(
          deps,
          snapshot(),
          {
            ...{ plugin, command: "handle", eventType: START_EVENT },
            payload: startPayload({ goal, ...(context && { context }), ...(run_id !== undefined && { run_id }) }),
            ...(dedupe_key !== undefined && { dedupe_key }),
          },
          by,
        ),
      );
      const jobId = started.job_ids[0] ?? started.duplicates[0];
      return { ...started, run_id: run_id ?? (jobId == null ? null : derivedRunId(jobId)) };
    },

    async trace(runId) {
      const { workspace_ref } = await get(runId);
      const lines = await fileWorkspaces(deps.workspaceRoot).of(workspace_ref).readTrace();
      return lines.flatMap((line) => (isMap(line) ? [readMap(redactedJson(JSON.stringify(line), redact)) ?? {}] : []));
    },

    async cancel(runId, by) {
      const run = await get(runId);
      if (run.status !== "running")
        throw holdfastError("agent_run_ended", `The agent run "${runId}" is ${run.status}.`);
      const plugin = findPlugin(snapshot(), run.agent);
      if (!plugin.manifest.commands.some(({ name }) => name === "cancel")) {
        const killed = submitted(await cancelTools(deps, snapshot(), run, by));
        throw holdfastError("plugin_command_not_found", withoutCancel(run.agent, killed));
      }
      // First the run ends, so that nothing which comes of killing its tools is taken for a result.
      const call = { plugin, command: "cancel", payload: { run_id: runId, by }, eventType: null };
      submitted(await submitCall(deps, snapshot(), call, { via: "api" }));
      await cancelTools(deps, snapshot(), run, by);
      submitted(undefined);
    },
  };
}

/** Of an agent whose runs only it can end. */
function withoutCancel(agent: string, killed: number): string {
  const tools =
    killed === 0 ? "no tool was at work for the run" : "the tool that was at work for the run was cancelled";
  return `The agent ${agent} declares no command "cancel": ${tools}, and whether the run ends is for the agent to decide.`;
}

/** Goals, outcomes and errors are texts of others. */
function withoutSecrets(run: AgentRun, redact: (text: string) => string): AgentRun {
  const last_error = run.last_error === null ? null : redact(run.last_error);
  const redacted = { goal: redact(run.goal), last_error };
  switch (run.status) {
    case "running":
      return {
        ...run,
        ...redacted,
        pending_payload: readMap(redactedJson(JSON.stringify(run.pending_payload), redact)) ?? {},
      };
    case "done":
      return { ...run, ...redacted, outcome: redact(run.outcome) };
    case "escalated":
      return { ...run, ...redacted };
  }
}

function agentsOf({ plugins }: Snapshot): readonly Plugin[] {
  return [...plugins.values()].filter(({ isAgent }) => isAgent);
}
