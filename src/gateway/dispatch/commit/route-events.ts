// The jobs that events lead to, each with its context: the router's answer turned into children of the job that emitted
// them. Pure.
import { resultDedupeKey } from "../../../contracts/gateway/agent/correlation.ts";
import { SWITCH_PLUGIN } from "../../../contracts/gateway/job.ts";
import type { PipelineGraph } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import type { GatewayEvent } from "../../../contracts/gateway/protocol/event.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import type { KnownPlugin } from "../../pipelines/compile/check-draft.ts";
import { prepareStep } from "../../pipelines/prepare-step.ts";
import { type Emitter, type Refusal, type Resolution, type Route, resolveEvent } from "../../pipelines/resolve.ts";
import { maxAttempts } from "../../plugins/max-attempts.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import { derivedId } from "./derived-id.ts";
import type { Child, Context, StreamEvent } from "./new-child.ts";
import { onlyChildren } from "./only-children.ts";

export type RoutingTables = {
  readonly graph: PipelineGraph;
  readonly plugins: ReadonlyMap<string, Pick<Plugin, "maxAttempts">>;
  /** What each plugin declares. */
  readonly commands: ReadonlyMap<string, Pick<KnownPlugin, "commands">>;
  /** How many hooks may follow from one another. */
  readonly hookMaxDepth: number;
};

export type Routed = {
  readonly children: readonly Child[];
  readonly contexts: readonly Context[];
  readonly stream: readonly StreamEvent[];
  readonly warnings: readonly string[];
};

export type RouteOptions = {
  readonly emitter?: Emitter;
  /** Of the emitting job, which children share as long as they claim nothing. */
  readonly contextId?: string | null;
  readonly submittedBy: string;
  /** What the gateway itself carries along in an instance that the event starts, below the key `ductile`. */
  readonly control?: (event: GatewayEvent) => JsonMap;
  /** Jobs of such an event do not count against the limit of the tree. */
  readonly isExempt?: (event: GatewayEvent) => boolean;
  /** What an event leads to in the end, given what it was routed to. */
  readonly answer?: (event: GatewayEvent, routed: Routed) => Routed | { readonly refusal: Refusal };
};

export const nothingRouted: Routed = { children: [], contexts: [], stream: [], warnings: [] };

/**
 * Routes events in order, each to a step once: plugins may choose the ids of their events, and choose one twice. The first
 * refusal stops it: nothing of the emitting job is applied then.
 */
export function routeEvents(
  events: readonly GatewayEvent[],
  tables: RoutingTables,
  options: RouteOptions,
): Routed | { readonly refusal: Refusal } {
  const routed: Routed[] = [];
  const delivered = new Set<string>();
  for (const event of events) {
    const { emitter } = options;
    const each = routeResolution(
      resolveEvent({ graph: tables.graph, event, ...(emitter && { emitter }) }),
      tables,
      options,
    );
    const answered = "refusal" in each ? each : (options.answer?.(event, each) ?? each);
    if ("refusal" in answered) return answered;
    routed.push(undelivered(answered, event, delivered));
  }
  return joinRouted(routed);
}

/** `delivered`: the ids of the children of earlier events; those of this one are added to it. */
function undelivered(routed: Routed, { event_id }: GatewayEvent, delivered: Set<string>): Routed {
  const repeated = new Set(routed.children.filter(({ id }) => delivered.has(id)));
  for (const { id } of routed.children) delivered.add(id);
  if (repeated.size === 0) return routed;
  const left = onlyChildren(routed, (child) => !repeated.has(child));
  return { ...left, warnings: [...left.warnings, ...[...repeated].map((child) => sayRepeated(event_id, child))] };
}

function sayRepeated(eventId: string, { plugin, place }: Child): string {
  const target = place ? `step "${place.step_id}" of pipeline "${place.pipeline}"` : plugin;
  return `an event with the id ${JSON.stringify(eventId)} reaches ${target} once: another one of the same answer has this id.`;
}

/** The children of one resolution. */
export function routeResolution(
  resolution: Resolution,
  tables: RoutingTables,
  options: RouteOptions,
): Routed | { readonly refusal: Refusal } {
  if (resolution.kind === "refused") return { refusal: resolution.refusal };
  const routed: Routed[] = [];
  for (const route of resolution.routes) {
    const each = toChild(route, tables, options);
    if ("refusal" in each) return each;
    routed.push(each);
  }
  return joinRouted(routed);
}

export function joinRouted(parts: readonly Routed[]): Routed {
  if (parts.length === 1 && parts[0]) return parts[0];
  return {
    children: parts.flatMap(({ children }) => children),
    contexts: parts.flatMap(({ contexts }) => contexts),
    stream: parts.flatMap(({ stream }) => stream),
    warnings: parts.flatMap(({ warnings }) => warnings),
  };
}

function toChild(route: Route, tables: RoutingTables, options: RouteOptions): Routed | { readonly refusal: Refusal } {
  const { emitter, contextId = null, submittedBy, isExempt } = options;
  const prepared = prepareStep({ route, plugins: tables.commands, ...(emitter && { emitter }) });
  if (prepared.kind === "refused") return { refusal: prepared.refusal };
  const { step, place, event, startsInstance } = route;
  const { job, warnings } = prepared;
  const id = derivedId(emitter?.job_id ?? "", event.event_id, place.pipeline, place.step_id, place.instance_id);
  const sharesContext = !startsInstance && step.baggage.length === 0;
  const control = startsInstance ? options.control?.(event) : undefined;
  const context: Context | undefined = sharesContext
    ? undefined
    : {
        id: derivedId("context", id),
        parent_id: startsInstance ? null : contextId,
        pipeline: place.pipeline,
        step_id: place.step_id,
        accumulated: control && Object.keys(control).length > 0 ? { ...job.context, ductile: control } : job.context,
      };
  const child: Child = {
    id,
    plugin: job.plugin,
    command: job.command,
    payload: job.payload,
    submitted_by: submittedBy,
    source_event_id: event.event_id,
    context_id: context ? context.id : contextId,
    place,
    dedupe_key: resultDedupeKey(event, emitter?.context) ?? null,
    max_attempts: maxAttempts(job.command, tables.plugins.get(job.plugin), step.retry?.max_attempts),
    waits_for_instance: null,
    is_exempt: isExempt?.(event) ?? false,
  };
  return { children: [child], contexts: context ? [context] : [], stream: enqueued(child, startsInstance), warnings };
}

function enqueued({ id, plugin, command, place, submitted_by }: Child, startsInstance: boolean): StreamEvent[] {
  if (plugin === SWITCH_PLUGIN && !startsInstance) return [];
  const { pipeline = null, step_id = null, instance_id = null } = place ?? {};
  const data = { job_id: id, plugin, command, pipeline, step_id, instance_id, submitted_by };
  return [
    ...(startsInstance ? [{ type: "pipeline.enqueued", data: { pipeline, instance_id, job_id: id } }] : []),
    { type: "job.enqueued", data },
  ];
}
