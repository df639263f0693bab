// How many jobs one tree may have unless the configuration says otherwise.
import type { Pipeline, PipelineGraph } from "../../contracts/gateway/pipelines/pipeline-graph.ts";
import { readAgentConfig } from "../agent/agent-config.ts";
import { routableTools } from "../pipelines/routable-tools.ts";
import { mostJobs } from "../pipelines/walk-graph.ts";
import type { Plugin } from "../plugins/plugin.ts";
import { DEAD_LETTER } from "./commit/follow-ups.ts";

const LEAST = 1_000;

/** What is counted on for a request at least: a pipeline of five steps, each with an `if`, which is a job of its own. */
const JOBS_OF_A_REQUEST = 11;

/**
 * Enough for every agent at its step ceiling with the pipelines that there are. A request costs the jobs of the pipelines
 * that take it, and those of the dead letters where the tool fails; each step of a run may be requested in all its
 * attempts. Twice that, because a tool may emit several events, and at least 1000.
 */
export function maxTreeJobs(
  plugins: Iterable<Pick<Plugin, "name" | "isAgent" | "config">>,
  graph: PipelineGraph,
): number {
  const deadLetters = sum([...graph.pipelines.values()].filter(isForDeadLetters).map(mostJobs));
  let most = LEAST;
  for (const { name, isAgent, config } of plugins) {
    if (!isAgent) continue;
    const { max_steps, max_attempts_per_step, allowed_plugins } = readAgentConfig(config);
    const tools = [...routableTools(graph, name).values()].filter(({ tool }) => allowed_plugins.has(tool));
    const perRequest = Math.max(JOBS_OF_A_REQUEST, ...tools.map(({ jobs }) => jobs + deadLetters));
    most = Math.max(most, 2 * (1 + max_steps * max_attempts_per_step * perRequest));
  }
  return Math.min(most, Number.MAX_SAFE_INTEGER);
}

function isForDeadLetters({ trigger }: Pipeline): boolean {
  return "on" in trigger && trigger.on === DEAD_LETTER;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
