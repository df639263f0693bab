// The end of a turn: does the run stop, and why; otherwise the next turn begins.
import { truthy } from "../contracts/coerce.ts";
import * as budget from "../contracts/conversation/budget.ts";
import * as message from "../contracts/conversation/message.ts";
import { HoldfastError } from "../contracts/error.ts";
import { isContainer, type JsonMap, seal } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import * as callGate from "../contracts/tools/call-gate.ts";
import { notifyExceeded } from "./announce.ts";
import { refuse } from "./ask-model.ts";
import { failCallback } from "./failure.ts";
import { closeFrames } from "./frame.ts";
import { receiveInterrupt } from "./interrupt.ts";
import { judgeSides } from "./judge-step.ts";
import type { Next } from "./next.ts";
import { added, type Step } from "./step.ts";
import { nextTurn } from "./turn.ts";
import { showTranscript } from "./working.ts";

/** Looks at everything that can end the run after a turn, in the contract's order. */
export function endTurn(step: Step, arrived?: Outcome): Next | undefined {
  const { config, state } = step;
  const stops = Object.keys(state.stops).length > 0;
  if (config.sides && !stops && !state.complete) return judgeSides(step, "turn.budget") ? undefined : endFlow(step);
  const { stop, session, handoff } = state.standing?.control ?? {};
  if (stop || session) return endFlow(step);
  if (handoff !== undefined && !stops) {
    step.record({ type: "handed.off", agent: handoff }, "turn.budget");
    return;
  }
  if (state.complete && !stops && blocksCompletion(step)) return;
  if (stops || state.complete) return endFlow(step);
  // Without somebody to ask first, the arrival at this position can only be the continuation policy's.
  if (!config.asked.interrupt) return config.asked.cancellation ? goToBudget(step) : spendTurn(step, arrived);
  if (!arrived) return { kind: "consult", question: { hook: "interrupt", context: step.context } };
  if ("threw" in arrived) return failCallback(step, arrived.threw);
  return takeInterrupt(step, arrived.returned);
}

/** A completion that the gate's rules do not allow yet: the model is told why and gets another turn. */
function blocksCompletion(step: Step): boolean {
  const { config, state, working } = step;
  const isNatural = config.mediates && Array.isArray(working.answer.result.tool_calls) && state.batch.count === 0;
  if (!isNatural) return false;
  const verdict = callGate.judgeCompletion(config.callRules, state.tallies);
  if (verdict.allowed) return false;
  const metadata = seal({ type: "tool_call_gate_completion_blocked", tool_call_gate: verdict.context });
  const event = step.notifyAndKeep("tool_call_gate_completion_blocked", verdict.context);
  step.record({ type: "gate.blocked" }, "turn.verdict", [added(message.text("user", verdict.reason, metadata)), event]);
  return true;
}

function takeInterrupt(step: Step, given: unknown): Next | undefined {
  if (given === null || given === undefined) return goToBudget(step);
  if (!isContainer(given)) {
    step.notify("interrupt_ignored", { reason: "invalid_message", turn: step.state.turn });
    return goToBudget(step);
  }
  const received = readMessage(given);
  // Somebody tried to speak, perhaps to stop the run: to go on as if nobody had would be worse than to end here.
  return received instanceof HoldfastError ? refuse(received) : receiveInterrupt(step, received);
}

function readMessage(given: unknown): message.Message | HoldfastError {
  try {
    return message.normalize(given);
  } catch (thrown) {
    if (thrown instanceof HoldfastError) return thrown;
    throw thrown;
  }
}

function goToBudget(step: Step): undefined {
  step.record({ type: "consulted", hook: "interrupt" }, step.checked("turn.budget"));
}

/** Counts the turn, and goes on by default, by the gate's demand or by the caller's policy. */
export function spendTurn(step: Step, arrived?: Outcome): Next | undefined {
  const { config, state } = step;
  const turns = state.budgets.turns;
  const spent = turns ? budget.increment(turns) : undefined;
  if (spent && budget.isExceeded(spent)) {
    if (config.explicitTurns) notifyExceeded(step, spent);
    return recordEnd(step, false, config.explicitTurns);
  }
  if (config.sides || state.forced) return recordEnd(step, true);
  const { continuation } = config.asked;
  if (continuation === "ask") return askToContinue(step, arrived);
  return recordEnd(step, continuation === "default" && hadCalls(step));
}

/** True when the loop itself took care of calls: those of the answer, or those that were queued for it. */
function hadCalls({ config, state, working }: Step): boolean {
  const calls = working.answer.result.tool_calls;
  return (config.mediates || state.batch.queued) && Array.isArray(calls) && calls.length > 0;
}

function askToContinue(step: Step, arrived?: Outcome): Next | undefined {
  if (!arrived) {
    const question = { hook: "should_continue", result: turnResult(step), context: step.context } as const;
    return { kind: "consult", question };
  }
  if ("threw" in arrived) return failCallback(step, arrived.threw);
  return recordEnd(step, truthy(arrived.returned));
}

/** What a continuation policy sees of the turn: the runner's answer, and the results of the calls the loop ran. */
function turnResult({ working }: Step): JsonMap {
  const { answer, turnExecutions } = working;
  const tool_execution_results = seal([...turnExecutions]);
  return seal({ ...answer.result, messages: showTranscript(working), tool_execution_results });
}

function recordEnd(step: Step, goOn: boolean, exceeded = false): undefined {
  const { turns } = step.state.budgets;
  const used = (turns?.current ?? 0) + 1;
  step.record({ type: "turn.ended", turns: used, exceeded }, goOn ? nextTurn(step) : "flow.end");
}

/** Nothing comes after this. */
export function endFlow(step: Step): Next {
  if (step.state.position !== "ended") closeFrames(step);
  if (step.state.position !== "ended") step.record({ type: "flow.ended" }, "ended", [{ to: "call", value: null }]);
  return { kind: "end" };
}
