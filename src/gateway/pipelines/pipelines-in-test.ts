// For tests: pipelines from YAML, the plugins they use, and events on their way through them.

import type { Pipeline, PipelineGraph } from "../../contracts/gateway/pipelines/pipeline-graph.ts";
import type { GatewayEvent } from "../../contracts/gateway/protocol/event.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { LocatedProblem, LocatedValue } from "../../yaml/place.ts";
import { readYaml } from "../../yaml/read-yaml.ts";
import type { KnownPlugin } from "./compile/check-draft.ts";
import { runOfContext } from "./inside-run.ts";
import { loadPipelines } from "./load-pipelines.ts";
import type { Emitter, Resolution, Route } from "./resolve.ts";

const tool = (base: string, ...commands: string[]): KnownPlugin => ({
  base,
  commands: ["handle", "health", ...commands],
  isAgent: false,
});

/** Tools `a` to `d`, those of the RFC, and its agent. */
export const plugins: ReadonlyMap<string, KnownPlugin> = new Map([
  ...["a", "b", "c", "d", "echo"].map((name) => [name, tool(name)] as const),
  ["jina-reader", tool("fetch", "head")],
  ["fabric", tool("files", "write")],
  ["agentic-loop", { base: "agentic-loop", commands: ["handle", "poll", "health"], isAgent: true }],
  ["reporter", { base: "reporter", commands: ["report"], isAgent: false }],
]);

/** The pipelines of the RFC, as they stand there. */
export const rfcPipelines = `
- name: agentic-tool-fetch
  on: agentic.tool_request.jina-reader
  steps:
    - id: fetch
      uses: jina-reader
    - id: resume
      uses: agentic-loop

- name: agentic-tool-fabric
  on: agentic.tool_request.fabric
  steps:
    - id: fabric
      uses: fabric
    - id: resume
      uses: agentic-loop
`;

export function located(yaml: string): LocatedValue {
  const read = readYaml(yaml, "pipelines.yaml");
  if ("problems" in read) throw new Error(read.problems.map(show).join("\n"));
  return read.value;
}

function load(pipelines: string, routes?: string) {
  const routeSources = routes === undefined ? [] : [located(routes)];
  return loadPipelines({ pipelineSources: [located(pipelines)], routeSources, plugins });
}

/** The problems of `pipelines:`, each as `line:column message`; empty when there are none. */
export function problemsOf(pipelines: string, routes?: string): readonly string[] {
  const loaded = load(pipelines, routes);
  return "problems" in loaded ? loaded.problems.map(show) : [];
}

export function warningsOf(pipelines: string, routes?: string): readonly string[] {
  const loaded = load(pipelines, routes);
  if ("problems" in loaded) throw new Error(loaded.problems.map(show).join("\n"));
  return loaded.warnings.map(show);
}

function show({ line, column, message }: LocatedProblem): string {
  return `${line}:${column} ${message}`;
}

export function graphOf(pipelines: string, routes?: string): PipelineGraph {
  const loaded = load(pipelines, routes);
  if ("problems" in loaded) throw new Error(loaded.problems.map(show).join("\n"));
  return loaded.graph;
}

export function pipelineOf(graph: PipelineGraph, name: string): Pipeline {
  const pipeline = graph.pipelines.get(name);
  if (!pipeline) throw new Error(`There is no pipeline ${name}.`);
  return pipeline;
}

/** The edges of a pipeline, as `-> a`, `a -> b` and `a -true-> b`. */
export function edgesOf(graph: PipelineGraph, name: string): readonly string[] {
  const { entries, steps } = pipelineOf(graph, name);
  const edges = [...steps.values()].flatMap(({ id, next }) =>
    next.map(({ to, when }) => (when ? `${id} -${when}-> ${to}` : `${id} -> ${to}`)),
  );
  return [...entries.map((id) => `-> ${id}`), ...edges];
}

export function event(type: string, payload: JsonMap = {}, more: Partial<GatewayEvent> = {}): GatewayEvent {
  return { type, payload, source: "a", timestamp: "2026-02-16T12:00:00Z", event_id: "event-1", ...more };
}

export function toolRequest(tool: string, payload: JsonMap = {}): GatewayEvent {
  const correlation = { run_id: "R1", step: 1, tool, tool_command: "handle", attempt: 1 };
  return event(`agentic.tool_request.${tool}`, { url: "u", ...correlation, ...payload }, { source: "agentic-loop" });
}

/** The job of a route, as it emits something. */
export function jobOf(route: Route, context: JsonMap = {}): Emitter {
  return {
    job_id: `job of ${route.step.id}`,
    plugin: route.step.plugin,
    place: route.place,
    context,
    input: route.event,
    run: runOfContext(context),
  };
}

export function routesOf(resolution: Resolution): readonly Route[] {
  if (resolution.kind === "refused") throw new Error(resolution.refusal.message);
  return resolution.routes;
}

/** The single route of a resolution. */
export function onlyRoute(resolution: Resolution): Route {
  const [route, ...others] = routesOf(resolution);
  if (!route || others.length > 0) throw new Error(`There are ${others.length + (route ? 1 : 0)} routes.`);
  return route;
}

/** Routes as `pipeline/step@depth`. */
export function placesOf(resolution: Resolution): readonly string[] {
  return routesOf(resolution).map(({ place }) => `${place.pipeline}/${place.step_id}@${place.depth}`);
}
