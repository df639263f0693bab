// What an event leads to. Reads the compiled graph and nothing else, so that a turn that is applied again routes the same.
import { AGENTIC_START } from "../../contracts/gateway/agent/correlation.ts";
import { type PipelinePlace, STEP_SUCCEEDED, SWITCH_FALSE, SWITCH_TRUE } from "../../contracts/gateway/job.ts";
import type { HookSignal, Pipeline, PipelineGraph, Step } from "../../contracts/gateway/pipelines/pipeline-graph.ts";
import type { GatewayEvent } from "../../contracts/gateway/protocol/event.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { instanceId } from "./instance-id.ts";
import { triggerMatches } from "./trigger.ts";
import { firstUses } from "./walk-graph.ts";

/** The job that emitted an event. */
export type Emitter = {
  readonly job_id: string;
  readonly plugin: string;
  readonly place: PipelinePlace | null;
  /** What its pipeline instance carries along; empty outside of pipelines. */
  readonly context: JsonMap;
  /** The event that the job ran with; null for a command that got none. */
  readonly input: GatewayEvent | null;
  /** The agent run that goes on while it emits: nothing that it emits starts another one. */
  readonly run: string | undefined;
};

/** A job that is due. */
export type Route = {
  readonly pipeline: Pipeline;
  readonly step: Step;
  readonly place: PipelinePlace;
  /** The first job of its instance, which begins with a context of its own. */
  readonly startsInstance: boolean;
  /** What the job runs with. */
  readonly event: GatewayEvent;
};

/** Why an event cannot be routed. It fails the job that emitted it, and nothing of that job is applied. */
export type Refusal = {
  readonly reason:
    | ("depth_exceeded" | "predicate_failed" | "agent_inside_run" | "step_not_found" | "baggage_failed")
    | ("tool_unroutable" | "max_tree_jobs_exceeded" | "request_dropped");
  /** Null where it is about no pipeline. */
  readonly pipeline: string | null;
  readonly step_id: string | null;
  readonly message: string;
};

/** In the order in which the jobs are queued. No routes is not an error. */
export type Resolution =
  | { readonly kind: "routed"; readonly routes: readonly Route[] }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** Steps that follow in the same instance, then the entries of every pipeline that listens for the event. */
export function resolveEvent(request: {
  readonly graph: PipelineGraph;
  readonly event: GatewayEvent;
  /** Absent for an event from outside. */
  readonly emitter?: Emitter;
}): Resolution {
  const { graph, event, emitter } = request;
  const successors = emitter?.place ? resolveSuccessors(graph, event, emitter, emitter.place) : noRoutes;
  if (staysInside(event.type)) return successors;
  const listening = [...graph.pipelines.values()].filter(
    ({ trigger }) =>
      "on" in trigger && trigger.on === event.type && isFrom(trigger.from_plugin, emitter?.plugin ?? event.source),
  );
  return join([successors, ...listening.map((pipeline) => enter(pipeline, event, emitter))]);
}

/** A step that was skipped hands its own event on, within its instance only. */
export function resolveSkipped({ graph, emitter }: { graph: PipelineGraph; emitter: Emitter }): Resolution {
  const { place, input } = emitter;
  return place && input ? resolveSuccessors(graph, input, emitter, place) : noRoutes;
}

/** The entries of every pipeline that listens for what became of a job. `event.source` is the plugin of that job. */
export function resolveHook(request: {
  readonly graph: PipelineGraph;
  readonly signal: HookSignal;
  readonly event: GatewayEvent;
}): Resolution {
  const { graph, signal, event } = request;
  const listening = [...graph.pipelines.values()].filter(
    ({ trigger }) => "on_hook" in trigger && trigger.on_hook === signal && isFrom(trigger.from_plugin, event.source),
  );
  return join(listening.map((pipeline) => enter(pipeline, event, undefined)));
}

/** The entries of one pipeline that a caller has named; `from_plugin` is about emitted events and does not count here. */
export function enterPipeline({ pipeline, event }: { pipeline: Pipeline; event: GatewayEvent }): Resolution {
  return enter(pipeline, event, undefined);
}

const noRoutes: Resolution = { kind: "routed", routes: [] };

/** Types that only say how a step came out. Routing them to listening pipelines would start those once per step. */
function staysInside(type: string): boolean {
  return type === STEP_SUCCEEDED || type === SWITCH_TRUE || type === SWITCH_FALSE;
}

/** An event may name another source than the plugin that emitted it; selectors go by the plugin. */
function isFrom(plugin: string | undefined, source: string): boolean {
  return plugin === undefined || plugin === source;
}

