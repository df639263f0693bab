// Who runs which thread, and when: leases, wake-ups and timers, all of them columns of the thread's own row.

export type Claim = {
  readonly worker: string;
  readonly agents: readonly string[];
  /** The newest version of a stored state that this process can read. */
  readonly state_version: number;
  readonly limit: number;
  readonly lease_us: number;
  /** What the worker is at work on: a clock that ran ahead must not make it take its own threads a second time. */
  readonly except: readonly string[];
};

/** A thread that this worker holds now. `claims` counts how often it was taken since something was last committed. */
export type Claimed = { readonly id: string; readonly epoch: number; readonly claims: number };

export interface Engine {
  /** Takes due threads that nobody holds, the longest due first. */
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
  ): Promise<void>;
  /** Gives everything back at once, due now: nothing is wrong with it. */
  release(worker: string): Promise<void>;
  /** Takes a thread out of the engine's hands, because it was claimed again and again without getting on. */
  markStuck(threadId: string, epoch: number): Promise<void>;
  /** Lets a stuck thread try again; false when it was not stuck. */
  retry(threadId: string): Promise<boolean>;
  register(worker: string): Promise<void>;
  leave(worker: string): Promise<void>;
  /** Frees what workers held that are found dead twice in a row, and answers how many of them there were. */
  reap(worker: string): Promise<number>;
  /** Microseconds until the next thread is due that could be claimed, 0 when one is; null when there is none. */
  nextDue(claim: Pick<Claim, "agents" | "state_version">): Promise<number | null>;
}

/** A thread as its holder knows it. */
export type Held = { readonly id: string; readonly epoch: number; readonly wake_rev: number };
