// What a job that runs hears of while it runs.

export type JobControl = {
  /** Aborted when the lease is lost or may be, the job is cancelled or the process shuts down. */
  readonly signal: AbortSignal;
  /** Who asked for the cancellation of the job. */
  readonly cancelledBy: () => string | null;
  /** True once nothing of the job may be committed here any more. */
  readonly isLost: () => boolean;
};
