// What the machine did between two commits, as the rows that one commit writes.
import type { NewEntry } from "../backend/inbox.ts";
import type { NewRequest, RequestStatus } from "../backend/request-store.ts";
import type { CallChange, RunChange } from "../backend/thread-commit.ts";
import type { NewMessage } from "../backend/thread-rows.ts";
import type { Write } from "../backend/write.ts";
import { contentHash } from "../contracts/audit/chain.ts";
import type { Erasure } from "../contracts/audit/erasure.ts";
import type { Message } from "../contracts/conversation/message.ts";
import { isMap, type Json, type JsonMap } from "../contracts/json.ts";
import type { Advance } from "../loop/advance.ts";
import type { Notice } from "../loop/next.ts";
import type { ThreadFact } from "../loop/packed-records.ts";
import type { LogRecord } from "../loop/records.ts";
import type { Body } from "../loop/working.ts";

type Left = {
  readonly writes: readonly Write[];
  readonly entries: readonly NewEntry[];
  readonly events: readonly { readonly event: string; readonly data: Json }[];
  readonly notes?: readonly JsonMap[];
};

/** The rows of a transcript that waits while a prompt speaks, and that of the call for which it does. */
export type OuterRows = { readonly seqs: readonly number[]; readonly parent: number };

/** What the model is told of a call of which nobody knows what it did: somebody may find that out. */
const OF_UNKNOWN_OUTCOME: ReadonlySet<string> = new Set(["outcome_unknown", "timeout"]);

export class Batch {
  readonly records: LogRecord[] = [];
  readonly notices: Notice[] = [];
  readonly notes: JsonMap[] = [];
  /** What happens to the thread between two runs, as no erasure reaches it. */
  readonly facts: ThreadFact[] = [];
  readonly messages: NewMessage[] = [];
  readonly calls: CallChange[] = [];
  readonly drained: number[] = [];
  readonly queued: NewEntry[] = [];
  /** What tools, hooks, effects and children leave behind. */
  readonly writes: Write[] = [];
  /** True once the answer that the turn goes on from is another one. */
  changesAnswer = false;
  opened: NewRequest | null = null;
  closed: { id: string; from: RequestStatus; to: RequestStatus } | null = null;
  run: RunChange | null = null;
  /** What goes with the messages that are erased; there once one is. */
  erasure: {
    readonly outcomes: Map<number, string>;
    readonly entries: Set<string>;
    readonly runs: Set<number>;
    readonly requests: Set<string>;
  } | null = null;
  readonly #seqs: number[];
  readonly #outer: OuterRows[];
  #nextMessage: number;
  #tailFrom: number;
  #summarySeq: number | null;

  /** `seqs` are the rows in which the messages of the transcript stand; they are kept in step with it. */
  constructor(from: {
    nextMessage: number;
    tailFrom: number;
    summarySeq: number | null;
    seqs: number[];
    outer: OuterRows[];
  }) {
    this.#seqs = from.seqs;
    this.#outer = from.outer;
    this.#nextMessage = from.nextMessage;
    this.#tailFrom = from.tailFrom;
    this.#summarySeq = from.summarySeq;
  }

  get nextMessage(): number {
    return this.#nextMessage;
  }

  get tailFrom(): number {
    return this.#tailFrom;
  }

  get summarySeq(): number | null {
    return this.#summarySeq;
  }

  get isEmpty(): boolean {
    const { records, messages, calls, drained, writes, notes } = this;
    return records.length + messages.length + calls.length + drained.length + writes.length + notes.length === 0;
  }

  /** Takes in one step of the machine. */
  add({ records, bodies, notices }: Advance): void {
    const executions: JsonMap[] = [];
    for (const body of bodies) {
      this.#take(body);
      if (body.to === "execution") executions.push(body.value);
    }
    this.notices.push(...notices);
    let settled = 0;
    for (const record of records) {
      this.records.push(record);
      // Every call that is settled has one execution and one message that answers it, in the same order.
      if (record.fact.type === "call.settled") this.#end(record.fact.call, executions[settled++]);
    }
  }

  readonly #results: number[] = [];

