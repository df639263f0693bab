// This process as a worker: the id under which it leases work of every kind, the beat with which it keeps its leases, and
// its look at the others, so that what a dead process had leased is free again within seconds.
import type { MembershipStore, Reaped } from "../backend/membership.ts";
import type { SqlDriver } from "../backend/sql-driver.ts";

export interface Membership {
  /**
   * Every work loop of this process leases under this id. On a database of one process all other ids are dead for certain,
   * so that two ids of one process would free each other's work.
   */
  readonly worker: string;
  /** Makes the worker known, and frees what dead workers had leased. To be called before the first work loop starts. */
  join(): Promise<void>;
  /** Calls back several times within a lease, never twice at once, until the returned function is called. */
  onBeat(work: () => Promise<void>): () => void;
  /** Calls back after every look at the other workers. */
  onReaped(listener: (reaped: Reaped) => void): () => void;
  /** Gives back what is still leased, and forgets the worker. To be called after every work loop has stopped. */
  leave(): Promise<void>;
}

export type MembershipOptions = {
  readonly store: MembershipStore;
  readonly driver: Pick<SqlDriver, "isShared" | "listen">;
  /** How long a lease lasts without being renewed. */
  readonly leaseMs: number;
  readonly report: (error: unknown) => void;
};

/** The longest time between two beats. */
const LONGEST_BEAT_MS = 500;

/** After the connection was lost, no worker is taken for dead for so long: it may have been the server that went away. */
const QUIET_MS = 5_000;

export function createMembership({ store, driver, leaseMs, report }: MembershipOptions): Membership {
  const worker = `worker-${crypto.randomUUID()}`;
  const works = new Set<() => Promise<void>>();
  const listeners = new Set<(reaped: Reaped) => void>();
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> | undefined;
  let unlisten: (() => void) | undefined;
  let quietUntil = 0;

  async function reap(): Promise<void> {
    const reaped = await store.reap(worker);
    for (const listener of listeners) listener(reaped);
  }

  async function beat(): Promise<void> {
    const at = performance.now();
    const failures: unknown[] = [];
    // One after another, and each in any case: the leases of one kind of work must not depend on another.
    for (const work of works) await work().catch((thrown: unknown) => failures.push(thrown));
    const mayJudge = driver.isShared && at >= quietUntil && failures.length === 0;
    if (mayJudge) await reap().catch((thrown: unknown) => failures.push(thrown));
    // While the database is away everything fails for one reason, which is reported once.
    if (failures.length > 0) report(failures[0]);
  }

  return {
    worker,

    async join() {
      await store.register(worker);
      unlisten = driver.listen((signal) => {
        // This process was cut off from the database itself: the others may be on their way back.
        if (signal === "") quietUntil = performance.now() + QUIET_MS;
      });
      await reap();
      timer = setInterval(
        () => {
          // One at a time, however slow the database is.
          beating ??= beat().finally(() => {
            beating = undefined;
          });
        },
        Math.min(LONGEST_BEAT_MS, leaseMs / 4),
      );
      timer.unref();
    },

    onBeat(work) {
      works.add(work);
      return () => works.delete(work);
    },

    onReaped(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async leave() {
      clearInterval(timer);
      await beating;
      unlisten?.();
      try {
        await store.release(worker);
        await store.leave(worker);
      } catch (thrown) {
        // The database is away. Then the leases run out by themselves.
        report(thrown);
      }
    },
  };
}
