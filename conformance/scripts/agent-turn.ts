// The turns of agentTurn.sequence, one after another: the state that a turn leaves is the state of the next one.
import { mergeState } from "../../src/contracts/gateway/protocol/plugin-state.ts";
import type { PluginRequest } from "../../src/contracts/gateway/protocol/request.ts";
import type { LogEntry, PluginResponse } from "../../src/contracts/gateway/protocol/response.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import type { PlanAnswer, Planner, ReflectAnswer } from "../../src/gateway/agent/planner/planner.ts";
import { readRequest } from "../../src/gateway/agent/process/answer-request.ts";
import type { RoutableTool } from "../../src/gateway/agent/tools.ts";
import { takeTurn } from "../../src/gateway/agent/turn.ts";
import { memoryWorkspaces } from "../../src/gateway/agent/workspace/memory-workspaces.ts";

type Script = { readonly reflect?: ReflectAnswer; readonly plan?: readonly PlanAnswer[] };

type Call = {
  readonly clock: string;
  readonly planner_script?: Script;
  readonly request: Omit<PluginRequest, "state"> & { readonly state?: JsonMap };
};

type Sequence = { readonly calls: readonly Call[]; readonly routable_tools: readonly string[] };

export async function runAgentTurns({ calls, routable_tools }: Sequence) {
  const routableTools = new Map(
    routable_tools.map((name): [string, RoutableTool] => [name, { plugins: [name], jobs: 2 }]),
  );
  // The tools of the vectors are not run, so what they would have written is taken to be there.
  const workspaces = memoryWorkspaces({ exists: () => true });
  const turns = [];
  let state: JsonMap = {};
  for (const { clock, planner_script, request } of calls) {
    state = request.state ?? state;
    const response = await takeTurn(readRequest({ ...request, state }), {
      planner: plannerOf(planner_script),
      workspaces,
      clock: () => new Date(clock),
      routableTools,
      agentNames: new Set(),
    });
    if (response.status === "ok") state = mergeState(state, response.state_updates ?? {});
    turns.push({ response: shown(response), state, job_outcome: response.status === "ok" ? "succeeded" : "failed" });
  }
  return turns;
}

function plannerOf(script: Script | undefined): Planner {
  const unscripted = () => {
    throw new Error("The planner was asked for something that is not in its script.");
  };
  return {
    frame: () => (script ? {} : unscripted()),
    reflect: () => script?.reflect ?? unscripted(),
    plan: () => (script ? (script.plan?.[0] ?? null) : unscripted()),
  };
}

function shown(response: PluginResponse) {
  const isOk = response.status === "ok";
  return {
    status: response.status,
    result: isOk ? response.result : null,
    error: isOk ? null : response.error,
    retry: isOk ? null : response.retry,
    events: isOk ? response.events : [],
    updated: isOk && Object.keys(response.state_updates ?? {}).length > 0,
    log_level: mostSevere(response.logs),
  };
}

const levels = ["debug", "info", "warn", "error"] as const;

function mostSevere(logs: readonly LogEntry[]): string | undefined {
  return levels[Math.max(...logs.map(({ level }) => levels.indexOf(level)))];
}
