// What a process counts while it runs threads, because nothing of it is stored. It begins at nothing with every process.

export type Counters = {
  /** Threads that were freed because whoever held them was found dead. */
  takeovers: number;
  /** Leases that this process has lost while it was at work. */
  lost_leases: number;
  /** Commits that were refused, because somebody else held the thread by then. */
  refused_commits: number;
  /** Commits that had to be made again, because something outside was faster. */
  overtaken_commits: number;
  /** Steps of runs of workflows that have succeeded or failed. */
  workflow_steps: number;
};

export function createCounters(): Counters {
  return { takeovers: 0, lost_leases: 0, refused_commits: 0, overtaken_commits: 0, workflow_steps: 0 };
}
