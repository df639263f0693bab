// What is known of a step that is about to begin.
import { timeoutOf } from "../../../contracts/workflows/step-options.ts";
import type { Order, Outcome } from "../../machine/next.ts";
import type { LeasedRun } from "../leased-run.ts";
import type { RunBatch } from "../run-batch.ts";
import type { RunHost } from "../run-host.ts";
import type { OpenStep } from "../run-state.ts";

export type Beginning = {
  readonly host: RunHost;
  readonly run: LeasedRun;
  /** What the commit writes in which the step begins. */
  readonly batch: RunBatch;
  readonly order: Order;
  /** The number of the call in the ledger. */
  readonly call: number;
  /** The approval that an earlier attempt at the step was given. */
  readonly approved?: string | undefined;
};

/** What has begun: `outcome` where it has come to something at once, `open` what is waited for. */
export type Begun = { readonly outcome?: Outcome; readonly open?: Omit<OpenStep, "call" | "attempt"> };

/** When a step that something else carries out is not waited for any longer. */
export function deadlineOf({ step }: Order, now: number): { readonly until?: number } {
  const limit = timeoutOf(step);
  return limit === undefined ? {} : { until: now + limit };
}
