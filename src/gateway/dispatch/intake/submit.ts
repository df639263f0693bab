// What comes in from outside becomes the first jobs of trees: events, calls of plugins, pipelines, agent runs.
import type { EnqueueOutcome, NewContext, NewJob } from "../../../backend/gateway/job-store.ts";
import { holdfastError } from "../../../contracts/error.ts";
import { AGENTIC_START } from "../../../contracts/gateway/agent/correlation.ts";
import type { Pipeline } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import { type GatewayEvent, isReservedForOutside } from "../../../contracts/gateway/protocol/event.ts";
import { isMap, type JsonMap, snapshotMap } from "../../../contracts/json.ts";
import type { NewEvent, Submitted, Submitter } from "../../gateway.ts";
import { personId } from "../../person.ts";
import { enterPipeline, type Resolution, resolveEvent } from "../../pipelines/resolve.ts";
import { maxAttempts } from "../../plugins/max-attempts.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import { droppedJob } from "../commit/dropped-job.ts";
import type { Child, Context, StreamEvent } from "../commit/new-child.ts";
import { type Routed, routeResolution } from "../commit/route-events.ts";
import { storeChild, storeContext } from "../commit/store-child.ts";
import { storeEntry } from "../commit/store-commit.ts";
import type { DispatchDeps } from "../deps.ts";
import type { Snapshot } from "../snapshot.ts";

type SubmitDeps = Pick<DispatchDeps, "jobs" | "sealed" | "redact" | "now" | "log" | "onCrashPoint">;

/** Routes an event to the pipelines that listen. */
export async function submitEvent(
  deps: SubmitDeps,
  snapshot: Snapshot,
  event: NewEvent,
  by: Submitter,
): Promise<Submitted> {
  checkEvent(event);
  if (isReservedForOutside(event.type)) throw reserved(deps, event.type, by);
  const resolution = resolveEvent({ graph: snapshot.graph, event: incoming(deps, event, by) });
  return await enqueueRouted(deps, snapshot, routed(snapshot, resolution, by), by);
}

/** Starts one pipeline with an event of its own trigger type. */
export async function submitPipeline(
  deps: SubmitDeps,
  snapshot: Snapshot,
  pipeline: Pipeline,
  input: Pick<NewEvent, "payload" | "dedupe_key">,
  { by, isSingle }: { readonly by: Submitter; readonly isSingle: boolean },
): Promise<Submitted> {
  const type = "on" in pipeline.trigger ? pipeline.trigger.on : pipeline.trigger.on_hook;
  const event = { ...input, type };
  checkEvent(event);
  if (isReservedForOutside(type)) throw reserved(deps, type, by);
  const entered = routed(snapshot, enterPipeline({ pipeline, event: incoming(deps, event, by) }), by);
  if (isSingle && entered.children.length > 1) {
    const detail = `The pipeline "${pipeline.name}" starts ${entered.children.length} jobs at once.`;
    throw holdfastError("pipeline_ambiguous", detail);
  }
  return await enqueueRouted(deps, snapshot, entered, by);
}

export type OnceKey = { readonly parts: readonly string[]; readonly keepMs: number };

/** Queues one command of a plugin, outside of pipelines. The payload of `handle` becomes an event. */
export async function submitCall(
  deps: SubmitDeps,
  snapshot: Snapshot,
  call: {
    readonly plugin: Plugin;
    readonly command: string;
    readonly payload: JsonMap;
    readonly dedupe_key?: string;
    /** Taken for its time with the job, whatever becomes of that; a second call with it adds none. */
    readonly once?: OnceKey;
    /** Of the event that `handle` gets; the payload is stored as it is where it is null. */
    readonly eventType: string | null;
  },
  by: Submitter,
): Promise<Submitted> {
  const { plugin, command, eventType, dedupe_key, once } = call;
  requireCommand(plugin, command);
  const event =
    command === "handle" && eventType !== null
      ? incoming(deps, { type: eventType, payload: call.payload, ...(dedupe_key !== undefined && { dedupe_key }) }, by)
      : undefined;
  const child: Child = {
    id: crypto.randomUUID(),
    plugin: plugin.name,
    command,
    payload: event ? { ...event } : call.payload,
    submitted_by: by.via,
    source_event_id: event?.event_id ?? null,
    context_id: null,
    place: null,
    dedupe_key: dedupe_key ?? null,
    max_attempts: maxAttempts(command, plugin),
    waits_for_instance: null,
    is_exempt: false,
  };
  const data = { job_id: child.id, plugin: child.plugin, command, submitted_by: by.via };
  const only = { children: [child], contexts: [], stream: [{ type: "job.enqueued", data }], warnings: [] };
  return await enqueueRouted(deps, snapshot, only, by, once);
}

