// Which pipelines answer the tool requests of agents.
import { toolRequestSuffix } from "../../contracts/gateway/agent/correlation.ts";
import type { Trigger } from "../../contracts/gateway/pipelines/pipeline-graph.ts";

/** The tool whose requests start the pipeline; undefined for every other trigger. */
export function requestedTool(trigger: Trigger): string | undefined {
  return "on" in trigger ? toolRequestSuffix(trigger.on) : undefined;
}
