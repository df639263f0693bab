// What is particular to threads as work that is leased: which of them this process may claim, how many of one tenant, for how
// long one goes on while others are due, and when one is left alone. The loop itself is `engine/work-loop.ts`.
import type { Claimed, Restrictions } from "../backend/engine.ts";
import type { Reaped } from "../backend/membership.ts";
import type { SqlDriver } from "../backend/sql-driver.ts";
import { SWITCHED } from "../backend/switch-store.ts";
import { errorMessage } from "../contracts/error.ts";
import type { Membership } from "../engine/membership.ts";
import type { Moment } from "../engine/moment.ts";
import { type Activation, type ClaimRequest, WorkLoop, type WorkSource } from "../engine/work-loop.ts";
import { activate } from "./activation.ts";
import type { Host } from "./host.ts";
import { installationSecrets } from "./secrets/installation-secrets.ts";
import { shownError } from "./secrets/shown-error.ts";
import { STATE_VERSION } from "./state-version.ts";
import { TenantPlaces } from "./tenant-places.ts";

export type WorkerOptions = {
  /** Threads that are run at the same time. */
  readonly concurrency: number;
  /** How often due threads are looked for without a signal that there are any. */
  readonly pollMs: number;
  /** Commits that a thread may make in one go while others are due. */
  readonly slice: number;
  /** How long what runs may take once the worker is to stop. */
  readonly drainMs: number;
  /** Threads of one tenant that are run at the same time; as many as there is room for unless given. */
  readonly perOwner?: number;
};

/** A thread that was claimed this often without a single commit is stuck: it is left alone until an operator retries it. */
const MOST_CLAIMS = 3;

/** A thread in which something went wrong is tried again after this time, longer each time. */
const RETRY_AFTER_MS = 500;

/** Of an error that is stored with a thread. */
const LONGEST_ERROR = 1_000;

export class Worker {
  readonly #host: Host;
  readonly #driver: SqlDriver;
  readonly #membership: Membership;
  readonly #options: WorkerOptions;
  readonly #loop: WorkLoop<Claimed>;
  readonly #places: TenantPlaces;
  readonly #agents: readonly string[];
  /** The agents that were off when threads were last claimed. */
  #offBefore = "";
  #unsubscribe: readonly (() => void)[] = [];

  constructor(host: Host, driver: SqlDriver, membership: Membership, options: WorkerOptions) {
    this.#host = host;
    this.#driver = driver;
    this.#membership = membership;
    this.#options = options;
    this.#agents = [...host.agents.keys()];
    this.#places = new TenantPlaces(host.stores.engine, options.perOwner);
    const { concurrency, pollMs, drainMs } = options;
    const { leaseMs, clock, report } = host;
    const source = this.#source();
    this.#loop = new WorkLoop({ source, membership, driver, concurrency, pollMs, leaseMs, drainMs, clock, report });
    this.#unsubscribe = [membership.onReaped(({ freed }) => this.#count(freed))];
  }

  /** How many threads it runs now. */
  get active(): number {
    return this.#loop.active;
  }

  /** Begins to claim threads. The membership has joined before. */
  start(): void {
    const { isShared } = this.#driver;
    this.#loop.start();
    this.#unsubscribe = [
      ...this.#unsubscribe,
      this.#driver.listen((signal) => signal === SWITCHED && void this.#lookAtSwitches()),
      ...(isShared ? [this.#membership.onBeat(() => this.#lookAtSwitches())] : []),
    ];
  }

  /** Claims nothing more, and lets what runs come to a commit. The membership gives the rest back when it leaves. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #source(): WorkSource<Claimed> {
    const { engine } = this.#host.stores;
    return {
      claim: (request) => this.#claim(request),
      renew: (worker, ids, leaseMicroseconds) => engine.renew(worker, ids, leaseMicroseconds),
      nextDue: () => engine.nextDue({ agents: this.#agents, state_version: STATE_VERSION, ...this.#restrictions() }),
      activate: (thread, claimedAt) => this.#activate(thread, claimedAt),
      failed: (thread, thrown) => this.#giveBack(thread, thrown),
      ended: (id) => this.#places.left(id),
      leaseLost: () => {
        this.#host.counters.lost_leases++;
      },
      concerns: (signal) => signal !== SWITCHED,
    };
  }

  async #claim(request: ClaimRequest): Promise<readonly Claimed[]> {
    const { stores, onCrashPoint, progress } = this.#host;
    const asked = { ...request, agents: this.#agents, state_version: STATE_VERSION };
    const claimed = await stores.engine.claim({ ...asked, ...this.#restrictions() });
    if (claimed.length > 0) await onCrashPoint("after claim");
    const admitted = await this.#places.admit(claimed);
    for (const { id, epoch } of admitted.filter(isStuck)) {
      await stores.engine.markStuck(id, epoch);
      this.#places.left(id);
      progress.changed(id);
    }
    return admitted.filter((thread) => !isStuck(thread));
  }

  #activate(claimed: Claimed, claimedAt: Moment): Activation {
    const { switches } = this.#host;
    const isSliceOver = (commits: number, agent: string) =>
      this.#loop.isStopping ||
      (this.#loop.hasMoreDue && commits >= this.#options.slice) ||
      switches.find("agent", agent) !== undefined;
    return activate(this.#host, { claimed, worker: this.#membership.worker, claimedAt, isSliceOver });
  }

  /** Which threads are not to be claimed now. */
  #restrictions(): Restrictions {
    const off = this.#host.switches.agentsOff.filter((agent) => this.#agents.includes(agent));
    const { full } = this.#places;
    this.#offBefore = off.join("\n");
    return { ...(off.length > 0 && { off }), ...(full.length > 0 && { full }) };
  }

  async #giveBack({ id, epoch, claims }: Claimed, thrown: unknown): Promise<void> {
    // Kept with the thread, for an operator who asks why it got stuck.
    const words = errorMessage(shownError(thrown, installationSecrets(this.#host))).slice(0, LONGEST_ERROR);
    const error = this.#host.sealing.seal(words, id);
    await this.#host.stores.engine.giveBack({ id, epoch, wake_rev: null }, claims * RETRY_AFTER_MS * 1_000, error);
  }

  /** An agent that is on again has threads that wait. */
  async #lookAtSwitches(): Promise<void> {
    const { switches } = this.#host;
    await switches.refresh();
    const off = switches.agentsOff.filter((agent) => this.#agents.includes(agent));
    if (off.join("\n") !== this.#offBefore) this.#loop.nudge();
  }

  #count({ threads = 0 }: Reaped["freed"]): void {
    this.#host.counters.takeovers += threads;
  }
}

function isStuck({ claims }: Claimed): boolean {
  return claims > MOST_CLAIMS;
}
