// A run whose time is up while it asks its model or while its tool is at work, however fast or slow the machine is.
import type { HoldfastOptions } from "../src/holdfast.ts";
import { heldClock } from "../src/testing/held-clock.ts";
import type { World } from "./databases.ts";

/** Longer than any run of a test may be at work. */
const HOUR = 3_600_000;

/**
 * Options of a runtime by whose clock no time passes, except that it jumps ahead by an hour whenever work of this kind is
 * about to begin: after everything that comes before the work is done, and before the time for the work is measured.
 */
export function timeUpDuring(
  work: "call_model" | "run_tool",
  world: World,
): Pick<HoldfastOptions, "backend" | "onPoint"> {
  const clock = heldClock();
  return {
    backend: { ...world.backend, clock },
    onPoint: (point) => (point === `before effect ${work}` ? clock.advance(HOUR) : undefined),
  };
}
