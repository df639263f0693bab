// When a step that sleeps goes on.

import { parseDuration } from "../../contracts/gateway/durations.ts";
import type { JsonMap } from "../../contracts/json.ts";

/** Milliseconds since 1970; undefined when the step names neither a duration nor a time. */
export function wakeTime({ for: duration, until }: JsonMap, now: number): number | undefined {
  const milliseconds = parseDuration(duration);
  if (milliseconds !== undefined) return now + milliseconds;
  const time = typeof until === "string" ? Date.parse(until) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
