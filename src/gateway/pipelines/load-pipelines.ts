// All pipelines of a configuration.
import type { PipelineGraph } from "../../contracts/gateway/pipelines/pipeline-graph.ts";
import type { LocatedProblem, LocatedValue } from "../../yaml/place.ts";
import type { KnownPlugin } from "./compile/check-draft.ts";
import { compilePipelines } from "./compile/compile.ts";
import { parsePipelines } from "./read/parse-pipelines.ts";
import { parseRoutes } from "./read/routes.ts";

export type LoadedPipelines =
  | { readonly graph: PipelineGraph; readonly warnings: readonly LocatedProblem[] }
  | { readonly problems: readonly LocatedProblem[] };

/** Reads and compiles `pipelines:` and `routes:`. Names are only looked up once everything is well formed. */
export function loadPipelines(sources: {
  readonly pipelineSources: readonly LocatedValue[];
  readonly routeSources: readonly LocatedValue[];
  /** By name or alias. */
  readonly plugins: ReadonlyMap<string, KnownPlugin>;
}): LoadedPipelines {
  const pipelines = parsePipelines(sources.pipelineSources);
  const routes = parseRoutes(sources.routeSources);
  if ("problems" in pipelines || "problems" in routes) {
    return { problems: [pipelines, routes].flatMap((parsed) => ("problems" in parsed ? parsed.problems : [])) };
  }
  const compiled = compilePipelines([...pipelines.drafts, ...routes.drafts], sources);
  if ("problems" in compiled) return compiled;
  return { graph: compiled.graph, warnings: [...routes.warnings, ...compiled.warnings] };
}
