// Takes due threads and runs them, many at a time: one worker a process, any number of processes on a shared database.
import type { Claimed, Restrictions } from "../backend/engine.ts";
import type { SqlDriver } from "../backend/sql-driver.ts";
import { SWITCHED } from "../backend/switch-store.ts";
import { errorMessage } from "../contracts/error.ts";
import { type Activation, activate } from "./activation.ts";
import { ClockMoves } from "./clock-moves.ts";
import type { Host } from "./host.ts";
import { longAgo, type Moment, momentNow, passed } from "./moment.ts";
import { installationSecrets } from "./secrets/installation-secrets.ts";
import { shownError } from "./secrets/shown-error.ts";
import { STATE_VERSION } from "./state-version.ts";
import { TenantPlaces } from "./tenant-places.ts";

export type WorkerOptions = {
  /** Threads that are worked on at the same time. */
  readonly concurrency: number;
  /** How often the database is asked for due threads when nobody has said that there are any. */
  readonly pollMs: number;
  /** Commits that a thread may make in one go while others are due. */
  readonly slice: number;
  /** How long what is under way may take once the worker is to stop. */
  readonly drainMs: number;
  /** Threads of one tenant that are worked on at the same time; as many as there is room for unless given. */
  readonly perOwner?: number;
};

/** A thread that was taken this often without a single commit is left alone until somebody looks at it. */
const MOST_CLAIMS = 3;

/** A thread in which something went wrong is tried again after this time, longer each time. */
const RETRY_AFTER_MS = 500;

/** Nobody reads further to find out why a thread got stuck. */
const LONGEST_ERROR = 1_000;

/** After a connection was lost, nobody is declared dead for so long: it may have been the server that went away. */
const QUIET_MS = 5_000;

export class Worker {
  readonly id = `worker-${crypto.randomUUID()}`;
  readonly #host: Host;
  readonly #driver: SqlDriver;
  readonly #options: WorkerOptions;
  readonly #active = new Map<string, Activation>();
  #isStopping = false;
  #hasMoreDue = false;
  #wake: (() => void) | undefined;
  #isNudged = false;
  #loop: Promise<void> | undefined;
  #beat: NodeJS.Timeout | undefined;
  #keeping: Promise<void> | undefined;
  #unlisten: (() => void) | undefined;
  #unwatch: (() => void) | undefined;
  readonly #moves = new ClockMoves();
  readonly #places: TenantPlaces;

  constructor(host: Host, driver: SqlDriver, options: WorkerOptions) {
    this.#host = host;
    this.#driver = driver;
    this.#options = options;
    this.#places = new TenantPlaces(host.stores.engine, options.perOwner);
  }

  /** How many threads it works on now. */
  get active(): number {
    return this.#active.size;
  }

