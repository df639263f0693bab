// Which tools an agent may request, and the catalogue that its planner sees.
import type { AgentConfig } from "./agent-config.ts";
import type { CatalogueTool } from "./planner/planner.ts";

/** A tool whose requests a pipeline listens to, by the suffix of their type. */
export type RoutableTool = {
  /** The plugins that such a request runs first. */
  readonly plugins: readonly string[];
  /** How many jobs one request adds to the tree until the agent has resumed. */
  readonly jobs: number;
  readonly description?: string;
  readonly commands?: CatalogueTool["commands"];
};

export type ToolRules = {
  readonly config: AgentConfig;
  readonly routableTools: ReadonlyMap<string, RoutableTool>;
  /** Every agent of the gateway, this one included: none is a tool. */
  readonly agentNames: ReadonlySet<string>;
};

export type ToolCheck =
  | { readonly outcome: "usable"; readonly route: string; readonly tool: RoutableTool }
  | { readonly outcome: "not_allowed" }
  | { readonly outcome: "unroutable" };

/** Whether a tool may be requested now. Both its own name and the one that selects its pipeline have to be allowed. */
export function checkTool(name: string, { config, routableTools, agentNames }: ToolRules): ToolCheck {
  const route = config.tool_routes.get(name) ?? name;
  const isAllowed = (each: string) => config.allowed_plugins.has(each) && !agentNames.has(each);
  if (!isAllowed(name) || !isAllowed(route)) return { outcome: "not_allowed" };
  const tool = routableTools.get(route);
  if (!tool) return { outcome: "unroutable" };
  if (tool.plugins.some((plugin) => agentNames.has(plugin))) return { outcome: "not_allowed" };
  return { outcome: "usable", route, tool };
}

/** The tools that may be requested now. One that another tool is routed to is listed under that tool's name. */
export function catalogueOf(rules: ToolRules): readonly CatalogueTool[] {
  const { allowed_plugins, tool_routes } = rules.config;
  const isUsable = (tool: string) => checkTool(tool, rules).outcome === "usable";
  const behindOthers = new Set([...tool_routes].flatMap(([tool, route]) => (isUsable(tool) ? [route] : [])));
  return [...allowed_plugins].flatMap((name) => {
    const check = checkTool(name, rules);
    if (check.outcome !== "usable") return [];
    if (behindOthers.has(name) && !tool_routes.has(name)) return [];
    const { description = "", commands = [] } = check.tool;
    return [{ name, description, commands }];
  });
}
