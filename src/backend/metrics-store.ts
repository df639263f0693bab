// How everything stands, counted: what operators watch.
import type { ThreadStatus } from "./thread-rows.ts";

/** Times are in microseconds. */
export type StoredMetrics = {
  readonly threads: Readonly<Record<ThreadStatus, number>>;
  /** How long the thread waits that is due the longest and held by nobody; null when none is due. */
  readonly oldest_due_age: number | null;
  readonly unknown_calls: number;
  readonly pending_requests: number;
  readonly pending_approvals: number;
  /** How long the approval waits that was asked for first; null when none waits. */
  readonly oldest_approval_age: number | null;
  /** Workers that have registered, and were not found dead since. */
  readonly workers: number;
  /** Entries that were left for threads, and not taken yet. */
  readonly inbox_depth: number;
};

export interface MetricsStore {
  /** Counts what there is. What is due of agents that are switched off waits on purpose, and is left out of the age. */
  read(): Promise<StoredMetrics>;
  /** Threads that nobody has taken though they are due for so long, the longest due first. */
  overdue(query: { readonly for_us: number; readonly limit: number }): Promise<readonly string[]>;
}
