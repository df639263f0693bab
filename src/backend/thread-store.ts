// What durable threads ask of a database. Each verb is one transaction; what happened is told by its outcome.
import type { Amounts } from "../loop/records.ts";
import type { NewEntry } from "./inbox.ts";
import type { NewRequest, RequestStatus } from "./request-store.ts";

/** `waiting`: for somebody outside or for a time. `stopped`: the queue is kept, and runs after a user's message or `continue`. */
export type ThreadStatus = "idle" | "running" | "waiting" | "stopped" | "terminated" | "stuck";

/** A thread as it is listed. */
export type Thread = {
  readonly id: string;
  readonly key: string;
  readonly agent: string;
  /** The name of the funds that it draws on, if others do too. */
  readonly budget: string | null;
  readonly status: ThreadStatus;
  readonly created_at: number;
  readonly updated_at: number;
  readonly terminated_at: number | null;
  /** Number of the current or last run; 0 before the first. */
  readonly run: number;
  /** How many answers of a model were taken. */
  readonly steps: number;
  /** How many commits there were; the number of the next event. */
  readonly next_seq: number;
  readonly next_message: number;
};

/** Everything that is needed to go on with a thread. */
export type LoadedThread = {
  readonly thread: Thread;
  readonly epoch: number;
  readonly wake_rev: number;
  /** JSON of the machine's state, null before the first run. */
  readonly state: string | null;
  /** Sealed. */
  readonly working: string | null;
  /** Sealed. */
  readonly answer: string | null;
  readonly tail_from: number;
  readonly summary_seq: number | null;
  readonly last_hash: string;
  /** The transcript as it was stored, what supersedes others included: the summary, if any, then everything from `tail_from`. */
  readonly messages: readonly StoredMessage[];
};

/** `summary` stands for everything before the tail; `edit` and `deletion` supersede an earlier message. */
export type MessageKind = "message" | "summary" | "edit" | "deletion";

export type NewMessage = {
  readonly kind: MessageKind;
  readonly supersedes: number | null;
  /** JSON of the envelope. */
  readonly envelope: string;
  /** Makes the hash say nothing about an envelope that was erased. */
  readonly salt: string;
  /** Of everything above: what the log's chain covers. */
  readonly hash: string;
};

export type StoredMessage = NewMessage & {
  readonly seq: number;
  readonly run: number;
  readonly step: number;
  readonly at: number;
};

/** One commit of the record log. */
export type StoredEvent = {
  readonly seq: number;
  readonly run: number;
  /** How many answers of a model were taken by then. */
  readonly step: number;
  /** JSON of the machine's records, or of one fact about the thread. */
  readonly records: string;
  /** JSON of what observers were told and the log keeps. */
  readonly notes: string | null;
  readonly messages_from: number;
  readonly messages_to: number;
  readonly tail_from: number;
  readonly summary_seq: number | null;
  /** True when no call was open after it, so that a fork may begin here. */
  readonly settled: boolean;
  readonly at: number;
  readonly hash: string;
};

/** `begun`: it may have happened. `unknown`: nobody could tell. */
export type CallPhase = "begun" | "waiting" | "settled" | "unknown";

export type StoredCall = {
  readonly thread_id: string;
  readonly run: number;
  readonly number: number;
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly phase: CallPhase;
  readonly idempotency_key: string;
  readonly arguments_hmac: string;
  /** Of the lease under which it began. */
  readonly epoch: number;
  readonly begun_at: number;
  /** From then on whoever began it cannot be at work on it any more. */
  readonly certain_at: number;
  readonly outcome: string | null;
  readonly message_seq: number | null;
  readonly settled_at: number | null;
};

export type StoredRun = {
  readonly run: number;
  readonly run_key: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly started_at: number;
  readonly ended_at: number | null;
};

/** What a commit does to the ledger of calls. */
export type CallChange =
  | {
      readonly change: "begun";
      readonly number: number;
      readonly tool_call_id: string;
      readonly tool_name: string;
      readonly idempotency_key: string;
      readonly arguments_hmac: string;
      /** Microseconds that its holder may still be at work on it, from now. */
      readonly certain_after: number;
    }
  | { readonly change: "waiting"; readonly number: number }
  | {
      readonly change: "ended";
      /** Given when it is not the current one. */
      readonly run?: number;
      readonly number: number;
      readonly phase: "settled" | "unknown";
      readonly outcome: string;
      readonly message_seq: number;
    };

/** How a run stands after a commit: the first time its `key` is given. */
export type RunChange = {
  readonly key?: string;
  readonly status: string;
  /** JSON, once there is one to tell. */
  readonly outcome: string | null;
  readonly ended: boolean;
};

