// Events that were sent to a run. They stay in its inbox until a step that waits for them takes them, so that one that comes
// early is not lost.
import type { Entry } from "../../backend/inbox.ts";
import { stableHash } from "../../contracts/canonical-json.ts";
import { isMap, type Json, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { valueAt } from "../../contracts/workflows/event-match.ts";
import { jsonSchemaProblems } from "../../threads/schemas/json-schema-problems.ts";
import type { Sealing } from "../../threads/secrets/sealing.ts";
import type { LeasedRun } from "./leased-run.ts";

/** The most events of a run that no step has taken yet. */
export const MOST_EVENTS = 1_000;

/** `payload`: the schema that it has to fit; null for any. */
export type WantedEvent = { readonly event: string; readonly match: JsonMap | null; readonly payload: JsonMap | null };

/** What a step waits for, as its bindings have come out. */
export function wantedBy({ event = "", match = null, payload = null }: JsonMap): WantedEvent {
  const mapIn = (value: Json) => (isMap(value) ? (value as JsonMap) : null);
  return { event: String(event), match: mapIn(match), payload: mapIn(payload) };
}

export type FoundEvent = { readonly seq: number; readonly payload: Json };

/** The body of an inbox entry: the payload is sealed, the name is not. */
export function eventBody(sealing: Pick<Sealing, "seal">, runId: string, name: string, payload: JsonMap): JsonMap {
  return { name, sealed: sealing.seal(JSON.stringify(payload), runId) };
}

/** The oldest event that a step waits for and no other has taken. */
export function findEvent(
  sealing: Pick<Sealing, "open">,
  run: Pick<LeasedRun, "id" | "entries">,
  taken: readonly number[],
  { event, match, payload: schema }: WantedEvent,
): FoundEvent | undefined {
  for (const entry of run.entries) {
    if (entry.kind !== "event" || taken.includes(entry.seq) || nameIn(entry) !== event) continue;
    const payload = payloadOf(sealing, run.id, entry);
    if (matches(payload, match) && fits(payload, schema)) return { seq: entry.seq, payload };
  }
  return undefined;
}

const names = new WeakMap<Entry, string>();

function nameIn(entry: Entry): string {
  const known = names.get(entry);
  if (known !== undefined) return known;
  const { name } = snapshotMap(JSON.parse(entry.body));
  const read = typeof name === "string" ? name : "";
  names.set(entry, read);
  return read;
}

const payloads = new WeakMap<Entry, JsonMap>();

function payloadOf(sealing: Pick<Sealing, "open">, runId: string, entry: Entry): JsonMap {
  const known = payloads.get(entry);
  if (known) return known;
  const { sealed } = snapshotMap(JSON.parse(entry.body));
  const payload: unknown = JSON.parse(sealing.open(String(sealed), runId));
  const read = isMap(payload) ? (payload as JsonMap) : {};
  payloads.set(entry, read);
  return read;
}

/** Every path has exactly the value that is expected. */
function matches(payload: JsonMap, expected: JsonMap | null): boolean {
  if (expected === null) return true;
  return Object.entries(expected).every(([path, value]) => stableHash(valueAt(payload, path)) === stableHash(value));
}

function fits(payload: JsonMap, schema: JsonMap | null): boolean {
  return schema === null || jsonSchemaProblems(schema, payload).length === 0;
}
