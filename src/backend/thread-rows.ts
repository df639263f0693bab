// What is stored of a thread, row by row.
import type { ChildLink, ThreadKind } from "./new-thread.ts";
import type { StoredSubject } from "./subject-store.ts";

/** `waiting`: for somebody outside or for a time. `stopped`: the queue is kept, and runs after a user's message or `continue`. */
export type ThreadStatus = "idle" | "running" | "waiting" | "stopped" | "terminated" | "stuck";

/** A thread as it is listed. */
export type Thread = {
  readonly id: string;
  readonly kind: ThreadKind;
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
