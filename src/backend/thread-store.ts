// What durable threads ask of a database. Each verb is one transaction; what happened is told by its outcome.
import type { Head } from "../contracts/audit/merkle.ts";
import type { ListPlace } from "../contracts/list-place.ts";
import type { NewEntry } from "./inbox.ts";
import type { ChildLink, NewThread } from "./new-thread.ts";
import type { SubjectQuery } from "./subject-store.ts";
import type { Commit, Committed } from "./thread-commit.ts";
import type {
  CurrentMessage,
  LoadedThread,
  NewMessage,
  StoredCall,
  StoredEvent,
  StoredMessage,
  StoredRun,
  Thread,
  ThreadGlance,
  ThreadStatus,
} from "./thread-rows.ts";
import type { Write } from "./write.ts";

export type { ChildLink, NewThread };

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
  /** Those after this one, in the order of their creation; those of one time by id. */
  readonly after?: string;
  /** The same for one that need not be there any more. */
  readonly behind?: ListPlace;
  readonly limit?: number;
};

export type ChildQuery = {
  /** True: only those that are not terminated; false: only those that are. */
  readonly live?: boolean;
  readonly relationship?: string;
  /** The id of the last one that was seen; nothing comes after one that is no child. */
  readonly after?: string;
  readonly limit?: number;
  /** With what is no thread: for whoever looks for the threads below it. */
  readonly ofAnyKind?: boolean;
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

/**
 * Verbs that find something find threads alone: `get`, `byKey`, `glance`, `list`, `children`, `liveChildren`, `idle`,
 * `fork`, `unknownCalls`. The others serve whatever has the id, and trees are of all kinds: what stands above and below.
 */
export interface ThreadStore {
  /**
   * What is kept under that key, new or known. `writes`: what comes with it, where it is new. Throws when the key belongs
   * to another kind.
   */
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
  /** What it descends from, of every kind: its parent first. */
  ancestors(id: string): Promise<readonly Thread[]>;
  /** Its children, theirs and so on, of every kind, as far as they are not terminated. */
  descendants(id: string): Promise<readonly Thread[]>;
  /** The agents of the threads that descend from it, and those that these began with: also of threads that are over. */
  agentsBelow(id: string): Promise<readonly string[]>;
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
   * anything. What is no thread rests once it is terminated or, as a run of a workflow, has ended. A page in the order of their ids, after the one that is given.
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
