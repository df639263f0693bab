// The machine: decides from the state and what arrived until something outside is needed. It never calls user code.

import { emptyMap } from "../contracts/json.ts";
import * as toolResult from "../contracts/tools/result.ts";
import { filterDecision, mediate, openCall, runCall } from "./call.ts";
import { stopInterrupted } from "./interrupt.ts";
import type { Arrived, Next, Notice, Outcome, Stop } from "./next.ts";
import type { LogRecord, Position } from "./records.ts";
import { judgeCall, parkCall, recordSettled, settleCall } from "./settle.ts";
import type { State } from "./state.ts";
import { Step } from "./step.ts";
import { accept, beginFlow, beginTurn, callModel, compact } from "./turn.ts";
import { checkCancellation, endFlow, endTurn, judgeReported, spendTurn } from "./verdict.ts";
import type { Body, Working } from "./working.ts";

export type Advance = {
  readonly state: State;
  readonly records: readonly LogRecord[];
  readonly bodies: readonly Body[];
  readonly notices: readonly Notice[];
  readonly next: Next;
};

/** Goes on from a position with what arrived for it. Undefined: decided and recorded, look at the new position. */
type Handler = (step: Step, arrived?: Outcome) => Next | undefined;

const handlers: Readonly<Record<Exclude<Position, `check ${string}`>, Handler>> = {
  "flow.begin": beginFlow,
  "turn.begin": beginTurn,
  "turn.compact": compact,
  "turn.model": callModel,
  "turn.accept": accept,
  "caller.judge": judgeReported,
  "call.open": openCall,
  "call.mediate": mediate,
  "call.filter": filterDecision,
  "call.run": runCall,
  "call.settle": settleCall,
  "call.parked": parkCall,
  "call.judge": judgeCall,
  "turn.verdict": endTurn,
  "turn.budget": spendTurn,
  "flow.end": endFlow,
  ended: endFlow,
};

/**
 * The records that follow from a state and what arrived, and what is needed next. The bodies it returns are already
 * in `working`; a driver that fails to commit them must build its working memory again from what it stored.
 */
export function advance(state: State, working: Working, now: number, arrived?: Arrived): Advance {
  const step = new Step(state, working, now);
  if (arrived && "stop" in arrived) stop(step, arrived);
  let outcome = arrived && !("stop" in arrived) ? arrived : undefined;
  for (;;) {
    const { position } = step.state;
    const handler = isCheck(position) ? checkCancellation : handlers[position];
    const next = handler(step, outcome);
    outcome = undefined;
    if (next) return { state: step.state, records: step.records, bodies: step.bodies, notices: step.notices, next };
  }
}

function isCheck(position: Position): position is Extract<Position, `check ${string}`> {
  return position.startsWith("check ");
}

/** Ends the run where it stands. A call that is open gets its one result first, so that the history stays whole. */
function stop(step: Step, { stop: message, performed }: Stop): void {
  const { position, in_flight } = step.state;
  if (position === "ended" || position === "flow.end") return;
  if (position.startsWith("call.") && position !== "call.open" && position !== "call.judge") {
    const { call } = step;
    const begun = performed && in_flight?.kind === "run_tool";
    const error = begun
      ? "Stopped before the tool answered; what it did is unknown."
      : "Stopped before the tool began.";
    const metadata = { error_type: begun ? "outcome_unknown" : "cancelled" };
    recordSettled(step, call.result ?? toolResult.failure(call.name, error, metadata), emptyMap);
  }
  stopInterrupted(step, message);
}
