// What a job that runs hears of while it runs.

export type JobControl = {
  /** Aborted when the lease is lost or may be, the job is cancelled or the process shuts down. */
  readonly signal: AbortSignal;
  /** Who asked for the cancellation of the job. */
  readonly cancelledBy: () => string | null;
  /**
   * Aborts the signal when the lease may have run out by the clocks of this process: to be asked right before an effect that the
   * job's next worker would repeat. A process that was stopped for a while finds out by this first.
   */
  readonly checkLease: () => void;
  /** True once nothing of the job may be committed here any more. */
  readonly isLost: () => boolean;
};
