// The machine: decides from the state and what arrived until something outside is needed. It never calls user code.
import { isContainer, snapshot } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import * as toolResult from "../contracts/tools/result.ts";
import { accept } from "./accept.ts";
import { askApproval, askFirst, isProposed, mayRun } from "./approve.ts";
import { callModel } from "./ask-model.ts";
import { runCall } from "./call.ts";
import { compact } from "./compact.ts";
import { failCallback } from "./failure.ts";
import { beginFrame, endFrame, enterFrame, isPrompt, leaveFrame } from "./frame.ts";
import { drainInbox, takeQueued } from "./inbox.ts";
import { checkCancellation, stopRun } from "./interrupt.ts";
import { judgeCall, judgeReported } from "./judge.ts";
import type { Arrived, Brought, Next, Notice, Stop } from "./next.ts";
import { judgeOutput } from "./output.ts";
import { parkCall } from "./park.ts";
import { filterDecision, mediate, resolvePolicy } from "./permit.ts";
import { postpone, waiting } from "./postpone.ts";
import type { Effect, LogRecord, Position } from "./records.ts";
import { settleCall, settleStopped } from "./settle.ts";
import type { State } from "./state.ts";
import { Step } from "./step.ts";
import { takeCall } from "./take-call.ts";
import { beginFlow, beginTurn } from "./turn.ts";
import { endFlow, endTurn, spendTurn } from "./verdict.ts";
import { resolveTools } from "./visible-tools.ts";
import { isWaiting } from "./waiting-result.ts";
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

const handlers: Readonly<Record<Position, Handler>> = {
  "check turn.tools": checkCancellation,
  "check turn.compact": checkCancellation,
  "check turn.accept": checkCancellation,
  "check turn.queued": checkCancellation,
  "check turn.verdict": checkCancellation,
  "check turn.budget": checkCancellation,
  "flow.begin": beginFlow,
  "turn.inbox": drainInbox,
  "turn.begin": (step) => beginTurn(step),
  "turn.tools": resolveTools,
  "turn.compact": compact,
  "turn.model": callModel,
  "turn.accept": accept,
  "turn.queued": takeQueued,
  "caller.judge": judgeReported,
  "call.open": takeCall,
  "call.policy": resolvePolicy,
  "call.mediate": mediate,
  "call.filter": filterDecision,
  "call.approve": askApproval,
  "call.run": beginCall,
  "call.settle": settleCall,
  "call.parked": parkCall,
  "call.judge": judgeCall,
  "call.recast": leaveFrame,
  "turn.recast": beginFrame,
  "turn.frame": endFrame,
  "turn.output": judgeOutput,
  "turn.verdict": endTurn,
  "turn.budget": spendTurn,
  "flow.end": endFlow,
  ended: endFlow,
};

/**
 * The records that follow from a state and what arrived, and what is needed next. The bodies it returns are already
 * in `working`; a driver that fails to commit them must build its working memory again from what it stored. With
 * `inPlace`, for a driver that stores nothing, the given state itself is led on and no log is made.
 */
export function advance(
  state: State,
  working: Working,
  now: number,
  arrived?: Arrived,
  { inPlace = false } = {},
): Advance {
  const step = new Step(state, working, now, inPlace);
  let outcome: Outcome | undefined;
  if (arrived && "decided" in arrived && arrived.decided) {
    step.record({ type: "approval.decided", ...arrived.decided }, state.position);
  }
  if (arrived && "stop" in arrived) stop(step, arrived);
  else if (arrived && "postponed" in arrived) postpone(step, arrived);
  else if (arrived) outcome = read(step, arrived);
  for (;;) {
    const next = waiting(step) ?? handlers[step.state.position](step, outcome);
    outcome = undefined;
    if (next) return { state: step.state, records: step.records, bodies: step.bodies, notices: step.notices, next };
  }
}

function read(step: Step, arrived: Outcome | Brought): Outcome | undefined {
  return "request_id" in arrived ? answerTo(step.state, arrived) : outcomeFor(step, arrived);
}

/** Takes an order back that nobody has begun to carry out, and frees what was set aside for it. */
export function release(state: State, working: Working, now: number): Advance {
  const step = new Step(state, working, now, false);
  step.record({ type: "effect.released" }, state.position);
  const { records, bodies, notices } = step;
  return { state: step.state, records, bodies, notices, next: { kind: "wait", until: now } };
}

/** Whatever the state says, what nobody has agreed to is asked about first. */
function beginCall(step: Step, arrived?: Outcome): Next | undefined {
  if (!mayRun(step.call)) return askFirst(step);
  return isPrompt(step) ? enterFrame(step, arrived) : runCall(step, arrived);
}

/** What was brought for the call that is parked. What belongs to another request changes nothing; a run that is not parked takes none. */
function answerTo({ position, waiting }: State, { call, request_id, outcome }: Brought): Outcome | undefined {
  if (position !== "call.parked") throw new Error(`Nothing is waited for at ${position}.`);
  return call === waiting?.call && request_id === waiting.request_id ? readable(outcome) : undefined;
}

function outcomeFor(step: Step, arrived: Outcome): Outcome {
  const { position, in_flight } = step.state;
  if (position === "call.parked") throw new Error("What is brought for a parked call has to name its request.");
  if (waiting(step)) throw new Error(`Nothing is under way at ${position}: the next attempt waits.`);
  return isReadHere(in_flight) ? readable(arrived) : arrived;
}

/**
 * True for what a callback or the summarizer answers. A model's answer may hold the whole transcript and a tool's may be
 * anything: they are read where they are settled. Of a store nobody reads the answer.
 */
function isReadHere(effect: Effect | null): boolean {
  return effect === null || effect.kind === "summarize";
}

/** An answer that is no JSON counts as if it had thrown. */
function readable(answer: Outcome): Outcome {
  if ("threw" in answer || !isContainer(answer.returned)) return answer;
  try {
    return { ...answer, returned: snapshot(answer.returned) };
  } catch (threw) {
    return { threw };
  }
}

/** Ends the run where it stands. A call that is open gets its one result first, so that the history stays whole. */
function stop(step: Step, { stop: message, performed, said, after, failure }: Stop): void {
  if (step.state.position === "ended" || step.state.position === "flow.end") return;
  // What it leads to is recorded; what would be needed next nobody asks for any more.
  if (after) handlers[step.state.position](step, read(step, after));
  const { in_flight, position } = step.state;
  if (hasOpenCall(position)) settleStopped(step, resultOfStopped(step, performed));
  stopRun(step, message, { said: in_flight?.kind === "call_model" ? said : undefined, performed });
  if (failure !== undefined) failCallback(step, failure);
}

function hasOpenCall(position: Position): boolean {
  return position.startsWith("call.") && position !== "call.open" && position !== "call.judge";
}

function resultOfStopped({ call, state }: Step, performed: boolean): toolResult.ToolResult {
  if (call.result && !isWaiting(call.result)) return call.result;
  const { in_flight, waiting } = state;
  const hasBegun = performed && (in_flight?.kind === "run_tool" || in_flight?.kind === "store_request");
  // Whoever holds a request may be at work on it, and a tool that asked for approval itself has begun.
  if (hasBegun || (waiting && !isProposed(call))) {
    const error = "Stopped before the tool answered; what it did is unknown.";
    return toolResult.failure(call.name, error, { error_type: "outcome_unknown" });
  }
  return toolResult.failure(call.name, "Stopped before the tool began.", { error_type: "cancelled" });
}