function resolveSuccessors(
  graph: PipelineGraph,
  event: GatewayEvent,
  emitter: Emitter,
  place: PipelinePlace,
): Resolution {
  const pipeline = graph.pipelines.get(place.pipeline);
  const step = pipeline?.steps.get(place.step_id);
  if (!pipeline || !step) {
    const message = `The pipeline "${place.pipeline}" has no step "${place.step_id}" any more.`;
    return refuse("step_not_found", place.pipeline, place.step_id, message);
  }
  const following = stepsAfter(pipeline, step, event.type);
  const [first] = following;
  if (first && pipeline.max_depth !== null && place.depth >= pipeline.max_depth) {
    const message = `The pipeline "${pipeline.name}" has a max_depth of ${pipeline.max_depth}: its step "${first.id}" would go beyond it.`;
    return refuse("depth_exceeded", pipeline.name, first.id, message);
  }
  const handedOn = step.kind === "switch" ? forwarded(emitter.input ?? event) : event;
  const next = { ...place, depth: place.depth + 1 };
  return toRoutes(pipeline, following, next, { event: handedOn, startsInstance: false, emitter });
}

function stepsAfter(pipeline: Pipeline, step: Step, type: string): readonly Step[] {
  return step.next.flatMap(({ to, when }) => {
    const follows = when === undefined || type === (when === "true" ? SWITCH_TRUE : SWITCH_FALSE);
    return (follows && pipeline.steps.get(to)) || [];
  });
}

/**
 * What a switch decides about is handed on as it was: the steps behind it see the event of the step before it. Without
 * its dedupe key, under which the switch itself has succeeded by then.
 */
function forwarded({ dedupe_key: _, ...event }: GatewayEvent): GatewayEvent {
  return event;
}

function enter(pipeline: Pipeline, event: GatewayEvent, emitter: Emitter | undefined): Resolution {
  const trigger = triggerMatches(pipeline, { payload: event.payload, context: emitter?.context ?? {} });
  if ("problem" in trigger) return refuse("predicate_failed", pipeline.name, null, trigger.problem);
  if (!trigger.matches) return noRoutes;
  const instance_id = instanceId(event.event_id, pipeline.name, emitter?.job_id);
  const entries = pipeline.entries.flatMap((id) => pipeline.steps.get(id) ?? []);
  const place = { pipeline: pipeline.name, instance_id, depth: 0 };
  return toRoutes(pipeline, entries, place, { event, startsInstance: true, emitter });
}

function toRoutes(
  pipeline: Pipeline,
  steps: readonly Step[],
  place: Omit<PipelinePlace, "step_id">,
  { event, startsInstance, emitter }: { event: GatewayEvent; startsInstance: boolean; emitter: Emitter | undefined },
): Resolution {
  if (startsRun(event) && emitter?.run !== undefined) {
    const [agent] = firstUses(
      pipeline,
      steps.map(({ id }) => id),
    ).filter(({ is_agent }) => is_agent);
    const message = `The event ${event.type} would start a run of ${agent?.plugin} from inside the run ${emitter.run}.`;
    if (agent) return refuse("agent_inside_run", pipeline.name, agent.id, message);
  }
  const { pipeline: name, instance_id, depth } = place;
  const routes = steps.map((step): Route => {
    const { id: step_id, digest } = step;
    const position = { pipeline: name, step_id, ...(digest !== undefined && { step_digest: digest }) };
    return { pipeline, step, place: { ...position, instance_id, depth }, startsInstance, event };
  });
  return { kind: "routed", routes };
}

/** Events that an agent takes for the start of a run, wherever they reach it. */
function startsRun({ type }: GatewayEvent): boolean {
  return type === AGENTIC_START || type === "api.trigger";
}

function refuse(reason: Refusal["reason"], pipeline: string, step_id: string | null, message: string): Resolution {
  return { kind: "refused", refusal: { reason, pipeline, step_id, message } };
}

/** All routes in order, each once; or the first refusal. */
function join(resolutions: readonly Resolution[]): Resolution {
  const routes = new Map<string, Route>();
  for (const resolution of resolutions) {
    if (resolution.kind === "refused") return resolution;
    for (const route of resolution.routes) {
      const { pipeline, step_id, instance_id } = route.place;
      const key = JSON.stringify([pipeline, step_id, instance_id, route.event.event_id]);
      if (!routes.has(key)) routes.set(key, route);
    }
  }
  return { kind: "routed", routes: [...routes.values()] };
}
