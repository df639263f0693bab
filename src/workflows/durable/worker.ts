// Claims due runs and carries them on. Runs have places of their own: those that wait for agents must not take the places of the
// threads that these work on.
import type { Claimed } from "../../backend/engine.ts";
import type { SqlDriver } from "../../backend/sql-driver.ts";
import { errorMessage } from "../../contracts/error.ts";
import type { Membership } from "../../engine/membership.ts";
import { type ClaimRequest, WorkLoop, type WorkSource } from "../../engine/work-loop.ts";
import { installationSecrets } from "../../threads/secrets/installation-secrets.ts";
import { shownError } from "../../threads/secrets/shown-error.ts";
import { activateRun } from "./activation.ts";
import type { RunHost } from "./run-host.ts";
import { RUN_STATE_VERSION } from "./run-state.ts";

export type RunWorkerOptions = {
  /** Runs that are carried on at the same time. */
  readonly concurrency: number;
  readonly pollMs: number;
  /** Commits that a run may make in one go while others are due. */
  readonly slice: number;
  readonly drainMs: number;
};

export type RunWorker = {
  /** How many runs it carries on now. */
  readonly active: number;
  /** The membership has joined before. */
  start(): void;
  stop(): Promise<void>;
};

/** A run that was claimed this often without a single commit is stuck: it is left alone until an operator retries it. */
const MOST_CLAIMS = 3;

/** A run in which something went wrong is tried again after this time, longer each time. */
const RETRY_AFTER_MS = 500;

/** Of an error that is stored with a run. */
const LONGEST_ERROR = 1_000;

const WANTED = { kind: "workflow", state_version: RUN_STATE_VERSION } as const;

export function createRunWorker(
  host: RunHost,
  driver: SqlDriver,
  membership: Membership,
  { concurrency, pollMs, slice, drainMs }: RunWorkerOptions,
): RunWorker {
  const { stores, leaseMs, clock, report, counters, onCrashPoint, progress, sealing } = host.threads;
  const { engine } = stores;

  async function claim(request: ClaimRequest): Promise<readonly Claimed[]> {
    const claimed = await engine.claim({ ...request, ...WANTED });
    if (claimed.length > 0) await onCrashPoint("after claim of a run");
    for (const { id, epoch, claims } of claimed) {
      if (claims <= MOST_CLAIMS) continue;
      await engine.markStuck(id, epoch);
      progress.changed(id);
    }
    return claimed.filter(({ claims }) => claims <= MOST_CLAIMS);
  }

  const source: WorkSource<Claimed> = {
    claim,
    renew: (worker, ids, leaseMicroseconds) => engine.renew(worker, ids, leaseMicroseconds),
    nextDue: () => engine.nextDue(WANTED),
    activate: (claimed, claimedAt) =>
      activateRun(host, {
        ...{ claimed, worker: membership.worker, claimedAt },
        isSliceOver: (commits) => loop.isStopping || (loop.hasMoreDue && commits >= slice),
      }),
    async failed({ id, epoch, claims }, thrown) {
      // Kept with the run, for an operator who asks why it got stuck.
      const words = errorMessage(shownError(thrown, installationSecrets(host.threads))).slice(0, LONGEST_ERROR);
      await engine.giveBack({ id, epoch, wake_rev: null }, claims * RETRY_AFTER_MS * 1_000, sealing.seal(words, id));
    },
    leaseLost: () => {
      counters.lost_leases++;
    },
  };
  const loop = new WorkLoop({ source, membership, driver, concurrency, pollMs, leaseMs, drainMs, clock, report });

  return {
    get active() {
      return loop.active;
    },
    start: () => loop.start(),
    stop: () => loop.stop(),
  };
}
