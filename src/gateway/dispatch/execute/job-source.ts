// Jobs as the work loop sees them: where they are leased, and how one is run.
import type { ClaimedJob, RenewedJob } from "../../../backend/gateway/job-store.ts";
import { type Moment, momentNow, passed } from "../../../engine/moment.ts";
import type { Activation, WorkSource } from "../../../engine/work-loop.ts";
import type { DispatchDeps } from "../deps.ts";
import type { Snapshot } from "../snapshot.ts";
import { createRestingJobs } from "./resting-jobs.ts";
import { runJob } from "./run-job.ts";

export type JobSourceOptions = {
  readonly deps: DispatchDeps;
  /** The configuration that is in force; a job keeps the one it was claimed under. */
  readonly snapshot: () => Snapshot;
  readonly runsAgents: boolean;
};

export function createJobSource({ deps, snapshot, runsAgents }: JobSourceOptions): WorkSource<ClaimedJob> {
  const { jobs, onCrashPoint } = deps;
  const running = new Map<string, RunningJob>();
  let leaseMs = 0;
  const resting = createRestingJobs();

  return {
    async claim({ worker, limit, lease_us, except }) {
      leaseMs = lease_us / 1_000;
      const { config, plugins } = snapshot();
      const parallelism = Object.fromEntries([...plugins.values()].map((plugin) => [plugin.name, plugin.parallelism]));
      const agents = [...plugins.values()].flatMap(({ name, isAgent }) => (isAgent ? [name] : []));
      const left = runsAgents ? {} : { except_plugins: agents };
      const claimed: ClaimedJob[] = [];
      const { max_workers } = config.service;
      while (claimed.length < limit && running.size + claimed.length < max_workers) {
        const taken = [...except, ...idsOf(claimed), ...resting.ids()];
        try {
          const job = await jobs.claim({ worker, lease_us, max_workers, parallelism, ...left, except: taken });
          if (!job) break;
          claimed.push(job);
        } catch (thrown) {
          if (claimed.length === 0) throw thrown;
          // What is leased by now has to be run here. A failure that does not pass meets the next round.
          break;
        }
      }
      if (claimed.length > 0) {
        deps.announce();
        await onCrashPoint("after claim job");
      }
      return claimed;
    },

    async renew(worker, ids, leaseMicroseconds) {
      const renewed = await jobs.renew(worker, ids, leaseMicroseconds);
      for (const each of renewed) running.get(each.id)?.heardOf(each);
      return renewed;
    },

    nextDue: async () => ((await deps.control.isPaused()) ? null : await jobs.nextDue()),

    activate(item, claimedAt) {
      const job = new RunningJob(deps, snapshot(), item, { leaseMs, since: claimedAt });
      running.set(item.id, job);
      job.done.then(
        () => resting.wentWell(item.id),
        () => resting.wentWrong(item.id),
      );
      return job;
    },

    // The claim counts no attempt: what went wrong is not the plugin's fault.
    failed: ({ id, epoch }) => jobs.putBack({ id, epoch }),

    ended: (id) => void running.delete(id),
    concerns: (signal) => signal.startsWith("gateway") || running.has(signal),
  };
}

function idsOf(claimed: readonly ClaimedJob[]): readonly string[] {
  return claimed.map(({ id }) => id);
}

/** One claimed job while it runs. */
class RunningJob implements Activation {
  readonly epoch: number;
  readonly done: Promise<void>;
  /** Callers see that it runs as soon as it was claimed. */
  readonly begun = Promise.resolve();
  readonly #abort = new AbortController();
  readonly #deps: DispatchDeps;
  readonly #id: string;
  readonly #leaseMs: number;
  #leasedAt: Moment;
  #isReleased = false;
  #isLost = false;
  #cancelledBy: string | null;

  constructor(
    deps: DispatchDeps,
    snapshot: Snapshot,
    job: ClaimedJob,
    lease: { readonly leaseMs: number; readonly since: Moment },
  ) {
    this.#leaseMs = lease.leaseMs;
    this.#leasedAt = lease.since;
    this.epoch = job.epoch;
    this.#deps = deps;
    this.#id = job.id;
    this.#cancelledBy = job.cancel_requested_by;
    this.done = runJob(deps, snapshot, job, {
      signal: this.#abort.signal,
      cancelledBy: () => this.#cancelledBy,
      checkLease: () => {
        if (passed(this.#leasedAt, momentNow()) >= (this.#leaseMs * 2) / 3) this.#abort.abort();
      },
      isLost: () => this.#isLost,
    }).finally(() => {
      this.#isReleased = true;
    });
  }

  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** For what it writes outside of commits; these are guarded by the epoch. */
  renewed(at: Moment): void {
    this.#leasedAt = at;
  }

  lost(): void {
    this.#isLost = true;
    this.#abort.abort();
  }

  /** Ends its plugin, which a successor would run beside it. A commit that is under way goes on: the epoch guards it. */
  expired(): void {
    this.#abort.abort();
  }

  heardOf({ epoch, cancelRequestedBy }: RenewedJob): void {
    if (epoch === this.epoch && cancelRequestedBy !== null) this.#cancel(cancelRequestedBy);
  }

  /** Somebody may have asked to cancel it. */
  notify(): void {
    void this.#deps.jobs.get(this.#id).then(
      (job) => job?.cancel_requested_by != null && this.#cancel(job.cancel_requested_by),
      // The database is away for a moment; the next renewal tells.
      () => undefined,
    );
  }

  #cancel(by: string): void {
    this.#cancelledBy ??= by;
    this.#abort.abort();
  }
}
