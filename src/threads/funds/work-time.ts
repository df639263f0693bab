// The time that a run may be at work: what is under way when it is up is cut off.

import type { Config } from "../../loop/config.ts";
import type { State } from "../../loop/state.ts";

/** Milliseconds that are left, at least one; undefined when the run may take as long as it likes. */
export function workTimeLeft({ budgets }: Config, state: State | null, now: number): number | undefined {
  const clock = budgets.wall_clock_seconds;
  if (!clock || !state) return undefined;
  const used = now - state.started_at - state.waited;
  return Math.max(1, (clock.ceiling - clock.current) * 1000 - used);
}

/** A timer may fire a little early, by the clock that the run is measured with. */
const TOLERANCE_MS = 20;

/** Rejects once the time is up, whether or not the work heeds its signal. */
export async function untilTimeUp<Value>(
  left: number | undefined,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Value | Promise<Value>,
): Promise<Value> {
  if (left === undefined) return await work(signal);
  const cut = new AbortController();
  const timeUp = Promise.withResolvers<never>();
  // Nobody knows how far the work had come: a provider may charge for all of it.
  const error = Object.assign(new Error("The time that the run may be at work is up."), { hasSpoken: true });
  const timer = setTimeout(
    () => {
      timeUp.reject(error);
      cut.abort(error);
    },
    Math.min(left + TOLERANCE_MS, LONGEST_TIMER_MS),
  );
  try {
    return await Promise.race([work(AbortSignal.any([signal, cut.signal])), timeUp.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A timer cannot be set for longer; a run of weeks is looked at between its calls. */
const LONGEST_TIMER_MS = 2_147_483_647;
