// What a turn needs from outside, and what it knows from the beginning.
import { type AgentHints, readHints } from "../../contracts/gateway/agent/agent-hints.ts";
import { AGENT_PLUGIN } from "../../contracts/gateway/agent/agentic-event.ts";
import type { PluginRequest } from "../../contracts/gateway/protocol/request.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { type AgentConfig, readAgentConfig } from "./agent-config.ts";
import type { Planner, PlannerOptions } from "./planner/planner.ts";
import type { RoutableTool, ToolRules } from "./tools.ts";
import type { AgentWorkspaces } from "./workspace/workspace.ts";

export type TurnPorts = {
  readonly planner: Planner;
  readonly workspaces: AgentWorkspaces;
  readonly clock: () => Date;
  /** By the suffix of their requests' type. */
  readonly routableTools: ReadonlyMap<string, RoutableTool>;
  /** Every agent of the gateway. The one whose turn it is need not be among them. */
  readonly agentNames: ReadonlySet<string>;
  /** Fires when nothing of the turn is wanted any more; it then neither writes nor answers. */
  readonly signal?: AbortSignal;
};

/** One turn: what it was asked, and what it goes by. */
export type Turn = {
  readonly request: PluginRequest;
  readonly ports: TurnPorts;
  readonly config: AgentConfig;
  readonly rules: ToolRules;
  readonly state: JsonMap;
  readonly hints: AgentHints;
  readonly now: string;
};

export function beginTurn(request: PluginRequest, ports: TurnPorts): Turn {
  const config = readAgentConfig(request.config);
  const { ductile_plugin: ownName } = request.context ?? {};
  const agentNames = new Set([...ports.agentNames, AGENT_PLUGIN, ...(typeof ownName === "string" ? [ownName] : [])]);
  const { routableTools } = ports;
  const rules = { config, routableTools, agentNames };
  const hints = readHints(request.context);
  return { request, ports, config, rules, state: request.state, hints, now: timestamp(ports.clock()) };
}

export function plannerOptions({ ports }: Turn): PlannerOptions {
  return ports.signal ? { signal: ports.signal } : {};
}

/** ISO 8601, UTC; without a fraction where there is none. */
function timestamp(date: Date): string {
  return date.toISOString().replace(".000Z", "Z");
}
