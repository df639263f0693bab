// The tools that an agent may be routed to, with their descriptions for its planner.

import type { RoutableTool } from "../../agent/tools.ts";
import { routableTools } from "../../pipelines/routable-tools.ts";
import type { Snapshot } from "../snapshot.ts";

/** By the suffix of the event that requests them. */
export function readRoutableTools({ graph, plugins }: Snapshot, agent: string): ReadonlyMap<string, RoutableTool> {
  return new Map(
    [...routableTools(graph, agent)].map(([tool, { plugins: names, jobs }]) => {
      const manifest = plugins.get(names[0] ?? "")?.manifest;
      const commands = manifest?.commands.map(({ name, description, input_schema }) => ({
        ...{ name, description },
        ...(input_schema && { input_schema }),
      }));
      return [tool, { plugins: names, jobs, description: manifest?.description ?? "", commands: commands ?? [] }];
    }),
  );
}
