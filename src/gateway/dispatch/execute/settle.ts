// What becomes of a job after one execution: it ends, or waits for another attempt. Pure.

import type { RequestRefusal } from "../../../contracts/gateway/agent/agentic-event.ts";
import type { EndedStatus } from "../../../contracts/gateway/job.ts";
import { backoffMs } from "../../../contracts/gateway/protocol/backoff.ts";
import type { FailureReason } from "../../../contracts/gateway/protocol/response.ts";

export type Failure = {
  readonly outcome: "failed" | "timed_out" | "cancelled" | "dead";
  readonly reason: FailureReason | "attempts_exhausted";
  readonly retryable: boolean;
  readonly error: string;
  /** Why an agent run that waits for the job is escalated, where that is not an error of the tool. */
  readonly refusal?: RequestRefusal;
};

/** What keeps a job from running at all. */
export function preflightFailure(error: string): Failure {
  return { outcome: "failed", reason: "preflight", retryable: false, error };
}

export type Settlement =
  | { readonly status: EndedStatus; readonly reason: string | null; readonly error: string | null }
  | { readonly status: "queued"; readonly retryAfterMs: number; readonly reason: string; readonly error: string };

export type RetryPolicy = {
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly backoffBaseMs: number;
  /** From 0 to 1. */
  readonly random: number;
};

/** A failure that may pass is tried again until the attempts are used up; everything else ends the job. */
export function settleFailure(
  failure: Failure,
  { attempt, maxAttempts, backoffBaseMs, random }: RetryPolicy,
): Settlement {
  const { outcome, reason, retryable, error } = failure;
  if (retryable && attempt < maxAttempts) {
    return { status: "queued", retryAfterMs: backoffMs(backoffBaseMs, attempt, random), reason, error };
  }
  return { status: outcome === "cancelled" ? "dead" : outcome, reason, error };
}
