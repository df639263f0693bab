// What anybody may leave for a thread: a durable queue in order of arrival. Only the holder of its lease takes from it.

/** What a run of a workflow takes in, and a thread never does. `retry`: a step that failed is to be run again. */
export type RunEntryKind = "event" | "pause" | "resume" | "retry";

/** What threads take in; of it runs of workflows take `answer`, `stop` and `born`. */
export type ThreadEntryKind =
  | "message"
  | "tool"
  | "answer"
  | "continue"
  | "stop"
  | "edit"
  | "deletion"
  | "erasure"
  | "settlement"
  | "inject"
  | "born";

export type EntryKind = ThreadEntryKind | RunEntryKind;

export type NewEntry = {
  readonly id: string;
  readonly kind: EntryKind;
  /** JSON. */
  readonly body: string;
  /** What was asked for, and the key that makes asking twice asking once. */
  readonly operation: string;
  readonly idempotency_key: string;
  readonly payload_hash: string;
  /** True when a thread that is stopped has to look at it too. */
  readonly wakes_stopped: boolean;
  /** True when whoever runs the thread has to know at once. */
  readonly urgent: boolean;
};

export type Entry = {
  readonly seq: number;
  readonly id: string;
  readonly kind: EntryKind;
  readonly body: string;
  readonly created_at: number;
};

/** What became of an entry: the run that took it, once one has. */
export type EntryFate = { readonly id: string; readonly drained: boolean; readonly run: number | null };

/** An entry by what was asked for and the key that it was left under. */
export type LeftEntry = EntryFate & { readonly key: string; readonly created_at: number };

export type RepeatOutcome =
  | { readonly outcome: "repeated"; readonly id: string }
  /** The key was used before, for something else. */
  | { readonly outcome: "conflicting" };

export type PutOutcome =
  | RepeatOutcome
  | { readonly outcome: "stored"; readonly id: string }
  | { readonly outcome: "terminated" | "not_found" };

export interface Inbox {
  /** Stores the entry and wakes the thread. */
  put(threadId: string, entry: NewEntry): Promise<PutOutcome>;
  /** What putting it would come to when its key was used before; undefined when it was not. */
  first(
    threadId: string,
    entry: Pick<NewEntry, "operation" | "idempotency_key" | "payload_hash">,
  ): Promise<RepeatOutcome | undefined>;
  /** What waits, oldest first. */
  waiting(threadId: string): Promise<readonly Entry[]>;
  fate(threadId: string, entryId: string): Promise<EntryFate | undefined>;
  /** The entry that was left under a key, or without one the last that was left for this operation. */
  left(threadId: string, operation: string, key?: string): Promise<LeftEntry | undefined>;
  /** The number of the last wish to stop that was taken; null when there was none. */
  lastStop(threadId: string): Promise<number | null>;
  /** Takes an entry back that nobody has drained yet. */
  cancel(threadId: string, entryId: string): Promise<boolean>;
}
