// A run as its readers see it. Only what is committed carries an id: whoever comes back with the last one misses nothing
// and sees nothing twice. Text in flight has a step, an attempt and an offset instead.
import type { LiveText } from "../backend/live-text.ts";
import type { StoredEvent, StoredMessage } from "../backend/thread-store.ts";
import type { Message } from "../contracts/conversation/message.ts";
import { holdfastError } from "../contracts/error.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { Fact, LogRecord } from "../loop/records.ts";

/** Something that was committed. */
export type CommittedEvent = {
  /** `<commit>.<place in it>`: ordered, and good for coming back. */
  readonly id: string;
  readonly run: number;
  readonly step: number;
  readonly at: number;
} & (
  | { readonly type: "message.added"; readonly seq: number; readonly message: Message }
  | { readonly type: "message.superseded"; readonly seq: number; readonly message: Message | null }
  | { readonly type: "run.started" | "step.started" | "step.postponed" | "run.ended" | "compacted" }
  | { readonly type: "compaction.failed" }
  | { readonly type: "call.begun" | "call.settled"; readonly call: number }
  | { readonly type: "request.created"; readonly call: number; readonly request_id: string; readonly kind: string }
  | { readonly type: "note"; readonly note: JsonMap }
);

/** Text that a model is saying now. A new attempt begins with `step.restarted`: forget what the last one said. */
export type LiveEvent =
  | {
      readonly type: "text.delta";
      readonly step: number;
      readonly attempt: number;
      readonly offset: number;
      readonly text: string;
    }
  | { readonly type: "step.restarted"; readonly step: number; readonly attempt: number };

export type StreamEvent = CommittedEvent | LiveEvent;

/** Where a reader was: everything up to this commit, and up to this place in it. */
export type Cursor = { readonly seq: number; readonly place: number };

const START: Cursor = { seq: -1, place: 0 };

/** Reads the id that a reader comes back with; throws `invalid_stream_position`. */
export function readCursor(id: string | undefined): Cursor {
  if (id === undefined) return START;
  const [, seq, place] = /^(\d{1,15})\.(\d{1,9})$/.exec(id) ?? [];
  if (seq === undefined || place === undefined) {
    throw holdfastError("invalid_stream_position", `"${id}" is no id of an event.`);
  }
  return { seq: Number(seq), place: Number(place) };
}

/** What one commit tells its readers, in order. */
export function eventsOf(event: StoredEvent, messages: readonly StoredMessage[]): CommittedEvent[] {
  const { seq, run, step, at } = event;
  const facts = (JSON.parse(event.records) as LogRecord[]).map(({ fact }) => fact);
  const told: Told[] = [
    ...(facts.some(({ type }) => type === "flow.started") ? [{ type: "run.started" } as const] : []),
    ...messages.map(aboutMessage),
    ...facts.flatMap(aboutFact),
    ...(JSON.parse(event.notes ?? "[]") as JsonMap[]).map((note) => ({ type: "note", note }) as const),
  ];
  return told.map((item, place) => ({ id: `${seq}.${place}`, run, step, at, ...item }) as CommittedEvent);
}

type Told = { readonly type: CommittedEvent["type"] } & Readonly<Record<string, unknown>>;

function aboutMessage({ seq, kind, supersedes, envelope }: StoredMessage): Told {
  if (kind === "edit") return { type: "message.superseded", seq: supersedes, message: JSON.parse(envelope) };
  if (kind === "deletion") return { type: "message.superseded", seq: supersedes, message: null };
  return { type: "message.added", seq, message: JSON.parse(envelope) };
}

function aboutFact(fact: Fact): Told[] {
  switch (fact.type) {
    case "turn.started":
      return [{ type: "step.started" }];
    case "effect.postponed":
      return [{ type: "step.postponed" }];
    case "begun":
      return fact.effect.kind === "run_tool" ? [{ type: "call.begun", call: fact.effect.call }] : [];
    case "call.waiting":
      return [
        {
          type: "request.created",
          call: fact.call,
          request_id: fact.request_id,
          kind: fact.as === "approval" ? "approval" : "client_tool",
        },
      ];
    case "call.settled":
      return [{ type: "call.settled", call: fact.call }];
    case "compacted":
      return [{ type: "compacted" }];
    case "compaction.failed":
      return [{ type: "compaction.failed" }];
    case "flow.ended":
      return [{ type: "run.ended" }];
    default:
      return [];
  }
}

/** Turns the whole text so far into what a reader has not seen of it. */
export class LiveReader {
  #step = -1;
  #attempt = -1;
  #offset = 0;

  /** `from`: where the reader was when it came back. */
  constructor(from?: { readonly step: number; readonly attempt: number; readonly offset: number }) {
    if (!from) return;
    this.#step = from.step;
    this.#attempt = from.attempt;
    this.#offset = from.offset;
  }

  read({ step, attempt, content }: LiveText): LiveEvent[] {
    if (step < this.#step || (step === this.#step && attempt < this.#attempt)) return [];
    const isRestarted = step === this.#step && attempt !== this.#attempt;
    if (step !== this.#step || isRestarted) this.#offset = 0;
    this.#step = step;
    this.#attempt = attempt;
    const text = content.slice(this.#offset);
    const events: LiveEvent[] = isRestarted ? [{ type: "step.restarted", step, attempt }] : [];
    if (text !== "") events.push({ type: "text.delta", step, attempt, offset: this.#offset, text });
    this.#offset = Math.max(this.#offset, content.length);
    return events;
  }
}
