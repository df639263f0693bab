// How a gateway stands, in numbers that stand beside those of threads.
import type { JobStatus } from "./job.ts";

export type GatewayMetrics = {
  readonly gateway_jobs: Readonly<Record<JobStatus, number>>;
  /** How long the job waits that is due the longest; 0 when none is due. */
  readonly gateway_oldest_due_ms: number;
  readonly gateway_plugins: number;
  /** Circuit breakers that are open or half open. */
  readonly gateway_open_circuits: number;
  readonly gateway_paused: boolean;
};
