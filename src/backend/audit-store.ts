// What the audit asks of a database: where all chains stand, the checkpoints over them, and what became of those that are
// gone.

import type { Gone } from "../contracts/audit/checkpoint.ts";
import type { Head } from "../contracts/audit/merkle.ts";
import type { Tombstone } from "../contracts/audit/tombstone.ts";
import type { ThreadKind } from "./new-thread.ts";

/** A thread as far as an audit tells of it. */
export type AuditedThread = Head & {
  readonly kind: ThreadKind;
  readonly agent: string;
  readonly parent_id: string | null;
  readonly created_at: number;
  readonly next_message: number;
};

export type StoredCheckpoint = {
  readonly number: number;
  /** The text that was signed. */
  readonly statement: string;
  readonly signature: string;
  /** Microseconds since 1970. */
  readonly at: number;
};

export type NewCheckpoint = StoredCheckpoint & {
  /** In the order of their leaves. */
  readonly heads: readonly Head[];
  readonly gone: readonly Gone[];
};

/** A head as it stands in a checkpoint. */
export type StoredHead = Head & { readonly checkpoint: number; readonly leaf: number };

/** A thread that is gone: where it was last seen, and what stayed of it, unless it disappeared past the runtime. */
export type Vanished = { readonly head: Head; readonly tombstone: Tombstone | null };

export interface AuditStore {
  /** The heads that are not what the last checkpoint that knows them says, in the order of their threads' ids. */
  changedHeads(): Promise<readonly Head[]>;
  /** The threads of checkpoints that are not there any more and in no checkpoint as gone, with their tombstones. */
  newlyGone(): Promise<readonly Vanished[]>;
  lastCheckpoint(): Promise<StoredCheckpoint | undefined>;
  /** Stores a checkpoint under its number, unless there is one already; then nothing is changed. */
  addCheckpoint(checkpoint: NewCheckpoint): Promise<"added" | "known">;
  /** Oldest first: all of them, or so many after as many. */
  checkpoints(page?: { readonly offset?: number; readonly limit?: number }): Promise<readonly StoredCheckpoint[]>;
  /** The heads of all checkpoints, in the order of their leaves. */
  heads(): Promise<readonly StoredHead[]>;
  tombstones(): Promise<readonly Tombstone[]>;
  thread(id: string): Promise<AuditedThread | undefined>;
  /** True when something was erased from a thread with the messages from that number on. */
  isErasedSince(id: string, nextMessage: number): Promise<boolean>;
  /** A page of all threads and of what is kept as they are, in the order of their ids. */
  threads(page: { readonly after: string | null; readonly limit: number }): Promise<readonly AuditedThread[]>;
}
