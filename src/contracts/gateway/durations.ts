// Durations as configurations write them.

const MS = 1;
const SECOND = 1000 * MS;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

const units: Readonly<Record<string, number>> = { ms: MS, s: SECOND, m: MINUTE, h: HOUR, d: DAY, w: WEEK };

const intervals: Readonly<Record<string, number>> = { hourly: HOUR, daily: DAY, weekly: WEEK, monthly: 30 * DAY };

const DURATION = /^(?:\d{1,15}(?:\.\d{1,9})?(?:ms|[smhdw]))+$/;
const PART = /(\d{1,15}(?:\.\d{1,9})?)(ms|[smhdw])/g;

const LONGEST_TEXT = 64;
const LONGEST_MS = 100 * 365 * DAY;

/**
 * Milliseconds of a duration: `500ms`, `30s`, `5m`, `2h`, `7d`, `1w`, and compounds such as `1h30m`. Undefined for
 * anything else, a number without a unit included, and for more than a hundred years.
 */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value !== "string" || value.length > LONGEST_TEXT) return undefined;
  const text = value.trim();
  if (!DURATION.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) total += Number(amount) * (units[unit ?? ""] ?? 0);
  return total > LONGEST_MS ? undefined : Math.round(total);
}

/** The interval of a schedule: a duration, or `hourly`, `daily`, `weekly`, `monthly` (30 days). */
export function parseInterval(value: unknown): number | undefined {
  const name = typeof value === "string" ? value.trim() : "";
  return Object.hasOwn(intervals, name) ? intervals[name] : parseDuration(value);
}
