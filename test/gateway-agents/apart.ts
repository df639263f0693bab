// The agent's turn as a plugin that knows of the gateway only what the request tells: as in a process of its own, without one.
import { readHints } from "../../src/contracts/gateway/agent/agent-hints.ts";
import { type ScriptedPlannerStep, scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import { processWorkspaces } from "../../src/gateway/agent/process/process-workspaces.ts";
import { takeTurn } from "../../src/gateway/agent/turn.ts";
import { plugin, type RecordingPlugin } from "../gateway/gateway-world.ts";

/** An agent with the name `apart`, for which every tool is routable. */
export function apart(
  script: readonly ScriptedPlannerStep[],
  {
    tools = ["tool", "other"],
    now = () => Date.now(),
  }: { readonly tools?: readonly string[]; readonly now?: () => number } = {},
): RecordingPlugin {
  const planner = scriptedPlanner(script);
  const routableTools = new Map(tools.map((name) => [name, { plugins: [name], jobs: 0 }]));
  return plugin(
    "apart",
    async (request) => {
      const { workspaceRoot: root } = readHints(request.context);
      const workspaces = processWorkspaces({ root, folder: request.workspace_dir, configuredRoot: undefined });
      const clock = () => new Date(now());
      const response = await takeTurn(request, { planner, workspaces, clock, routableTools, agentNames: new Set() });
      if (response.status === "ok") return response;
      throw Object.assign(new Error(response.error), { retry: response.retry });
    },
    { commands: ["handle", "poll", "cancel"] },
  );
}
