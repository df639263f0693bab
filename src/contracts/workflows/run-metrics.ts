// How runs of workflows stand, in numbers that stand beside those of threads.

export type RunMetrics = {
  /** How many runs of each workflow have each status; those of workflows beyond the most used ones stand together, under "*". */
  readonly workflow_runs: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Runs that could go on now, and no process has taken. */
  readonly workflow_runs_due: number;
  /** Those of them that are due for more than ten seconds. */
  readonly workflow_runs_overdue: number;
  /** How long the run waits that is due the longest; 0 when none is due. */
  readonly workflow_oldest_due_ms: number;
  readonly workflow_runs_stuck: number;
  /** Runs that an operator has to look at: a rollback failed, or it is unknown what a step did. */
  readonly workflow_runs_with_problems: number;
  readonly workflow_unknown_steps: number;
  /** Runs that this process is carrying on now. */
  readonly workflow_runs_here: number;
};
