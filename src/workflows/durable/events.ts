// Events that were sent to a run. They stay in its inbox until a step that waits for them takes them, so that one that comes
// early is not lost.
import type { Entry } from "../../backend/inbox.ts";
import { stableHash } from "../../contracts/canonical-json.ts";
import { isMap, type Json, type JsonMap, snapshot, snapshotMap } from "../../contracts/json.ts";
import { valueAt } from "../../contracts/workflows/event-match.ts";
import { jsonSchemaProblems } from "../../threads/schemas/json-schema-problems.ts";
import type { Sealing } from "../../threads/secrets/sealing.ts";
import type { Outcome } from "../machine/next.ts";
import type { LeasedRun } from "./leased-run.ts";

/** The most events of a run that no step has taken yet. */
export const MOST_EVENTS = 1_000;

export type WantedEvent = { readonly event: string; readonly match: JsonMap | null };

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
  { event, match }: WantedEvent,
): FoundEvent | undefined {
  for (const entry of run.entries) {
    if (entry.kind !== "event" || taken.includes(entry.seq) || nameIn(entry) !== event) continue;
    const payload = payloadOf(sealing, run.id, entry);
    if (matches(payload, match)) return { seq: entry.seq, payload };
  }
  return undefined;
}

/**
 * What the step that takes an event comes to. An event that its schema refuses fails it: it is taken, because nothing tells another
 * time when it would fit.
 */
export function outcomeOfEvent({ payload: schema }: JsonMap, { payload }: FoundEvent): Outcome {
  const problems = isMap(schema) ? jsonSchemaProblems(schema as JsonMap, payload) : [];
  if (problems.length === 0) return { as: "succeeded", output: payload };
  const message = "The event does not fit the schema of the step.";
  const data = { problems: snapshot(problems) };
  return { as: "failed", error: { code: "invalid_step_output", message, data, retryable: false } };
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
