// What a plugin is asked (protocol v2).
import { HoldfastError } from "../../error.ts";
import { asMap, emptyMap, type Json, type JsonMap } from "../../json.ts";
import { isControlKey } from "../pipelines/context.ts";
import { expandWith } from "../pipelines/template.ts";
import type { GatewayEvent } from "./event.ts";

/** One JSON object on the plugin's stdin. */
export type PluginRequest = {
  readonly protocol: 2;
  readonly job_id: string;
  readonly command: string;
  readonly config: JsonMap;
  readonly state: JsonMap;
  /** The stored payload of the job: for `handle` the event envelope. */
  readonly payload?: JsonMap;
  readonly context?: JsonMap;
  /** The workspace of the agent run that the job belongs to. */
  readonly workspace_dir?: string;
  /** Only for `handle`; its payload also holds the keys of the context that it lacks. */
  readonly event?: GatewayEvent;
  /** RFC 3339. Informational: the gateway enforces the deadline itself. */
  readonly deadline_at: string;
};

export type RequestParts = {
  readonly jobId: string;
  readonly command: string;
  readonly config: JsonMap;
  readonly state: JsonMap;
  readonly payload?: JsonMap | undefined;
  /** What the plugin sees as context, see `visibleContext`. */
  readonly context?: JsonMap | undefined;
  readonly workspaceDir?: string | undefined;
  /** RFC 3339. */
  readonly deadlineAt: string;
  /** Templates of the step: they add to the payload and replace in it. */
  readonly with?: Readonly<Record<string, Json>> | undefined;
  /** What an event that was stored without them gets, such as the raw body of a webhook. */
  readonly event: {
    readonly type: string;
    readonly source: string;
    readonly timestamp: string;
    readonly event_id: string;
  };
};

/** The request, or why the job cannot run: that is a failure of the preflight. */
export type RequestOutcome = { readonly request: PluginRequest } | { readonly problem: string };

/** The request of one execution. */
export function buildRequest(parts: RequestParts): RequestOutcome {
  const { payload, context, workspaceDir } = parts;
  const input = parts.command === "handle" ? handleInput(parts) : customInput(parts);
  if ("problem" in input) return input;
  return {
    request: {
      protocol: 2,
      job_id: parts.jobId,
      command: parts.command,
      config: parts.config,
      state: parts.state,
      ...(payload !== undefined && { payload }),
      ...(context !== undefined && { context }),
      ...(workspaceDir !== undefined && { workspace_dir: workspaceDir }),
      ...input,
      deadline_at: parts.deadlineAt,
    },
  };
}

/** The bytes for the plugin's stdin: one line of JSON. */
export function encodeRequest(request: PluginRequest): string {
  return `${JSON.stringify(request)}\n`;
}

type Input = { readonly payload?: JsonMap; readonly event?: GatewayEvent } | { readonly problem: string };

function handleInput(parts: RequestParts): Input {
  if (parts.payload === undefined) return {};
  const envelope = openEnvelope(parts.payload, parts.event);
  if ("problem" in envelope) return envelope;
  const merged = withMissingKeys(envelope.payload, parts.context ?? emptyMap);
  const remapped = applyWith(merged, parts);
  return "problem" in remapped ? remapped : { event: { ...envelope, payload: remapped.payload } };
}

function customInput(parts: RequestParts): Input {
  if (parts.with === undefined) return {};
  return applyWith(parts.payload ?? emptyMap, parts);
}

/** The event that a stored payload is; one with neither `type` nor `payload` is the payload of an event itself. */
function openEnvelope(stored: JsonMap, defaults: RequestParts["event"]): GatewayEvent | { readonly problem: string } {
  const [type, payload] = [own(stored, "type"), own(stored, "payload")];
  if (type === undefined && payload === undefined) return { ...defaults, payload: stored };
  if (type !== undefined && typeof type !== "string") return { problem: "The type of the event is not text." };
  const map = payload === undefined ? emptyMap : asMap(payload);
  if (map === undefined) return { problem: "The payload of the event is not a JSON object." };
  const dedupeKey = ownText(stored, "dedupe_key");
  return {
    type: type ?? defaults.type,
    payload: map as JsonMap,
    ...(dedupeKey !== undefined && { dedupe_key: dedupeKey }),
    source: ownText(stored, "source") ?? defaults.source,
    timestamp: ownText(stored, "timestamp") ?? defaults.timestamp,
    event_id: ownText(stored, "event_id") ?? defaults.event_id,
  };
}

/** The payload with every key of the context that it lacks, except those of the gateway itself. */
function withMissingKeys(payload: JsonMap, context: JsonMap): JsonMap {
  const missing = Object.entries(context).filter(([key]) => !Object.hasOwn(payload, key) && !isControlKey(key));
  return missing.length === 0 ? payload : { ...payload, ...Object.fromEntries(missing) };
}

function applyWith(
  payload: JsonMap,
  parts: RequestParts,
): { readonly payload: JsonMap } | { readonly problem: string } {
  if (parts.with === undefined) return { payload };
  try {
    const scope = { payload, context: parts.context ?? emptyMap };
    return { payload: { ...payload, ...expandWith(parts.with, scope) } };
  } catch (thrown) {
    if (thrown instanceof HoldfastError) return { problem: thrown.detail };
    throw thrown;
  }
}

// A key that holds null counts as absent, as it does for plugins.
function own(map: JsonMap, key: string): Json | undefined {
  const value = Object.hasOwn(map, key) ? map[key] : undefined;
  return value === null ? undefined : value;
}

function ownText(map: JsonMap, key: string): string | undefined {
  const value = own(map, key);
  return typeof value === "string" && value !== "" ? value : undefined;
}