  #end(number: number, execution: JsonMap | undefined): void {
    const { success, metadata } = isMap(execution?.result) ? execution.result : {};
    const errorType = isMap(metadata) && typeof metadata.error_type === "string" ? metadata.error_type : "error";
    const phase = OF_UNKNOWN_OUTCOME.has(errorType) && success !== true ? "unknown" : "settled";
    const message_seq = this.#results.shift();
    if (message_seq === undefined) throw new Error(`Call ${number} was settled without a message that answers it.`);
    this.calls.push({ change: "ended", number, phase, outcome: success === true ? "success" : errorType, message_seq });
  }

  #take(body: Body): void {
    switch (body.to) {
      case "transcript":
        this.addMessage(body.message);
        break;
      case "history":
        // The model port only ever adds to the transcript.
        if (body.keep !== this.#seqs.length) throw new Error("A durable thread's transcript is never rewritten.");
        for (const message of body.added) this.addMessage(message);
        break;
      case "compaction":
        this.#compact(body.drop, body.added);
        break;
      case "turn":
      case "answer":
        this.changesAnswer = true;
        break;
      case "frame":
        this.changesAnswer = true;
        this.#outer.push({ seqs: [...this.#seqs], parent: this.#seqs[body.at] ?? 0 });
        this.#seqs.length = 0;
        for (const message of body.messages) this.addMessage(message);
        break;
      case "outer":
        this.changesAnswer = true;
        this.#seqs.splice(0, this.#seqs.length, ...(this.#outer.pop()?.seqs ?? []));
        break;
      case "audit":
        this.notes.push({ type: "tool_audit", metadata: body.value });
        break;
      case "event":
        this.notes.push(body.value);
        break;
      case "provider_diagnostics":
        this.notes.push({ type: "provider_diagnostics", metadata: body.value });
        break;
      case "execution":
      case "tool_event":
      case "tools":
      case "continuation":
      case "call":
      case "queued":
      case "accepted":
      case "stop":
        // Follows from the messages, or is kept with the working memory.
        break;
      default:
        body satisfies never;
    }
  }

  /** Adds a message to the end of the transcript. */
  addMessage(message: Message): void {
    if (message.type === "tool_result") this.#results.push(this.#nextMessage);
    this.#seqs.push(this.#nextMessage);
    this.#write("message", message, null);
  }

  /** Takes in what code leaves behind that has come to something. */
  leave({ writes, entries, events, notes = [] }: Left): void {
    this.writes.push(...writes);
    this.queued.push(...entries);
    this.notes.push(...notes);
    for (const { event, data } of events) this.notes.push({ type: "thread_event", metadata: { event, data } });
  }

  /** Adds something that readers of the thread see, and models do not. */
  addNotice(message: Message): void {
    this.#write("notice", message, null);
  }

  /** Writes what replaces an earlier message, or takes it out when there is nothing to replace it. */
  supersede(seq: number, message: Message | null): void {
    this.#write(message ? "edit" : "deletion", message ?? {}, seq);
  }

  /** Takes a message out, and has its content go for good with this commit. */
  erase(seq: number, erasure: Erasure): void {
    this.forget();
    this.#write("deletion", erasure, seq);
  }

  /** Has what is known of changes that were taken in go for good with this commit. */
  forget(): NonNullable<Batch["erasure"]> {
    this.erasure ??= { outcomes: new Map(), entries: new Set(), runs: new Set(), requests: new Set() };
    return this.erasure;
  }

  /** The summary stands for everything that is dropped; what follows it stays where it is. */
  #compact(drop: number, added: readonly Message[]): void {
    const [summary] = added;
    if (!summary) return;
    this.#summarySeq = this.#nextMessage;
    this.#seqs.splice(0, drop, this.#nextMessage);
    this.#write("summary", summary, null);
    this.#tailFrom = this.#seqs[1] ?? this.#nextMessage;
  }

  #write(kind: NewMessage["kind"], content: object, supersedes: number | null): void {
    const envelope = JSON.stringify(content);
    const salt = crypto.randomUUID();
    const place = { depth: this.#outer.length, parent_seq: this.#outer.at(-1)?.parent ?? null };
    const row = { kind, supersedes, envelope, salt, ...place };
    this.messages.push({ ...row, hash: contentHash(row) });
    this.#nextMessage++;
  }
}