  /** Begins to take threads. What a dead predecessor held is free at once. */
  async start(): Promise<void> {
    const { engine } = this.#host.stores;
    await engine.register(this.id);
    this.#unlisten = this.#driver.listen((threadId) => this.#hear(threadId));
    this.#host.counters.takeovers += (await engine.reap(this.id)).threads;
    this.#beat = setInterval(() => {
      // One at a time, however slow the database is.
      this.#keeping ??= this.#keepUp().finally(() => {
        this.#keeping = undefined;
      });
    }, this.#beatMs);
    this.#beat.unref();
    this.#loop = this.#work();
    this.#unwatch = this.#host.clock?.watch(() => this.#lookAtClock());
  }

  get #beatMs(): number {
    return Math.min(500, this.#host.leaseMs / 4);
  }

  /** Takes nothing more, lets what is under way come to a commit, and gives the rest back at once. */
  async stop(): Promise<void> {
    if (this.#isStopping) return void (await this.#loop);
    this.#isStopping = true;
    this.#unwatch?.();
    this.#nudge();
    await this.#loop;
    this.#moves.release(this.#moves.count);
    await this.#drain();
    clearInterval(this.#beat);
    await this.#keeping;
    this.#unlisten?.();
    const { engine } = this.#host.stores;
    try {
      await engine.release(this.id);
      await engine.leave(this.id);
    } catch (thrown) {
      // The database is away. Then the leases run out by themselves.
      this.#host.report(thrown, "");
    }
  }

  async #drain(): Promise<void> {
    // What goes wrong in a thread is told where it is followed, and must not keep the others from being given back.
    const idle = Promise.allSettled([...this.#active.values()].map(({ done }) => done));
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, this.#options.drainMs);
    });
    await Promise.race([idle, patience]);
    clearTimeout(timer);
    for (const activation of this.#active.values()) activation.lost();
    await idle;
  }

  async #work(): Promise<void> {
    const { engine } = this.#host.stores;
    const agents = [...this.#host.agents.keys()];
    let pause = 0;
    while (!this.#isStopping) {
      try {
        const moves = this.#moves.count;
        // Leases are as long as before, however far somebody has moved the clock.
        if (moves > 0) await this.#keepUp(true);
        const free = this.#options.concurrency - this.#active.size;
        const taken = free > 0 ? await this.#take(free, agents) : 0;
        const due = await engine.nextDue({ agents, state_version: STATE_VERSION, ...this.#restrictions(agents) });
        this.#hasMoreDue = due === 0 && taken >= free;
        pause = 0;
        // Without a free place there is nothing to do before one of the threads is laid down.
        const isFull = this.#active.size >= this.#options.concurrency;
        if (isFull || due !== 0) this.#moves.release(moves);
        await this.#rest(isFull || due === null ? this.#options.pollMs : this.#restUntil(due));
      } catch (thrown) {
        // The database is away: it is asked again, less and less often.
        this.#host.report(thrown, "");
        pause = Math.min(5_000, pause * 2 + 50);
        await this.#rest(pause);
      }
    }
  }

  async #take(limit: number, agents: readonly string[]): Promise<number> {
    const { stores, leaseMs } = this.#host;
    const claimedAt = momentNow();
    const except = [...this.#active.keys()];
    const asked = { worker: this.id, agents, state_version: STATE_VERSION, limit, lease_us: leaseMs * 1000, except };
    const claimed = await stores.engine.claim({ ...asked, ...this.#restrictions(agents) });
    if (claimed.length > 0) await this.#host.reached("after claim");
    const admitted = await this.#places.admit(claimed);
    for (const thread of admitted) {
      if (thread.claims > MOST_CLAIMS) {
        await stores.engine.markStuck(thread.id, thread.epoch);
        this.#places.left(thread.id);
        this.#host.progress.changed(thread.id);
        continue;
      }
      const isSliceOver = (commits: number, agent: string) =>
        this.#isStopping ||
        (this.#hasMoreDue && commits >= this.#options.slice) ||
        this.#host.switches.find("agent", agent) !== undefined;
      const activation = activate(this.#host, { claimed: thread, worker: this.id, claimedAt, isSliceOver });
      // Taken again: what this worker was doing for the thread under its old lease is lost.
      this.#active.get(thread.id)?.lost();
      this.#active.set(thread.id, activation);
      if (this.#host.clock) this.#moves.took(thread.id, activation.done, this.#host.progress);
      void this.#follow(thread, activation);
    }
    return admitted.length;
  }

  /** Whose threads are not to be taken now. */
  #restrictions(agents: readonly string[]): Restrictions {
    const off = this.#host.switches.agentsOff.filter((agent) => agents.includes(agent));
    const { full } = this.#places;
    this.#offThen = off.join("\n");
    return { ...(off.length > 0 && { off }), ...(full.length > 0 && { full }) };
  }

  /** Resolves once what is due since the clock was moved is under way, as far as there is room for it. */
  async #lookAtClock(): Promise<void> {
    const looked = this.#moves.lookedAt();
    this.#nudge();
    await looked;
  }

  /** Milliseconds. By a clock that somebody holds, nothing becomes due by waiting. */
  #restUntil(due: number): number {
    const { pollMs } = this.#options;
    return this.#host.clock && due > 0 ? pollMs : Math.min(pollMs, due / 1000);
  }

  /** What goes wrong in one thread is told, and the thread is tried again a little later. */
  async #follow({ id, epoch, claims }: Claimed, activation: Activation): Promise<void> {
    try {
      await activation.done;
    } catch (thrown) {
      this.#host.report(thrown, id);
      await this.#giveBack(id, epoch, claims * RETRY_AFTER_MS, thrown);
    } finally {
      // By now this worker may have taken the thread again.
      if (this.#active.get(id) === activation) {
        this.#active.delete(id);
        this.#places.left(id);
      }
      this.#nudge();
    }
  }

  async #giveBack(id: string, epoch: number, dueAfterMs: number, thrown: unknown): Promise<void> {
    try {
      // For whoever asks one day why the thread got stuck.
      const words = errorMessage(shownError(thrown, installationSecrets(this.#host))).slice(0, LONGEST_ERROR);
      const error = this.#host.sealing.seal(words, id);
      await this.#host.stores.engine.giveBack({ id, epoch, wake_rev: null }, dueAfterMs * 1000, error);
    } catch {
      // Then the lease runs out by itself.
    }
  }

  /** Holds on to what is held, lets go of what was lost, and frees what dead workers held. */
  async #keepUp(isMoved = false): Promise<void> {
    const { engine } = this.#host.stores;
    try {
      const at = momentNow();
      if (this.#active.size > 0 && (isMoved || this.#isRenewalDue(at))) {
        const before = [...this.#active];
        const own = before.map(([id]) => id);
        const renewed = await engine.renew(this.id, own, this.#host.leaseMs * 1000);
        const held = new Map(renewed.map(({ id, epoch }) => [id, epoch]));
        for (const [id, activation] of before) {
          // Another epoch is another lease, even when it is ours.
          if (held.get(id) === activation.epoch) activation.renewed(at);
          else {
            // What was laid down while leases were renewed has none to lose.
            if (!activation.isLaidDown) this.#host.counters.lost_leases++;
            activation.lost();
          }
        }
        this.#renewedAt = at;
      }
      const mayJudge = this.#driver.isShared && at.steady >= this.#quietUntil;
      const dead = mayJudge ? await engine.reap(this.id) : { workers: 0, threads: 0 };
      this.#host.counters.takeovers += dead.threads;
      if (dead.workers > 0) this.#nudge();
      if (this.#driver.isShared) await this.#lookAtSwitches();
    } catch (thrown) {
      this.#host.report(thrown, "");
    }
  }

  /** An agent that is on again has threads that wait. */
  async #lookAtSwitches(): Promise<void> {
    const { switches, agents } = this.#host;
    await switches.refresh();
    if (switches.agentsOff.filter((agent) => agents.has(agent)).join("\n") !== this.#offThen) this.#nudge();
  }

  /** The agents that were off when threads were last taken. */
  #offThen = "";

  #renewedAt = longAgo;
  #quietUntil = 0;

  #isRenewalDue(at: Moment): boolean {
    return passed(this.#renewedAt, at) >= this.#host.leaseMs / 4;
  }

  #hear(threadId: string): void {
    if (threadId === SWITCHED) return void this.#lookAtSwitches();
    // We were cut off from the database ourselves: the others may be on their way back, and are no dead.
    if (threadId === "") this.#quietUntil = performance.now() + QUIET_MS;
    if (threadId === "") for (const activation of this.#active.values()) activation.lookAtInbox();
    else this.#active.get(threadId)?.lookAtInbox();
    this.#nudge();
  }

  #nudge(): void {
    this.#isNudged = true;
    this.#wake?.();
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
