import type { Order } from "../machine/next.ts";
import type { LeasedRun } from "./leased-run.ts";
import type { RunHost } from "./run-host.ts";

/** One attempt at a step. */
export type StepAttempt = {
  readonly host: RunHost;
  readonly run: LeasedRun;
  readonly order: Order;
  /** The same for every attempt at the step. */
  readonly key: string;
  readonly signal: AbortSignal;
  /** Renews the lease; throws where it is lost. */
  readonly renew: () => Promise<void>;
};
