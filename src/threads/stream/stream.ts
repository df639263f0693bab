// A run as its readers see it. Only what is committed carries an id: whoever comes back with the last one misses nothing
// and sees nothing twice. What a model is saying has a step, an attempt and an offset instead.
import type { StoredEvent, StoredMessage } from "../../backend/thread-rows.ts";
import type { Message } from "../../contracts/conversation/message.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { unpackRecords } from "../../loop/packed-records.ts";
import type { Fact } from "../../loop/records.ts";

/** Something that was committed. */
export type CommittedEvent = {
  /** `<commit>.<place in it>`: ordered, and good for coming back. */
  readonly id: string;
  readonly run: number;
  readonly step: number;
  readonly at: number;
} /** `depth`: how deep it was said, by a prompt that speaks for the call in the message `parent_seq`. */ & (
  | {
      readonly type: "message.added";
      readonly seq: number;
      readonly message: Message;
      readonly depth?: number;
      readonly parent_seq?: number;
    }
  | { readonly type: "message.superseded"; readonly seq: number; readonly message: Message | null }
  | { readonly type: "run.started" | "step.started" | "step.postponed" | "run.ended" | "compacted" }
  | { readonly type: "compaction.failed" }
  | { readonly type: "call.begun" | "call.settled"; readonly call: number }
  | { readonly type: "request.created"; readonly call: number; readonly request_id: string; readonly kind: string }
  | { readonly type: "note"; readonly note: JsonMap }
);

/** A piece of what a model is saying: `text` stands at `offset`, in characters of this attempt over all of its parts. */
type Delta = { readonly step: number; readonly attempt: number; readonly offset: number; readonly text: string };

/**
 * What a model is saying now: words, thoughts, and the arguments of calls as JSON text that is not whole yet. A new attempt
 * begins with `step.restarted`: forget what the last one said.
 */
export type LiveEvent =
  | ({ readonly type: "text.delta" } & Delta)
  | ({ readonly type: "reasoning.delta" } & Delta)
  | ({ readonly type: "tool_input.delta"; readonly tool_call_id: string; readonly tool_name: string } & Delta)
  | { readonly type: "step.restarted"; readonly step: number; readonly attempt: number };

/** That a thread is over for good: the last thing that its readers are told. It is known from the thread, not from its log. */
export type LastEvent =
  | { readonly type: "thread.terminated"; readonly at: number }
  | { readonly type: "thread.deleted" };

export type StreamEvent = CommittedEvent | LiveEvent | LastEvent;

/** Where a reader is: everything up to this commit, and up to this place in it. */
export type Cursor = { readonly seq: number; readonly place: number };

/** The cursor of a reader that was told the whole of a commit, and everything before. */
export function afterCommit(seq: number): Cursor {
  return { seq, place: Number.POSITIVE_INFINITY };
}

/** Reads the id that a reader comes back with; throws `invalid_stream_position`. */
export function readCursor(id: string | undefined): Cursor {
  if (id === undefined) return afterCommit(-1);
  const [, seq, place] = /^(\d{1,15})\.(\d{1,9})$/.exec(id) ?? [];
  if (seq === undefined || place === undefined) {
    throw holdfastError("invalid_stream_position", `"${id}" is no id of an event.`);
  }
  return { seq: Number(seq), place: Number(place) };
}

/** What one commit tells its readers, in order. */
export function eventsOf(event: StoredEvent, messages: readonly StoredMessage[]): CommittedEvent[] {
  const { seq, run, step, at } = event;
  const facts = unpackRecords(event.records).map(({ fact }) => fact);
  const said = facts.flatMap(aboutFact);
  const told: Told[] = [
    ...(facts.some(({ type }) => type === "flow.started") ? [{ type: "run.started" } as const] : []),
    ...messages.map(aboutMessage),
    ...said.filter((item) => !endsRun(item)),
    ...notesIn(event).map((note) => ({ type: "note", note }) as const),
    ...said.filter(endsRun),
  ];
  return told.map((item, place) => ({ id: `${seq}.${place}`, run, step, at, ...item }) as CommittedEvent);
}

/** What is kept for the logs is read there. */
const LOGGED: ReadonlySet<unknown> = new Set(["model_call", "model_failed", "model_lost"]);

function notesIn({ notes }: StoredEvent): readonly JsonMap[] {
  return (JSON.parse(notes ?? "[]") as JsonMap[]).filter(({ type }) => !LOGGED.has(type));
}

type Told = { readonly type: CommittedEvent["type"] } & Readonly<Record<string, unknown>>;

/** Last of all comes what a run ends with, or waits for: whoever follows it to there has seen everything. */
function endsRun({ type }: Told): boolean {
  return type === "run.ended" || type === "request.created";
}

function aboutMessage({ seq, kind, supersedes, envelope, depth, parent_seq }: StoredMessage): Told {
  if (kind === "edit") return { type: "message.superseded", seq: supersedes, message: JSON.parse(envelope) };
  if (kind === "deletion") return { type: "message.superseded", seq: supersedes, message: null };
  const place = depth > 0 ? { depth, parent_seq } : {};
  return { type: "message.added", seq, message: JSON.parse(envelope), ...place };
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
          kind: fact.as === "approval" ? "approval" : fact.child ? "child" : "client_tool",
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

/** What became of what a model was saying: the words of the answer, or those that were kept when it was stopped. */
export type CommittedAnswer = { readonly step: number; readonly words: string; readonly commit: number };

/** The answer that a commit holds, if it holds one. */
export function answerIn(
  { seq, step, records }: StoredEvent,
  messages: readonly StoredMessage[],
): CommittedAnswer | undefined {
  let written = 0;
  for (const { fact, wrote } of unpackRecords(records)) {
    if (fact.type === "model.accepted") {
      // What an answer says in words comes first of what it writes.
      const words = wrote ? wordsOf(messages[written]) : undefined;
      return { step: step - 1, words: words ?? "", commit: seq };
    }
    if (fact.type === "interrupted") {
      const kept = messages.map(wordsOf).find((words, index) => words !== undefined && isStopped(messages[index]));
      return kept === undefined ? undefined : { step, words: kept, commit: seq };
    }
    if (wrote) written += wrote[1] - wrote[0];
  }
  return undefined;
}

function wordsOf(stored: StoredMessage | undefined): string | undefined {
  const { type, role, content, metadata } = messageIn(stored);
  const isAnswer = role === "assistant" || metadata?.side === "b";
  return type === "text" && isAnswer && typeof content === "string" ? content : undefined;
}

function isStopped(stored: StoredMessage | undefined): boolean {
  return messageIn(stored).metadata?.stopped === true;
}

function messageIn(stored: StoredMessage | undefined): Partial<Message> {
  return stored?.kind === "message" ? (JSON.parse(stored.envelope) as Message) : {};
}
