// Events: what plugins emit, and what the gateway makes of them before they are routed.
import { createHash } from "node:crypto";
import type { JsonMap } from "../../json.ts";
import { isName } from "../../storable-name.ts";

/** An event as a plugin wrote it into its response. */
export type EmittedEvent = {
  readonly type: string;
  readonly payload: JsonMap;
  readonly dedupe_key?: string;
  readonly source?: string;
  readonly timestamp?: string;
  readonly event_id?: string;
};

/** An event that can be routed and stored: everything that the gateway adds is there. */
export type GatewayEvent = {
  readonly type: string;
  readonly payload: JsonMap;
  readonly dedupe_key?: string;
  /** The plugin that emitted it, or the way it came in: `api`, `webhook:<path>`, `cli`. */
  readonly source: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly event_id: string;
};

/** Where an event comes from. */
export type EventOrigin = {
  /** The plugin that emitted it, or the way it came in. */
  readonly source: string;
  /** ISO 8601, UTC: when the response was applied, or when the event came in. */
  readonly timestamp: string;
  readonly jobId: string;
  /** Of the event among those of the response, from 0. */
  readonly index: number;
};

/** The event with everything that the plugin left out. A job that is applied again yields the same ids. */
export function completeEvent(emitted: EmittedEvent, { source, timestamp, jobId, index }: EventOrigin): GatewayEvent {
  const dedupeKey = emitted.dedupe_key?.trim();
  return {
    type: emitted.type.trim(),
    payload: emitted.payload,
    ...(dedupeKey && { dedupe_key: dedupeKey }),
    source: named(emitted.source) ?? source,
    timestamp: utcTime(emitted.timestamp) ?? timestamp,
    event_id: named(emitted.event_id) ?? eventId(jobId, index),
  };
}

// Made up once for this project: ids derived from it meet no others.
const EVENT_NAMESPACE = Buffer.from("6f0d3a2c5b1e4c0f9a7d3e8b41c6d952", "hex");

/** The id of the event that a job emitted at a place: a UUID of version 5, always the same for the two. */
export function eventId(jobId: string, index: number): string {
  const digest = createHash("sha1").update(EVENT_NAMESPACE).update(`${jobId}\n${index}`).digest();
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  return digest.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const reservedTypes = ["agentic.tool_result", "agentic.tool_request", "dead_letter"];

const reservedNamespaces = [
  ...["agentic.tool_result.", "agentic.tool_request.", "agent.", "dead_letter."],
  ...["ductile.", "gateway.", "job.", "router.", "scheduler.", "pipeline.", "plugin.", "poll."],
];

/** True for types that are only emitted inside the gateway: every way in from outside refuses them. */
export function isReservedForOutside(type: string): boolean {
  const name = type.trim().toLowerCase();
  return reservedTypes.includes(name) || reservedNamespaces.some((namespace) => name.startsWith(namespace));
}

function named(value: string | undefined): string | undefined {
  const name = value?.trim();
  return isName(name) ? name : undefined;
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** A time as it is when it is UTC already, and converted when it names an offset. */
function utcTime(value: string | undefined): string | undefined {
  if (value === undefined || !RFC_3339.test(value)) return undefined;
  const time = Date.parse(value);
  if (Number.isNaN(time)) return undefined;
  return value.endsWith("Z") ? value : new Date(time).toISOString();
}
