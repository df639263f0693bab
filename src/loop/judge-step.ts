// The end of a step of an agent with sides: does its turn end, or the session; who acts next, and may they.

import { trim } from "../contracts/coerce.ts";
import * as message from "../contracts/conversation/message.ts";
import { seal } from "../contracts/json.ts";
import type { Side } from "../contracts/standard/side.ts";
import { judgeStep, limitReached, type StopCode } from "../contracts/standard/stop-rules.ts";
import type { SideRules } from "./config.ts";
import type { Mark, Position, Turns } from "./records.ts";
import type { Standing } from "./standing.ts";
import { added, type Step } from "./step.ts";

type Judged = { readonly code: StopCode | null; readonly side: Side; readonly turns: Turns; readonly goesOn: boolean };

/** Writes down what the step means. True when the run goes on. */
export function judgeSides(step: Step, to: Position): boolean {
  const { config, state } = step;
  const { standing } = state;
  const { sides } = config;
  if (!sides || !standing) throw new Error("There are no sides to judge.");
  if (step.working.answer.result.blocked === true && !state.batch.queued) {
    step.record({ type: "step.judged", ...facts(ended(standing, "hook_blocked")) }, "flow.end");
    return false;
  }
  const verdict = judgeStep({
    rules: {
      stopOnResponse: sides.stopOnResponse,
      stopTool: sides.stopTool,
      hasNeither: !sides.stopOnResponse && sides.stopTool === null,
    },
    isDual: sides.isDual,
    side: standing.side,
    spoke: hasSpoken(step),
    calls: state.batch.count,
    marks: marksOf(standing.marks),
    control: standing.control,
    humanSides: sides.otherSides,
  });
  if (verdict.kind === "handoff") {
    step.record({ type: "handed.off", agent: verdict.agent }, to);
    return true;
  }
  const judged =
    verdict.kind === "end" ? ended(standing, verdict.code) : turned(standing, sides, verdict, state.batch.queued);
  const { goesOn } = judged;
  const words = judged.code === "repeated_tool_error" ? [added(givenUp(standing))] : [];
  step.record({ type: "step.judged", ...facts(judged) }, goesOn ? to : "flow.end", words);
  return goesOn;
}

function facts({ goesOn: _, ...fact }: Judged): Omit<Judged, "goesOn"> {
  return fact;
}

function marksOf(marks: readonly Mark[]): Record<Mark, boolean> {
  const has = (mark: Mark) => marks.includes(mark);
  return {
    session_fail: has("session_fail"),
    session_stop: has("session_stop"),
    lifecycle_failed: has("lifecycle_failed"),
    stop_tool: has("stop_tool"),
  };
}

function hasSpoken({ working, state }: Step): boolean {
  const { content } = working.answer.result;
  return !state.batch.queued && typeof content === "string" && trim(content) !== "";
}

const none: Turns = { a: 0, b: 0 };

/** What ends the session begins the next one at nothing; a run that merely ends leaves the counters as they are. */
const endsSession: ReadonlySet<StopCode> = new Set([
  "session_fail",
  "session_stop",
  "state_stop_session",
  "max_session_turns",
]);

function ended(standing: Standing, code: StopCode): Judged {
  const { side, turns } = standing;
  const counted = code === "stop_tool" || code === "stop_on_response" ? oneMore(turns, side) : turns;
  return { code, side, turns: endsSession.has(code) ? none : counted, goesOn: false };
}

function turned(
  standing: Standing,
  sides: SideRules,
  { ends, side, code }: { ends: boolean; side: Side; code: StopCode | null },
  isQueued: boolean,
): Judged {
  // Calls that were queued for the run are no step of the side: it acts when they are done.
  const turns = ends && !isQueued ? oneMore(standing.turns, standing.side) : standing.turns;
  const next = isQueued ? standing.side : side;
  const { steps, repeated } = standing;
  const limit =
    limitReached({
      maxSteps: sides.maxSteps[next],
      stepsOfSide: steps[next],
      maxSessionTurns: sides.isDual ? sides.maxSessionTurns : null,
      turns,
      totalSteps: steps.a + steps.b,
      hardCap: sides.hardCap,
      startsTurn: next !== standing.side || (ends && !isQueued),
    }) ?? ((repeated?.count ?? 0) >= sides.mostRepeated ? "repeated_tool_error" : null);
  if (limit === null) return { code, side: next, turns, goesOn: true };
  return { code: limit, side: next, turns: endsSession.has(limit) ? none : turns, goesOn: false };
}

function oneMore(turns: Turns, side: Side): Turns {
  return { ...turns, [side]: turns[side] + 1 };
}

function givenUp({ side }: Standing): message.Message {
  const words = "The same tool error came up again and again, so the run was ended.";
  const metadata = seal({ type: "repeated_tool_error", ...(side === "b" && { side }) });
  return message.text(side === "b" ? "user" : "assistant", words, metadata);
}
