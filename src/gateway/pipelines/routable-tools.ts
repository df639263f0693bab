// The tools that agents can ask for.
import type { PipelineGraph } from "../../contracts/gateway/pipelines/pipeline-graph.ts";
import { requestedTool } from "./requested-tool.ts";
import { firstUses, longestChain, mostJobs } from "./walk-graph.ts";

export type RoutableTool = {
  /** What follows `agentic.tool_request.` in the event that asks for it. */
  readonly tool: string;
  /** That listen for it. */
  readonly pipelines: readonly string[];
  /** That the request reaches first, switches looked through. */
  readonly plugins: readonly string[];
  /** Jobs that follow each other in the longest of the pipelines. */
  readonly longestChain: number;
  /** Jobs of all its pipelines together when every step emits one event. */
  readonly jobs: number;
};

/** By tool, in the order of the configuration, without the pipelines that listen to another plugin than this agent. */
export function routableTools(graph: PipelineGraph, agent: string): ReadonlyMap<string, RoutableTool> {
  const tools = new Map<string, RoutableTool>();
  for (const pipeline of graph.pipelines.values()) {
    const tool = requestedTool(pipeline.trigger);
    const source = pipeline.trigger.from_plugin;
    if (tool === undefined || (source !== undefined && source !== agent)) continue;
    const known = tools.get(tool);
    const plugins = firstUses(pipeline, pipeline.entries).map(({ plugin }) => plugin);
    tools.set(tool, {
      tool,
      pipelines: [...(known?.pipelines ?? []), pipeline.name],
      plugins: [...new Set([...(known?.plugins ?? []), ...plugins])],
      longestChain: Math.max(known?.longestChain ?? 0, longestChain(pipeline)),
      jobs: (known?.jobs ?? 0) + mostJobs(pipeline),
    });
  }
  return tools;
}
