// What the gateway tells an agent with each request, beside what a pipeline carries along. Another gateway may tell none of
// it: then there is room for every request, and no time was paused.
import { isMap, type JsonMap } from "../../json.ts";

export type AgentHints = {
  /** The folder of all workspaces, absolute. */
  readonly workspaceRoot?: string;
  /** How many jobs the tree of this job may still grow by. */
  readonly treeJobsLeft?: number;
  /** By run: how many milliseconds the dispatcher was paused since the run waits for its tool. */
  readonly pausedMs?: ReadonlyMap<string, number>;
};

/** As keys of the context. */
export function hintContext({ workspaceRoot, treeJobsLeft, pausedMs }: AgentHints): JsonMap {
  return {
    ...(workspaceRoot !== undefined && { ductile_workspace_root: workspaceRoot }),
    ...(treeJobsLeft !== undefined && { ductile_tree_jobs_left: treeJobsLeft }),
    ...(pausedMs !== undefined && { ductile_paused_ms: Object.fromEntries(pausedMs) }),
  };
}

export function readHints(context: JsonMap = {}): AgentHints {
  const { ductile_workspace_root: root, ductile_tree_jobs_left: left, ductile_paused_ms: paused } = context;
  const times = Object.entries(isMap(paused) ? paused : {});
  return {
    ...(typeof root === "string" && root !== "" && { workspaceRoot: root }),
    ...(typeof left === "number" && { treeJobsLeft: left }),
    pausedMs: new Map(times.flatMap(([id, ms]): [string, number][] => (typeof ms === "number" ? [[id, ms]] : []))),
  };
}
