// The beginning of a run and of its turns.
import type { Side } from "../contracts/standard/side.ts";
import { endLate, WALL_CLOCK, wallClock } from "./clock.ts";
import type { CheckedPlace, Position } from "./records.ts";
import type { Step } from "./step.ts";

export function beginFlow(step: Step): undefined {
  const { config, working } = step;
  const messages = working.transcript.length;
  const { budgets, key, sides } = config;
  const turns = sides && { turns: sides.turns };
  step.record({ type: "flow.started", key, messages, budgets, ...turns }, nextTurn(step));
}

/** Where a turn begins. */
export function nextTurn({ config }: Step): Position {
  return config.rules.inbox ? "turn.inbox" : "turn.begin";
}

/** `side`: the one that acts, where somebody has said which. */
export function beginTurn(step: Step, side?: Side): undefined {
  if (endLate(step)) return;
  const spent = wallClock(step);
  if (spent && spent.current !== step.state.budgets[WALL_CLOCK]?.current) {
    step.record({ type: "budget.set", name: WALL_CLOCK, used: spent.current, exceeded: false }, "turn.begin");
  }
  const turn = step.state.turn + 1;
  const acting = side !== undefined && side !== step.state.standing?.side ? { side } : {};
  step.record({ type: "turn.started", turn, ...acting }, step.checked(afterStart(step)), [{ to: "turn", turn }]);
}

function afterStart({ config, state }: Step): CheckedPlace {
  if (state.queued > 0) return "turn.queued";
  return config.asked.visibility ? "turn.tools" : "turn.compact";
}
