// Claims due work of one kind and runs it, many items at a time: one loop per kind of work and process, any number of
// processes on a shared database.
import type { Clock } from "../backend/clock.ts";
import type { SqlDriver } from "../backend/sql-driver.ts";
import { ClockMoves } from "./clock-moves.ts";
import type { Membership } from "./membership.ts";
import { longAgo, type Moment, momentNow, passed } from "./moment.ts";

/** What identifies a claim: of the same row, another epoch is another lease, even when the worker is the same. */
export type Lease = { readonly id: string; readonly epoch: number };

export type ClaimRequest = {
  readonly worker: string;
  /** The most items that there is room for. */
  readonly limit: number;
  readonly lease_us: number;
  /** Ids that this loop is at work on. */
  readonly except: readonly string[];
};

/** One kind of work: where it is leased, and how it is run. */
export interface WorkSource<Item extends Lease> {
  /** Leases due items. Those that it returns are activated at once; it gives back itself what is not to be run here. */
  claim(request: ClaimRequest): Promise<readonly Item[]>;
  /** Extends the leases of these items; resolves with those that the worker still holds. */
  renew(worker: string, ids: readonly string[], leaseMicroseconds: number): Promise<readonly Lease[]>;
  /** Microseconds until the next item can be claimed, 0 when one can be now, null when there is none. */
  nextDue(): Promise<number | null>;
  /** Begins to run an item. `claimedAt`: a moment before the claim, from which on the lease counts. */
  activate(item: Item, claimedAt: Moment): Activation;
  /** An activation has failed, which was reported: gives the item back, to be tried again later. It may fail: then the lease runs out. */
  failed(item: Item, thrown: unknown): Promise<void>;
  /** This loop is not at work on the item any more. */
  ended?(id: string): void;
  /** A lease was lost that the activation had not given back itself. */
  leaseLost?(id: string): void;
  /** False for signals of the database that say nothing about this kind of work; every signal counts unless defined. */
  concerns?(signal: string): boolean;
}

/** One claimed item while it is run. */
export interface Activation {
  /** Of the lease under which it runs. */
  readonly epoch: number;
  /** True once it has given its lease back itself, or is about to, or has ended: then a missing lease is no lost one. */
  readonly isReleased: boolean;
  /** The lease was renewed at that moment. */
  renewed(at: Moment): void;
  /** The lease is lost, or the loop stops waiting: what runs is to be ended without another commit. May be called twice. */
  lost(): void;
  /**
   * No renewal was answered, and by the clock of this process the lease is about to run out: then another worker may begin the
   * item anew. What it would repeat is to be ended; what is done may still be committed, in case no other has the lease. It is
   * not renewed any more. Absent where a successor repeats nothing that was begun.
   */
  expired?(): void;
  /** Something has come in that may concern what it is doing. */
  notify(): void;
  /** Resolves once the item was given back, has ended or was given up; rejects with what went wrong. */
  readonly done: Promise<void>;
  /** Resolves once callers can see that it runs, and never rejects; when it is done unless given. For tests that hold the clock. */
  readonly begun?: Promise<unknown>;
}

export type WorkLoopOptions<Item extends Lease> = {
  readonly source: WorkSource<Item>;
  readonly membership: Pick<Membership, "worker" | "onBeat" | "onReaped">;
  readonly driver: Pick<SqlDriver, "listen" | "isShared">;
  /** Items that are run at the same time; read anew each time. */
  readonly concurrency: number;
  /** How often due work is looked for without a signal that there is any. */
  readonly pollMs: number;
  /** How long an item is leased without a renewal. */
  readonly leaseMs: number;
  /** How long what runs may take once the loop is to stop. */
  readonly drainMs: number;
  /** Where a test holds the clock: real time then says nothing about what is due. */
  readonly clock?: Clock | undefined;
  /** Told what went wrong, with the id of the item that it concerns or "". Must not throw. */
  readonly report: (error: unknown, id: string) => void;
};

/** While the database is away: the first and the longest pause before it is asked again. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** While something is due that cannot be claimed: it is locked just now, or a limit was reached elsewhere. */
const LONGEST_FRUITLESS_PAUSE_MS = 100;

/** The longest time between two looks at the leases by the clock of this process, and how many there are within a lease. */
const LONGEST_LOOK_MS = 500;
const LOOKS_PER_LEASE = 20;

type Held = {
  readonly activation: Activation;
  /** When the lease was last known to be whole. */
  since: Moment;
  state: "held" | "expired" | "lost";
};