/** The start event of an agent run. */
export function startPayload(input: {
  readonly goal: string;
  readonly context?: JsonMap;
  readonly run_id?: string;
}): JsonMap {
  const { goal, context, run_id } = input;
  return { goal, ...(context && { context }), ...(run_id !== undefined && { run_id }) };
}

export const START_EVENT = AGENTIC_START;

/** The plugin of a name. */
export function findPlugin({ plugins }: Snapshot, name: string): Plugin {
  const plugin = plugins.get(name);
  if (!plugin) throw holdfastError("plugin_not_found", `There is no plugin "${name}".`);
  return plugin;
}

/** Throws `plugin_command_not_found`. */
export function requireCommand({ name, manifest }: Plugin, command: string): void {
  if (manifest.commands.some((each) => each.name === command)) return;
  throw holdfastError("plugin_command_not_found", `The plugin ${name} declares no command "${command}".`);
}

/** What is said of an event that only the gateway and its agents emit. It is logged, whatever it came in by. */
export function reserved({ log }: Pick<SubmitDeps, "log">, type: string, { via }: Submitter) {
  const message = `an event of type ${JSON.stringify(type)} was refused: ${via} may not send it`;
  log("warn", message, { id: "", plugin: via, command: "emit" });
  return holdfastError("event_reserved", `Events of type ${JSON.stringify(type)} are not accepted from outside.`);
}

function checkEvent({ type, payload }: NewEvent): void {
  if (typeof type !== "string" || type.trim() === "") throw holdfastError("invalid_event", "The event has no type.");
  if (!isMap(payload)) throw holdfastError("invalid_event", "The payload of the event is not a JSON object.");
}

function incoming({ now }: SubmitDeps, { type, payload, dedupe_key }: NewEvent, by: Submitter): GatewayEvent {
  const key = dedupe_key?.trim();
  return {
    type: type.trim(),
    payload: snapshotMap(payload),
    ...(key && { dedupe_key: key }),
    source: by.via,
    timestamp: new Date(now()).toISOString(),
    event_id: crypto.randomUUID(),
  };
}

function routed(snapshot: Snapshot, resolution: Resolution, by: Submitter): Routed {
  const result = routeResolution(resolution, snapshot.tables, { submittedBy: by.via });
  if ("refusal" in result) throw holdfastError("invalid_event", result.refusal.message);
  return result;
}

/** Every job from outside is the root of a tree of its own. */
async function enqueueRouted(
  { jobs, sealed, redact, log, onCrashPoint }: SubmitDeps,
  { config }: Snapshot,
  { children, contexts, stream }: Pick<Routed, "children" | "contexts" | "stream">,
  by: Submitter,
  once?: OnceKey,
): Promise<Submitted> {
  const user_id = by.user_id == null ? null : personId(by.user_id);
  if (children.length === 0) return { job_ids: [], duplicates: [] };
  const options = { sealed, dedupeKeepUs: config.service.dedupe_ttl_ms * 1_000 };
  const kept = once && { hash: sealed.digest(JSON.stringify(["once", ...once.parts])), keep_us: once.keepMs * 1_000 };
  const rows = children.map(
    (child): NewJob => ({
      ...storeChild(child, { parent_job_id: null, root_job_id: child.id, user_id }, options),
      ...(kept && { once: kept }),
    }),
  );
  await onCrashPoint("before enqueue job");
  const outcomes = await jobs.enqueue(rows, {
    contexts: contexts.map((context) => storeContext(context, rootOf(context, children), sealed)),
    stream: stream.map((entry: StreamEvent) => storeEntry(entry, null, redact)),
  });
  await onCrashPoint("after enqueue job");
  for (const [index, child] of children.entries()) {
    const outcome = outcomes[index];
    if (outcome?.outcome !== "duplicate") continue;
    const { existing_job_id } = outcome;
    log("info", droppedJob(child, existing_job_id), { ...child, id: existing_job_id ?? "" });
  }
  return summarise(outcomes);
}

function rootOf({ id }: Context, children: readonly Child[]): NewContext["root_job_id"] {
  return children.find(({ context_id }) => context_id === id)?.id ?? id;
}

function summarise(outcomes: readonly EnqueueOutcome[]): Submitted {
  return {
    job_ids: outcomes.flatMap((each) => (each.outcome === "queued" ? [each.job_id] : [])),
    duplicates: outcomes.flatMap((each) => (each.outcome === "duplicate" ? [each.existing_job_id] : [])),
  };
}
