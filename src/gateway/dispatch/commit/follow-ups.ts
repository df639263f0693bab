// What the end of a job leads to besides its own events: the failure bridge to an agent, the dead letter, lifecycle hooks.
import { readCorrelation } from "../../../contracts/gateway/agent/correlation.ts";
import type { EndedStatus } from "../../../contracts/gateway/job.ts";
import type { HookSignal } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import { completeEvent, type GatewayEvent } from "../../../contracts/gateway/protocol/event.ts";
import { isMap, type JsonMap } from "../../../contracts/json.ts";
import { runMark, runOfContext } from "../../pipelines/inside-run.ts";
import { resolveEvent, resolveHook } from "../../pipelines/resolve.ts";
import type { ExecutedJob } from "../execute/executed-job.ts";
import type { Failure } from "../execute/settle.ts";
import { bridgeEvent, bridgeJob } from "./bridge.ts";
import { derivedId } from "./derived-id.ts";
import type { Child } from "./new-child.ts";
import { joinRouted, nothingRouted, type Routed, type RoutingTables, routeResolution } from "./route-events.ts";

export const DEAD_LETTER = "dead_letter";

type Ended = { readonly status: EndedStatus; readonly now: string };

/** Of a job that has ended without success. */
export function afterFailure(job: ExecutedJob, failure: Failure & Ended, tables: RoutingTables): Routed {
  const { status, error, reason, now } = failure;
  const signal: HookSignal = status === "timed_out" ? "job.timed_out" : "job.failed";
  const bridge = bridgeFor(job, failure, tables);
  return joinRouted([
    bridge ? { ...nothingRouted, children: [bridge] } : nothingRouted,
    deadLetter(job, { status, error, reason, now }, tables),
    afterHook(job, { signal, status, error, reason, now, run: runOfContext(job.context) }, tables),
  ]);
}

/** The agent that waits for this job is called with the failure, once no other job of the instance can answer it. */
function bridgeFor(job: ExecutedJob, failure: Failure & Ended, tables: RoutingTables): Child | undefined {
  // A turn that fails is not answered with another turn: the reaper finds its run.
  if (job.isAgent || job.step?.on_error === "none") return undefined;
  const permanent = !failure.retryable;
  const { error, refusal, now } = failure;
  const bridge = bridgeEvent(job.context, { error, permanent, reason: refusal, completed_at: now });
  // Any plugin that emitted a tool request gets its failure once: a plugin that fails on that result gets no second one.
  if (!bridge || bridge.agent === job.plugin) return undefined;
  const event = internalEvent(job, bridge.type, bridge.payload, now, bridge.dedupe_key);
  const about = { id: derivedId("bridge", job.id), context_id: job.context_id };
  return bridgeJob(
    { ...about, agent: bridge.agent, event, waits_for_instance: job.place?.instance_id ?? null },
    tables,
  );
}

/** Pipelines that listen for dead letters; a job of such a pipeline has none itself. */
function deadLetter(job: ExecutedJob, about: JsonMap & { readonly now: string }, tables: RoutingTables): Routed {
  const pipeline = job.place ? tables.graph.pipelines.get(job.place.pipeline) : undefined;
  if (pipeline && "on" in pipeline.trigger && pipeline.trigger.on === DEAD_LETTER) return nothingRouted;
  const { now, ...rest } = about;
  const payload = { ...describeJob(job), ...rest, event: job.input ? { ...job.input } : null };
  const event = internalEvent(job, DEAD_LETTER, payload, now);
  const resolution = resolveEvent({ graph: tables.graph, event });
  const control = () => runMark(runOfContext(job.context));
  const routed = routeResolution(resolution, tables, { submittedBy: DEAD_LETTER, control });
  return "refusal" in routed ? { ...nothingRouted, warnings: [routed.refusal.message] } : routed;
}

/** What became of a job, and the agent run that goes on after it. */
type Hooked = {
  readonly signal: HookSignal;
  readonly now: string;
  readonly run: string | undefined;
  readonly status: string;
  readonly result?: string;
  readonly error?: string;
  readonly reason?: string;
};

/** Lifecycle hooks concern jobs that were submitted from outside and run in no pipeline, and jobs that a hook has begun. */
export function afterHook(job: ExecutedJob, { signal, now, run, ...about }: Hooked, tables: RoutingTables): Routed {
  const depth = hookDepth(job);
  if (!job.notifiesOnComplete || depth === undefined || readCorrelation(job.context) !== undefined)
    return nothingRouted;
  const event = internalEvent(job, signal, { ...describeJob(job), ...about }, now);
  const resolution = resolveHook({ graph: tables.graph, signal, event });
  const control = () => ({ hook_depth: depth + 1, ...runMark(run) });
  const routed = routeResolution(resolution, tables, { submittedBy: "hook", control });
  if ("refusal" in routed) return { ...nothingRouted, warnings: [routed.refusal.message] };
  if (routed.children.length === 0 || depth < tables.hookMaxDepth) return routed;
  const most = tables.hookMaxDepth;
  const warning = `The hook ${signal} of job ${job.id} starts nothing: ${depth} hooks have led to it, ${most} are the most.`;
  const entry = { type: "router.depth_exceeded", data: { ...describeJob(job), hook: signal } };
  return { ...nothingRouted, stream: [entry], warnings: [warning] };
}

/** How many hooks have led to a job; undefined for a step of a pipeline that no hook has begun with it. */
function hookDepth({ place, context }: ExecutedJob): number | undefined {
  if (place === null) return 0;
  const { ductile: control } = context;
  const depth = isMap(control) ? control.hook_depth : undefined;
  return place.depth === 0 && typeof depth === "number" ? depth : undefined;
}

function describeJob({ id, plugin, command, place }: ExecutedJob): JsonMap {
  return { job_id: id, plugin, command, pipeline: place?.pipeline ?? null, step_id: place?.step_id ?? null };
}

function internalEvent(
  job: ExecutedJob,
  type: string,
  payload: JsonMap,
  now: string,
  dedupe_key?: string,
): GatewayEvent {
  const emitted = { type, payload, event_id: derivedId(type, job.id), ...(dedupe_key !== undefined && { dedupe_key }) };
  return completeEvent(emitted, { source: job.plugin, timestamp: now, jobId: job.id, index: 0 });
}
