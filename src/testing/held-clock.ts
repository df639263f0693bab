// A clock that a test holds in its hand: what waits for a time happens when the test moves it, and not before.
import type { Clock } from "../backend/clock.ts";
import { holdfastError } from "../contracts/error.ts";

export type HeldClock = Clock & {
  /**
   * Moves the clock by so many milliseconds. Resolves once every thread that is due then is under way, so that its
   * `wait()` tells what it comes to.
   */
  advance(milliseconds: number): Promise<void>;
};

/** The same in every run of a test. */
const NEW_YEAR = Date.UTC(2030, 0, 1);

/** A clock that stands still until it is moved: `sqlite(":memory:", { clock })`. It starts in 2030 unless told when. */
export function heldClock(start: Date | number = NEW_YEAR): HeldClock {
  const watchers = new Set<() => Promise<void>>();
  let now = Number(start);
  if (!Number.isFinite(now)) throw holdfastError("invalid_argument", "start must be a date or a number.");
  return {
    now: () => now,
    watch(onMoved) {
      watchers.add(onMoved);
      return () => watchers.delete(onMoved);
    },
    async advance(milliseconds) {
      if (!(milliseconds >= 0 && milliseconds < Number.POSITIVE_INFINITY)) {
        throw holdfastError("invalid_argument", "milliseconds must not be less than 0: the clock does not run back.");
      }
      now += milliseconds;
      await Promise.all([...watchers].map((onMoved) => onMoved()));
    },
  };
}
