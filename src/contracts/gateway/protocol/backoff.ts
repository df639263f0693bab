// How long a failed job waits for its next attempt.

/**
 * The delay after the attempt that failed, in the unit of the base: `base * 2^(failedAttempt - 1)` and up to a quarter
 * of the base on top. `random` is a draw from 0 to 1.
 */
export function backoff(base: number, failedAttempt: number, random: number): number {
  const doublings = Math.max(0, Math.trunc(failedAttempt) - 1);
  return base * 2 ** doublings + clamp(random) * (base / 4);
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

/** The delay has no cap of its own; this keeps due times within what a database stores. */
const LONGEST_DELAY_MS = 100 * YEAR_MS;

/** `backoff` in whole milliseconds. */
export function backoffMs(baseMs: number, failedAttempt: number, random: number): number {
  return Math.min(LONGEST_DELAY_MS, Math.round(backoff(baseMs, failedAttempt, random)));
}

function clamp(random: number): number {
  return Math.min(1, Math.max(0, random));
}
