// What observers are told of a turn that begins and of a budget that is used up.
import * as budget from "../contracts/conversation/budget.ts";
import type { Step } from "./step.ts";

/** Tells observers that the turn begins. */
export function announceTurn(step: Step): void {
  const { config, state, working } = step;
  const message_count = working.transcript.length;
  step.notify("turn_started", { turn: state.turn, max_turns: config.maxTurns, message_count });
}

/** Reports a budget that has just been used up. */
export function notifyExceeded(step: Step, { name, current, ceiling }: budget.Budget): void {
  step.notify("budget_exceeded", { budget: name, dimension: budget.dimension(name), current, ceiling });
}
