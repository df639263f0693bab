// What durable threads ask of a database. Each verb is one transaction; what happened is told by its outcome.
import type { Head } from "../contracts/audit/merkle.ts";
import type { Amounts } from "../loop/records.ts";
import type { NewEntry } from "./inbox.ts";
import type { ChildLink, NewThread } from "./new-thread.ts";
import type { NewRequest, RequestStatus } from "./request-store.ts";
import type { StoredSubject, SubjectQuery } from "./subject-store.ts";
import type { Write } from "./write.ts";

export type { ChildLink, NewThread };

/** `waiting`: for somebody outside or for a time. `stopped`: the queue is kept, and runs after a user's message or `continue`. */
export type ThreadStatus = "idle" | "running" | "waiting" | "stopped" | "terminated" | "stuck";

/** A thread as it is listed. */
export type Thread = {
  readonly id: string;
  readonly key: string;
  readonly agent: string;
  /** The agent that it was opened with: a thread may be handed over. */
  readonly origin_agent: string;
  readonly parent_id: string | null;
  readonly user_id: string | null;
  readonly tags: readonly string[];
  /** Null unless it is another thread's child. */
  readonly child: ChildLink | null;
  /** How the registry of its parent shows it. */
  readonly child_status: string | null;
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

/** A thread at one moment, seen from outside. */
export type ThreadGlance = {
  readonly thread: Thread;
  /** Whom it acts for; null when nobody was named. */
  readonly subject: StoredSubject | null;
  /** True when something was left for it that it has not taken in. */
  readonly has_waiting: boolean;
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
  /** What the thread was created with: sealed JSON. */
  readonly arguments: string | null;
  /** Whom it acts for; null when nobody was named. */
  readonly subject: StoredSubject | null;
  /** True when an effect waits to be run now. */
  readonly has_due_effect: boolean;
  /** The transcript as it was stored, what supersedes others included: the summary, if any, then everything from `tail_from`. */
  readonly messages: readonly StoredMessage[];
};

/**
 * `summary` stands for everything before the tail; `edit` and `deletion` supersede an earlier message; `notice` is listed,
 * and never part of what models are shown.
 */
export type MessageKind = "message" | "summary" | "edit" | "deletion" | "notice";

export type NewMessage = {
  readonly kind: MessageKind;
  readonly supersedes: number | null;
  /** JSON of the envelope. */
  readonly envelope: string;
  /** Makes the hash say nothing about an envelope that was erased; empty once it was. */
  readonly salt: string;
  /** Of everything above: what the log's chain covers. */
  readonly hash: string;
  /** 0 on the thread itself; what a prompt says that is used as a tool is one deeper than whoever called it. */
  readonly depth: number;
  /** The message with that call. */
  readonly parent_seq: number | null;
};

export type StoredMessage = NewMessage & {
  readonly seq: number;
  readonly run: number;
  readonly step: number;
  readonly at: number;
};

/** A message under the number that it was added with, and its envelope in the version that holds now. */
export type CurrentMessage = Pick<StoredMessage, "seq" | "run" | "step" | "envelope">;

/** One commit of the record log. */
export type StoredEvent = {
  readonly seq: number;
  readonly run: number;
  /** How many answers of a model were taken by then. */
  readonly step: number;
  /** JSON of the machine's records, or of one fact about the thread. */
  readonly records: string;
  /** JSON of what observers were told and the log keeps; null when there was nothing, or when it was erased. */
  readonly notes: string | null;
  readonly salt: string | null;
  /** Salted. It stays when the notes are erased: it is what the log's chain covers. */
  readonly notes_hash: string | null;
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

/** What goes with erased messages, beside what can be found from them. */
export type Erasure = {
  /** What the outcomes of these runs are without what was said. */
  readonly outcomes: readonly { readonly run: number; readonly outcome: string }[];
  /** The inbox entries that have brought the messages, by their ids. */
  readonly entries: readonly string[];
  /** The runs that they belong to: what was noted of those may quote them. */
  readonly runs: readonly number[];
  /** What was asked of somebody for the calls that are erased, by their ids. */
  readonly requests: readonly string[];
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
  readonly event: Pick<
    StoredEvent,
    "run" | "records" | "notes" | "salt" | "notes_hash" | "messages_from" | "settled" | "hash"
  >;
  readonly messages: readonly NewMessage[];
  /** There when some of the messages are deletions that say that what they delete was erased. */
  readonly erasure?: Erasure | undefined;
  /** The inbox entries that were taken. */
  readonly drained: readonly number[];
  /** What goes into the thread's own inbox. */
  readonly queued: readonly NewEntry[];
  readonly run_change: RunChange | null;
  readonly calls: readonly CallChange[];
  readonly opened_request: NewRequest | null;
  readonly closed_request: { readonly id: string; readonly from: RequestStatus; readonly to: RequestStatus } | null;
  readonly budget_change: BudgetChange | null;
  /** What tools, effects and children leave behind, in this order. */
  readonly writes: readonly Write[];
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

/** `writes`: what comes with it beside that, such as the variables, which are sealed for each thread alone. */
export type NewFork = Fork & {
  readonly hash: string;
  readonly records: string;
  /** The deletions of what was erased after that event, to follow the history: it is copied without its content. */
  readonly erased?: { readonly from: number; readonly rows: number; readonly deletions: readonly NewMessage[] };
  readonly writes?: readonly Write[];
};

export type Fork = { readonly id: string; readonly key: string; readonly from: string; readonly at: number };

export type ThreadQuery = SubjectQuery & {
  readonly agent?: string;
  readonly status?: ThreadStatus;
  /** Only the children of this one; with null, only those that are nobody's child. */
  readonly parent?: string | null;
  /** Those after this one, in the order of their creation. */
  readonly after?: string;
  readonly limit?: number;
};

export type ChildQuery = {
  /** True: only those that are not terminated; false: only those that are. */
  readonly live?: boolean;
  readonly relationship?: string;
  /** The id of the last one that was seen; nothing comes after one that is no child. */
  readonly after?: string;
  readonly limit?: number;
};

/** Why a thread goes with all that descend from it, signed for each of them where it stands. */
export type SignedDeletion = {
  readonly reason: string;
  /** Microseconds since 1970. */
  readonly deleted_at: number;
  readonly threads: readonly { readonly head: Head; readonly signature: string }[];
};

/** Which calls of a thread: those of a run, and so many after one of them. */
export type CallsPage = {
  readonly run?: number;
  readonly after?: { readonly run: number; readonly number: number };
  readonly limit?: number;
};

export interface ThreadStore {
  /** The thread of that key, new or known. `writes`: what comes with it, where it is new. */
  open(
    thread: NewThread,
    writes?: readonly Write[],
  ): Promise<{ readonly outcome: "opened" | "known"; readonly thread: Thread }>;
  get(id: string): Promise<Thread | undefined>;
  byKey(key: string): Promise<Thread | undefined>;
  glance(id: string): Promise<ThreadGlance | undefined>;
  list(query: ThreadQuery): Promise<readonly Thread[]>;
  load(id: string): Promise<LoadedThread | undefined>;
  commit(commit: Commit): Promise<Committed>;
  /** JSON of the machine's state, null before the first run. */
  state(id: string): Promise<string | null>;
  /** What the thread was created with: sealed JSON. */
  arguments(id: string): Promise<string | null>;
  /** Oldest first. */
  children(parentId: string, query: ChildQuery): Promise<readonly Thread[]>;
  /** How many children are not terminated, of one relationship or of all. */
  liveChildren(parentId: string, relationship: string | null): Promise<number>;
  /** Its children, theirs and so on, as far as they are not terminated. */
  descendants(id: string): Promise<readonly Thread[]>;
  /**
   * No further work is taken by the thread and by all that descend from it: the first time counts. Work that is under way
   * is told to stop through the inbox.
   */
  terminate(id: string, stop: NewEntry): Promise<Thread | undefined>;
  /** Erases the thread and all that descend from it, and tells their ids. The bytes of files stay: others may name them. */
  delete(
    id: string,
    /** What is kept of it: why it is gone. With what was signed, nothing is deleted when that is not how things are. */
    reason?: string | SignedDeletion,
    /** Only if it still rests, and did so for this long in microseconds; nothing is deleted otherwise. */
    idleUs?: number | null,
  ): Promise<readonly string[]>;
  /**
   * Threads without a parent that rest for this long, as do their children: nothing is queued for them, and nobody is asked
   * anything. A page in the order of their ids, after the one that is given.
   */
  idle(query: { readonly for_us: number; readonly limit: number; readonly after?: string }): Promise<readonly string[]>;
  /**
   * A new thread with the history up to an event that is settled, and with the files and values as they are now.
   * It is nobody's child, and has no children and no effects.
   */
  fork(fork: NewFork): Promise<"forked" | "known" | "not_settled" | "overtaken">;
  /** The last settled event, not after the given one. */
  settledEvent(id: string, atMost: number | null): Promise<StoredEvent | undefined>;
  messages(id: string, range: { readonly from?: number; readonly limit?: number }): Promise<readonly StoredMessage[]>;
  /** So many messages of the thread itself after one, oldest first, without those that were deleted. */
  currentMessages(
    id: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly CurrentMessage[]>;
  /** The same from the other end: so many before one, or the last ones, newest first. */
  lastMessages(
    id: string,
    page: { readonly before: number | null; readonly limit: number },
  ): Promise<readonly CurrentMessage[]>;
  /** True when the message of that number was deleted, or erased. */
  isDeleted(id: string, seq: number): Promise<boolean>;
  events(id: string, range: { readonly after?: number; readonly limit?: number }): Promise<readonly StoredEvent[]>;
  eventsOfRun(id: string, run: number): Promise<readonly StoredEvent[]>;
  /** The number of the event that a run begins with. */
  firstEventOf(id: string, run: number): Promise<number | undefined>;
  /** Oldest first: all of them, or so many after one. */
  runs(id: string, page?: { readonly after?: number; readonly limit?: number }): Promise<readonly StoredRun[]>;
  run(id: string, run: number): Promise<StoredRun | undefined>;
  /** Oldest first: all of them, those of one run, or so many after one. */
  calls(id: string, page?: CallsPage): Promise<readonly StoredCall[]>;
  call(id: string, run: number, number: number): Promise<StoredCall | undefined>;
  /** The calls of which nobody could tell what they did, oldest first. */
  unknownCalls(limit: number): Promise<readonly StoredCall[]>;
  /** How far the given threads are, for whoever watches them. */
  progress(ids: readonly string[]): Promise<readonly Pick<Thread, "id" | "next_seq" | "run" | "status">[]>;
}
