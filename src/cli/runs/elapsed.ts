// How long something takes or took, in words of a fixed form: for lines that are written over.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `340ms`, `12s`, `1m 04s`, `2h 05m`, `3d 04h`. Clocks may disagree: never less than nothing. */
export function elapsed(ms: number): string {
  const whole = Math.max(0, Math.floor(ms));
  if (whole < SECOND) return `${whole}ms`;
  if (whole < MINUTE) return `${Math.floor(whole / SECOND)}s`;
  if (whole < HOUR) return pair(whole, [MINUTE, "m"], [SECOND, "s"]);
  if (whole < DAY) return pair(whole, [HOUR, "h"], [MINUTE, "m"]);
  return pair(whole, [DAY, "d"], [HOUR, "h"]);
}

/** The same for what goes on: below a second it would change with every look. */
export function elapsedSoFar(ms: number): string {
  return ms < SECOND ? "0s" : elapsed(ms);
}

type Unit = readonly [ms: number, name: string];

function pair(ms: number, [large, name]: Unit, [small, other]: Unit): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)}${name} ${String(rest).padStart(2, "0")}${other}`;
}