export class WorkLoop<Item extends Lease> {
  readonly #options: WorkLoopOptions<Item>;
  readonly #active = new Map<string, Held>();
  readonly #moves = new ClockMoves();
  #isStopping = false;
  #hasMoreDue = false;
  #isNudged = false;
  #wake: (() => void) | undefined;
  #renewedAt = longAgo;
  #lookedAt = 0;
  #asksFirstUntil = 0;
  #looking: NodeJS.Timeout | undefined;
  #loop: Promise<void> | undefined;
  #unsubscribe: readonly (() => void)[] = [];
  #unwatch: (() => void) | undefined;

  constructor(options: WorkLoopOptions<Item>) {
    this.#options = options;
  }

  /** How many items it runs now. */
  get active(): number {
    return this.#active.size;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** True while more is due than there is room for. */
  get hasMoreDue(): boolean {
    return this.#hasMoreDue;
  }

  /** Begins to claim work. The membership has joined before. */
  start(): void {
    const { membership, driver, clock } = this.#options;
    this.#unsubscribe = [
      driver.listen((signal) => this.#hear(signal)),
      membership.onBeat(() => this.#keepLeases()),
      membership.onReaped(({ workers }) => workers > 0 && this.nudge()),
    ];
    // Where no other process can take an item over, a lease that has run out does no harm.
    if (driver.isShared) this.#looking = setInterval(() => this.#lookAtLeases(), this.#lookMs).unref();
    this.#loop = this.#work();
    this.#unwatch = clock?.watch(() => this.#lookAtClock());
  }

  /** Looks for work at once. */
  nudge(): void {
    this.#isNudged = true;
    this.#wake?.();
  }

  /**
   * Claims nothing more and lets what runs come to its end, as far as there is time for that. What is still leased then is
   * given back by the membership when it leaves.
   */
  async stop(): Promise<void> {
    if (this.#isStopping) return void (await this.#loop);
    this.#isStopping = true;
    this.#unwatch?.();
    this.nudge();
    await this.#loop;
    this.#moves.release(this.#moves.count);
    await this.#drain();
    clearInterval(this.#looking);
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  async #drain(): Promise<void> {
    // What goes wrong in one item is reported where it is followed, and must not keep the others from being waited for.
    const idle = Promise.allSettled([...this.#active.values()].map(({ activation }) => activation.done));
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, this.#options.drainMs);
    });
    await Promise.race([idle, patience]);
    clearTimeout(timer);
    for (const { activation } of this.#active.values()) activation.lost();
    await idle;
  }

  async #work(): Promise<void> {
    const { source, pollMs, report } = this.#options;
    let pause = 0;
    let fruitless = 0;
    while (!this.#isStopping) {
      try {
        const { concurrency } = this.#options;
        const moves = this.#moves.count;
        // Leases are as long as before, however far the clock was moved.
        if (moves > 0) await this.#renew();
        const free = concurrency - this.#active.size;
        const claimed = free > 0 ? await this.#claim(free) : 0;
        const due = await source.nextDue();
        pause = 0;
        this.#hasMoreDue = due === 0 && claimed >= free;
        fruitless = free > 0 && claimed === 0 && due === 0 ? fruitless + 1 : 0;
        // Without a free place there is nothing to do before an item has ended.
        const isFull = this.#active.size >= concurrency;
        if (isFull || due !== 0) this.#moves.release(moves);
        await this.#rest(isFull || due === null ? pollMs : this.#restUntil(due, fruitless));
      } catch (thrown) {
        // The database is away: it is asked again, less and less often.
        report(thrown, "");
        pause = Math.min(LONGEST_PAUSE_MS, pause * 2 + FIRST_PAUSE_MS);
        await this.#rest(pause);
      }
    }
  }

  async #claim(limit: number): Promise<number> {
    const { source, membership, leaseMs, clock } = this.#options;
    const claimedAt = momentNow();
    const except = [...this.#active.keys()];
    const { worker } = membership;
    const claimed = await source.claim({ worker, limit, lease_us: leaseMs * 1_000, except });
    for (const item of claimed) {
      const activation = source.activate(item, claimedAt);
      // Claimed again: what this loop was doing for the item under its old lease is lost.
      this.#active.get(item.id)?.activation.lost();
      this.#active.set(item.id, { activation, since: claimedAt, state: "held" });
      if (clock) this.#moves.claimed(activation.begun ?? activation.done.catch(() => undefined));
      void this.#follow(item, activation);
    }
    return claimed.length;
  }

  async #follow(item: Item, activation: Activation): Promise<void> {
    const { source, report } = this.#options;
    try {
      await activation.done;
    } catch (thrown) {
      report(thrown, item.id);
      // If it cannot be given back either, its lease runs out by itself.
      await source.failed(item, thrown).catch(() => undefined);
    } finally {
      // By now this loop may have claimed the item again.
      if (this.#active.get(item.id)?.activation === activation) {
        this.#active.delete(item.id);
        source.ended?.(item.id);
      }
      this.nudge();
    }
  }

  /** Resolves once what is due since the clock was moved is under way, as far as there is room for it. */
  async #lookAtClock(): Promise<void> {
    const looked = this.#moves.lookedAt();
    this.nudge();
    await looked;
  }

  /** Milliseconds. By a clock that a test holds, nothing becomes due by waiting. */
  #restUntil(due: number, fruitless: number): number {
    const { clock, pollMs } = this.#options;
    return clock && due > 0 ? pollMs : Math.min(pollMs, Math.max(due / 1_000, pauseAfter(fruitless)));
  }

  async #keepLeases(): Promise<void> {
    if (passed(this.#renewedAt, momentNow()) >= this.#options.leaseMs / 4) await this.#renew();
  }

  /** Renews the leases of what runs, and gives up what was lost. */
  async #renew(): Promise<void> {
    const before = [...this.#active].filter(([, { state }]) => state === "held");
    if (before.length === 0) return;
    const { source, membership, leaseMs } = this.#options;
    const at = momentNow();
    const ids = before.map(([id]) => id);
    const renewed = await source.renew(membership.worker, ids, leaseMs * 1_000);
    const epochs = new Map(renewed.map(({ id, epoch }) => [id, epoch]));
    for (const [id, held] of before) {
      const { activation } = held;
      if (epochs.get(id) === activation.epoch) {
        // What was ended meanwhile gives its lease back itself.
        if (held.state === "expired") continue;
        activation.renewed(at);
        // Of two renewals the earlier one may be answered last.
        if (at.steady > held.since.steady) held.since = at;
      } else if (held.state !== "lost") {
        held.state = "lost";
        // What was given back while leases were renewed has none to lose.
        if (!activation.isReleased) source.leaseLost?.(id);
        activation.lost();
      }
    }
    this.#renewedAt = at;
  }

  get #lookMs(): number {
    return Math.min(LONGEST_LOOK_MS, this.#options.leaseMs / LOOKS_PER_LEASE);
  }

  /**
   * Ends what another worker may begin anew before this one gets an answer. By the monotonic clock: however the other one is
   * set, no lease runs out in the database for it.
   */
  #lookAtLeases(): void {
    const { leaseMs } = this.#options;
    const now = momentNow().steady;
    // Nothing ran here, no renewal either: that says nothing about the database, which is asked first.
    if (now - this.#lookedAt > leaseMs / 4) this.#asksFirstUntil = now + leaseMs / 4;
    this.#lookedAt = now;
    if (now < this.#asksFirstUntil) return;
    for (const held of this.#active.values()) {
      const isOver = now - held.since.steady >= leaseMs - this.#lookMs;
      if (!isOver || held.state !== "held" || !held.activation.expired) continue;
      held.state = "expired";
      held.activation.expired();
    }
  }

  /** A signal is the id of the item that it is about. After a lost connection it is empty: any may have been missed. */
  #hear(signal: string): void {
    if (signal === "") {
      for (const { activation } of this.#active.values()) activation.notify();
      // While this process was away, it may have been taken for dead, and another worker be at work on what runs here.
      void this.#renew().catch((thrown: unknown) => this.#options.report(thrown, ""));
    } else if (this.#options.source.concerns?.(signal) === false) return;
    else this.#active.get(signal)?.activation.notify();
    this.nudge();
  }

  /** Until nudged, or for so long. */
  async #rest(milliseconds: number): Promise<void> {
    if (!this.#isNudged && !this.#isStopping) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#wake = undefined;
    this.#isNudged = false;
  }
}

/** Milliseconds: none at first, then 1, 2, 4 and so on. */
function pauseAfter(fruitless: number): number {
  return fruitless < 2 ? 0 : Math.min(LONGEST_FRUITLESS_PAUSE_MS, 2 ** (fruitless - 2));
}
