// The circuit breaker of a scheduled command: after several failures in a row it is not scheduled for a while, then
// tried once. Pure transitions over the stored row.
import type { StoredBreaker } from "../../backend/gateway/schedule-store.ts";

export type BreakerSettings = { readonly threshold: number; readonly reset_after_ms: number };

export function closedBreaker(plugin: string, command: string): StoredBreaker {
  return { plugin, command, state: "closed", failures: 0, opened_at: null };
}

/** Whether a scheduled job may be queued at a time (microseconds), and the breaker as it is then. */
export function admit(
  breaker: StoredBreaker,
  { reset_after_ms }: BreakerSettings,
  now: number,
): { readonly isAdmitted: boolean; readonly breaker: StoredBreaker } {
  if (breaker.state === "closed") return { isAdmitted: true, breaker };
  // One job at a time tries whether the command works again. One whose outcome was lost is followed by another.
  const since = breaker.opened_at ?? 0;
  // What was opened in the future was opened by a clock that was wrong.
  if (since <= now && now - since < reset_after_ms * 1_000) return { isAdmitted: false, breaker };
  return { isAdmitted: true, breaker: { ...breaker, state: "half_open", opened_at: now } };
}

/** The breaker after a scheduled job has ended. */
export function record(
  breaker: StoredBreaker,
  hasSucceeded: boolean,
  { threshold }: BreakerSettings,
  now: number,
): StoredBreaker {
  if (hasSucceeded) return closedBreaker(breaker.plugin, breaker.command);
  const failures = breaker.failures + 1;
  const opens = breaker.state !== "closed" || failures >= threshold;
  return { ...breaker, failures, ...(opens && { state: "open" as const, opened_at: now }) };
}
