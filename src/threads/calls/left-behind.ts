// What code leaves behind that ran within a step: it goes into the commit that takes down what the code came to.
import type { NewEntry } from "../../backend/inbox.ts";
import type { Write } from "../../backend/write.ts";
import { type Json, type JsonMap, snapshot } from "../../contracts/json.ts";
import type { Outcome } from "../../contracts/outcome.ts";
import type { Control } from "../../contracts/standard/control.ts";
import { hideSecrets } from "../secrets/hide-secrets.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";

export type LeftBehind = {
  /** For the thread's own inbox. */
  readonly entries: readonly NewEntry[];
  readonly writes: readonly Write[];
  /** For those who follow the thread. */
  readonly events: readonly { readonly event: string; readonly data: Json }[];
  /** What is asked of the run. */
  readonly control: Control;
  /** What the commit tells of it beside its records. */
  readonly notes?: readonly JsonMap[];
};

/** How the code came back, with what it asks of the run. */
export function withControl(outcome: Outcome, { control }: LeftBehind): Outcome {
  return Object.keys(control).length > 0 ? { ...outcome, control } : outcome;
}

/** A thread that is over starts nothing any more, and what would start something is refused. */
export function withoutStarts(left: LeftBehind): LeftBehind {
  return { ...left, writes: left.writes.filter(({ write }) => write !== "thread" && write !== "effect") };
}

/**
 * Without secrets, wherever others are told something: messages, events, how a child stands. Values, files and variables
 * are what code keeps for itself.
 */
export function shownLeft<Left extends Pick<LeftBehind, "entries" | "writes" | "events">>(
  left: Left,
  secrets: KnownSecrets,
): Left {
  const events = left.events.map((each) => ({ ...each, data: hideSecrets(snapshot(each.data), secrets) }));
  if (secrets.isEmpty) return left.events.length > 0 ? { ...left, events } : left;
  const entries = left.entries.map((entry) => shownEntry(entry, secrets));
  return { ...left, entries, events, writes: left.writes.map((write) => shownWrite(write, secrets)) };
}

/** Only a message says something; what else is left is sealed, or says nothing. */
function shownEntry(entry: NewEntry, secrets: KnownSecrets): NewEntry {
  if (entry.kind !== "message" && entry.kind !== "inject") return entry;
  const body = JSON.parse(entry.body) as { readonly message: JsonMap };
  const { content = "", metadata = {} } = body.message;
  const shown = { content: hideSecrets(content, secrets), metadata: hideSecrets(metadata, secrets) };
  return { ...entry, body: JSON.stringify({ ...body, message: { ...body.message, ...shown } }) };
}

function shownWrite(write: Write, secrets: KnownSecrets): Write {
  if (write.write === "entry") return { ...write, entry: shownEntry(write.entry, secrets) };
  // A word such as running is the runtime's own.
  if (write.write !== "child_status" || /^[a-z]+$/.test(write.status)) return write;
  return { ...write, status: secrets.clean(write.status) };
}

export const nothingLeft: LeftBehind = { entries: [], writes: [], events: [], control: {} };
