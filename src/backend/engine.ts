// Who runs which thread, and when: leases, wake-ups and timers, all of them columns of the thread's own row.
import type { ThreadKind } from "./new-thread.ts";

export type Claim = {
  readonly worker: string;
  readonly limit: number;
  readonly lease_us: number;
  /** What the worker is at work on: a clock that ran ahead must not make it take its own threads a second time. */
  readonly except: readonly string[];
} & Wanted;

/** What a process can go on with: threads of the agents that it knows, or rows of another kind; never both at once. */
export type Wanted = {
  /** The newest version of a stored state that this process can read. It counts for each kind by itself. */
  readonly state_version: number;
} & (
  | ({ readonly kind?: "thread"; readonly agents: readonly string[] } & Restrictions)
  | { readonly kind: Exclude<ThreadKind, "thread">; readonly full?: Restrictions["full"] }
);

/** What is left where it is for now. */
export type Restrictions = {
  /** Agents whose threads are taken only to be stopped. */
  readonly off?: readonly string[];
  /** Tenants of whom this process runs as many threads as it may. */
  readonly full?: readonly string[];
};

/** A thread that this worker holds now. `claims` counts how often it was taken since something was last committed. */
export type Claimed = { readonly id: string; readonly epoch: number; readonly claims: number };

export interface Engine {
  /** Takes due threads that nobody holds, or due rows of another kind, the longest due first. */
  claim(claim: Claim): Promise<readonly Claimed[]>;
  /**
   * Holds on to the given threads; answers with those that the worker still holds. A claim whose answer got lost is not
   * among them, and runs out by itself.
   */
  renew(worker: string, threadIds: readonly string[], leaseMicroseconds: number): Promise<readonly Held[]>;
  /**
   * Gives one thread back without having got on with it: due after so many microseconds (null: when
   * it is woken), or at once if it was woken meanwhile. With null for `wake_rev` it is due then in any case.
   */
  giveBack(
    held: Pick<Held, "id" | "epoch"> & { readonly wake_rev: number | null },
    dueAfter: number | null,
    /** Sealed: what went wrong. */
    error?: string,
  ): Promise<void>;
  /** Puts a thread back as it was before it was claimed: there is no room for it here. */
  putBack(claimed: Pick<Held, "id" | "epoch">): Promise<void>;
  /** Takes a thread out of the engine's hands, because it was claimed again and again without getting on. */
  markStuck(threadId: string, epoch: number): Promise<void>;
  /** Lets a stuck thread try again; false when it was not stuck. */
  retry(threadId: string): Promise<boolean>;
  /** Microseconds until the next thread is due that could be claimed, 0 when one is; null when there is none. */
  nextDue(wanted: Wanted): Promise<number | null>;
  /** Whose the threads are: their owners, or where nobody owns them the workspaces that they act in. */
  tenants(threadIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  view(threadId: string): Promise<EngineView | undefined>;
}

/** How the engine sees one thread, for those who want to know why it does not go on. Times are in microseconds. */
export type EngineView = {
  /** By the database's clock. */
  readonly now: number;
  readonly due_at: number | null;
  /** Null when nobody holds it. */
  readonly lease_by: string | null;
  readonly lease_until: number;
  readonly claims: number;
  readonly stuck_at: number | null;
  readonly state_version: number;
  /** Sealed: what went wrong since the last commit that got on. */
  readonly last_error: string | null;
  /** How many entries wait in its inbox. */
  readonly waiting: number;
  /** How many workers are known, and whether the one that holds it is among them. */
  readonly workers: number;
  readonly is_holder_known: boolean;
};

/** A thread as its holder knows it. */
export type Held = { readonly id: string; readonly epoch: number; readonly wake_rev: number };
