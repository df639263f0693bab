// Whether a model that failed is asked again, and when: the thread is laid down until then.
import { isTransient, readThrown } from "../models/provider-retry.ts";
import type { Agent } from "./agent.ts";

/** Milliseconds to wait, doubled each time; undefined when asking again would not help, or was tried often enough. */
export function retryAfter(thrown: unknown, times: number, retry: Agent["retry"]): number | undefined {
  const failure = readThrown(thrown);
  if (times + 1 >= retry.attempts || !isTransient(failure)) return undefined;
  const backoff = Math.min(retry.backoffMs * 2 ** times, retry.mostMs);
  // A provider that says when it is ready again knows better, though not for ever.
  return Math.max(backoff, Math.min((failure.retry_after ?? 0) * 1000, LONGEST_WAIT_MS));
}

const LONGEST_WAIT_MS = 3_600_000;
