// When a step that sleeps goes on.

import { parseDuration } from "../../contracts/gateway/durations.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { parseRfc3339 } from "../../contracts/rfc3339.ts";

/** Milliseconds since 1970; undefined when the step names neither a duration nor a time. */
export function wakeTime({ for: duration, until }: JsonMap, now: number): number | undefined {
  const milliseconds = parseDuration(duration);
  if (milliseconds !== undefined) return now + milliseconds;
  const time = typeof until === "string" ? parseRfc3339(until) : undefined;
  return time === undefined ? undefined : Date.parse(time);
}