/** By how much the funds that a thread draws on change. */
export type BudgetChange = {
  readonly name: string;
  readonly used: Amounts;
  readonly reserved: Amounts;
  /** True when something is set aside anew, which is refused when it is not there. */
  readonly reserves: boolean;
};

/** Everything that one commit of the lease holder writes. */
export type Commit = {
  /** Tells this commit from every other, so that one whose answer was lost can be looked up. */
  readonly id: string;
  readonly thread_id: string;
  readonly worker: string;
  readonly epoch: number;
  /** The event's number; somebody else has written when it is not the next. */
  readonly seq: number;
  readonly lease_us: number;
  readonly status: ThreadStatus;
  readonly state: string | null;
  readonly working: string | null;
  /** Absent: unchanged. Null: erased. */
  readonly answer?: string | null;
  readonly run: number;
  readonly steps: number;
  /** False when nothing was got on with, so that the claim still counts towards being stuck. */
  readonly progresses: boolean;
  readonly next_message: number;
  readonly tail_from: number;
  readonly summary_seq: number | null;
  /** Its run is 0 for what concerns the thread and no run of it. */
  readonly event: Pick<StoredEvent, "run" | "records" | "notes" | "messages_from" | "settled" | "hash">;
  readonly messages: readonly NewMessage[];
  /** The inbox entries that were taken. */
  readonly drained: readonly number[];
  /** What goes into the thread's own inbox. */
  readonly queued: readonly NewEntry[];
  readonly run_change: RunChange | null;
  readonly calls: readonly CallChange[];
  readonly opened_request: NewRequest | null;
  readonly closed_request: { readonly id: string; readonly from: RequestStatus; readonly to: RequestStatus } | null;
  readonly budget_change: BudgetChange | null;
  /**
   * Ends the activation: the lease is given back, and the thread is due after so many microseconds (null: when it is
   * woken), or at once if it was woken meanwhile.
   */
  readonly settle: { readonly wake_rev: number; readonly due_after: number | null } | null;
};

export type Committed =
  | { readonly outcome: "committed"; readonly wake_rev: number }
  /** Somebody else holds the thread. */
  | { readonly outcome: "lost" }
  /** Something outside changed first: what the commit was made from has to be read again. */
  | { readonly outcome: "overtaken" };

export type NewThread = {
  readonly id: string;
  readonly key: string;
  readonly agent: string;
  readonly budget: string | null;
  readonly state_version: number;
  readonly hash: string;
};

export type Fork = { readonly id: string; readonly key: string; readonly from: string; readonly at: number };

export type ThreadQuery = {
  readonly agent?: string;
  readonly status?: ThreadStatus;
  /** Those after this one, in the order of their creation. */
  readonly after?: string;
  readonly limit?: number;
};

export interface ThreadStore {
  /** The thread of that key, new or known. */
  open(thread: NewThread): Promise<{ readonly outcome: "opened" | "known"; readonly thread: Thread }>;
  get(id: string): Promise<Thread | undefined>;
  byKey(key: string): Promise<Thread | undefined>;
  list(query: ThreadQuery): Promise<readonly Thread[]>;
  load(id: string): Promise<LoadedThread | undefined>;
  commit(commit: Commit): Promise<Committed>;
  /** No further work is taken: the first time counts. Work that is under way is told to stop through the inbox. */
  terminate(id: string, stop: NewEntry): Promise<Thread | undefined>;
  /** A new thread with the history up to an event that is settled. */
  fork(fork: Fork & { readonly hash: string; readonly records: string }): Promise<"forked" | "known" | "not_settled">;
  /** The last settled event, not after the given one. */
  settledEvent(id: string, atMost: number | null): Promise<StoredEvent | undefined>;
  messages(id: string, range: { readonly from?: number; readonly limit?: number }): Promise<readonly StoredMessage[]>;
  events(id: string, range: { readonly after?: number; readonly limit?: number }): Promise<readonly StoredEvent[]>;
  eventsOfRun(id: string, run: number): Promise<readonly StoredEvent[]>;
  runs(id: string): Promise<readonly StoredRun[]>;
  run(id: string, run: number): Promise<StoredRun | undefined>;
  calls(id: string): Promise<readonly StoredCall[]>;
  call(id: string, run: number, number: number): Promise<StoredCall | undefined>;
  /** The calls of which nobody could tell what they did, oldest first. */
  unknownCalls(limit: number): Promise<readonly StoredCall[]>;
  /** How far the given threads are, for whoever watches them. */
  progress(ids: readonly string[]): Promise<readonly Pick<Thread, "id" | "next_seq" | "run" | "status">[]>;
}
