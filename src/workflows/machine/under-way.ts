// The steps that a run has begun and that have no outcome yet: for the driver that resumes it after a restart.
import { contextOf } from "./context.ts";
import type { Order } from "./next.ts";
import type { State } from "./state.ts";
import { bodyOf, kindOf, stepAt, type Working } from "./working.ts";

/** The orders of the steps that run now, as they were given. */
export function underWay(state: State, working: Working): Order[] {
  return Object.entries(state.steps).flatMap(([path, { phase, attempt }]) => {
    if (phase !== "running") return [];
    const step = bodyOf(working, path).resolved ?? stepAt(working, path);
    const kind = kindOf(working, step) === "single" ? "run_step" : "fan_out";
    return [{ path, attempt, kind, step, context: () => contextOf(working, path) } as const];
  });
}
