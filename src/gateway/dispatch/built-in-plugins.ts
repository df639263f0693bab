// The shipped plugins that run inside the gateway: the agent.
import { fileURLToPath } from "node:url";
import { AGENT_PLUGIN } from "../../contracts/gateway/agent/agentic-event.ts";
import type { PluginRequest } from "../../contracts/gateway/protocol/request.ts";
import { createAgentPlugin } from "../agent/agent-plugin.ts";
import type { Planner } from "../agent/planner/planner.ts";
import type { BuiltInPlugin } from "../plugins/resolve-plugins.ts";
import { readRoutableTools } from "./agents/routable-tools.ts";
import type { RunningGateway } from "./running-gateway.ts";

/** The folder of the plugins that are shipped: searched after the configured ones. */
export const SHIPPED_PLUGINS = fileURLToPath(new URL("../../../plugins", import.meta.url));

export type BuiltInOptions = {
  /** What decides for agents; made for a turn that needs it. */
  readonly planner: Planner | ((request: PluginRequest) => Promise<Planner> | Planner);
  /** Absolute. */
  readonly workspaceRoot: string;
  readonly now: () => number;
};

export function builtInPlugins(
  { snapshot }: RunningGateway,
  { planner, workspaceRoot, now }: BuiltInOptions,
): ReadonlyMap<string, BuiltInPlugin> {
  const agent = createAgentPlugin({
    planner,
    workspaceRoot,
    routableTools: (name) => readRoutableTools(snapshot(), name),
    agentNames: () => new Set([...snapshot().plugins.values()].flatMap(({ name, isAgent }) => (isAgent ? [name] : []))),
    now: () => new Date(now()),
  });
  const folder = `${SHIPPED_PLUGINS}/${AGENT_PLUGIN}`;
  return new Map([
    [AGENT_PLUGIN, { manifest: agent.manifest, folder, run: (request, options) => agent.run(request, options) }],
  ]);
}
