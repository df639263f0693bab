// How everything stands, in numbers: what the database knows, and what this process has counted.
import type { StoredMetrics } from "../backend/metrics-store.ts";
import type { GatewayMetrics } from "../contracts/gateway/gateway-metrics.ts";
import type { RunMetrics } from "../contracts/workflows/run-metrics.ts";
import type { Counters } from "./counters.ts";
import type { Host } from "./host.ts";

export type ThreadMetrics = Omit<StoredMetrics, "oldest_due_age" | "oldest_approval_age"> &
  Readonly<Counters> & {
    /** How long the thread waits that is due the longest; 0 when none is due. */
    readonly oldest_due_age_ms: number;
    /** How long the approval waits that was asked for first; 0 when none waits. */
    readonly oldest_approval_age_ms: number;
    /** Threads that this process is running now. */
    readonly running_here: number;
  };

/** Those of the gateway are there where there is one. */
export type Metrics = ThreadMetrics & RunMetrics & Partial<GatewayMetrics>;

export async function readMetrics({ stores, counters }: Host, runningHere: number): Promise<ThreadMetrics> {
  const { oldest_due_age, oldest_approval_age, ...counted } = await stores.metrics.read();
  return {
    ...counted,
    ...counters,
    oldest_due_age_ms: milliseconds(oldest_due_age),
    oldest_approval_age_ms: milliseconds(oldest_approval_age),
    running_here: runningHere,
  };
}

function milliseconds(microseconds: number | null): number {
  return Math.round((microseconds ?? 0) / 1_000);
}
