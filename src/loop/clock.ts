// The time that a run may be at work.
import * as budget from "../contracts/conversation/budget.ts";
import { notifyExceeded } from "./announce.ts";
import { settleRest } from "./settle-rest.ts";
import type { Step } from "./step.ts";

export const WALL_CLOCK = "wall_clock_seconds";

/** Looked at around calls only where the rules say so. */
export function isLate(step: Step): boolean {
  const spent = step.config.rules.clock === "call" ? wallClock(step) : undefined;
  return spent !== undefined && budget.isExceeded(spent);
}

/** Ends the run when its time is up. True if it did. */
export function endLate(step: Step): boolean {
  const spent = wallClock(step);
  if (!spent || !budget.isExceeded(spent)) return false;
  notifyExceeded(step, spent);
  settleRest(step);
  step.record({ type: "budget.set", name: WALL_CLOCK, used: spent.current, exceeded: true }, "flow.end");
  return true;
}

/** How long the run was at work: the time for which it waited for somebody is not its own. */
export function wallClock({ config, state, now }: Step): budget.Budget | undefined {
  const clock = config.budgets[WALL_CLOCK];
  if (!clock) return undefined;
  return budget.setCurrent(clock, clock.current + Math.floor((now - state.started_at - state.waited) / 1000));
}
