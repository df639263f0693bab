// When a side's turn is over, who acts next, and what ends a run: rules over what a step came to.
import type { Message } from "../conversation/message.ts";
import { otherSide, type Side } from "./side.ts";

/** Why a turn or a run ended. */
export type StopCode =
  | "session_fail"
  | "session_stop"
  | "state_stop_session"
  | "stop_tool"
  | "stop_on_response"
  | "execution_stop"
  | "hook_blocked"
  | "max_side_steps"
  | "max_session_turns"
  | "max_total_steps"
  | "repeated_tool_error";

/** What a step came to, as far as it decides on what follows. */
export type StepFacts = {
  /** Those of the side that acted; `hasNeither` tells that no rule ends its turn. */
  readonly rules: { readonly stopOnResponse: boolean; readonly stopTool: string | null; readonly hasNeither: boolean };
  /** Both sides are models. */
  readonly isDual: boolean;
  /** The one that acted. */
  readonly side: Side;
  /** It said something other than space. */
  readonly spoke: boolean;
  /** How many calls it made. */
  readonly calls: number;
  /** What its calls meant: a lifecycle tool that failed means nothing but `lifecycle_failed`. */
  readonly marks: {
    readonly session_fail: boolean;
    readonly session_stop: boolean;
    readonly lifecycle_failed: boolean;
    readonly stop_tool: boolean;
  };
  /** What code asked for while the calls ran. */
  readonly control: {
    readonly stop?: true;
    readonly force?: Side;
    readonly handoff?: string;
    readonly session?: { readonly status: "success" | "failure" };
  };
  readonly humanSides: readonly Side[];
};

export type Verdict =
  | { readonly kind: "end"; readonly code: StopCode }
  /** `side` acts next. `ends`: the turn of the one that acted is over, and counts. */
  | { readonly kind: "turn"; readonly ends: boolean; readonly side: Side; readonly code: StopCode | null }
  | { readonly kind: "handoff"; readonly agent: string };

/**
 * What follows from a step. The end of the session comes before everything, failure before success; then what code asked
 * for, of which a handoff comes first and a forced turn undoes a stop; then the rules of the side.
 */
export function judgeStep(facts: StepFacts): Verdict {
  const { marks, control, side, humanSides } = facts;
  if (marks.session_fail) return { kind: "end", code: "session_fail" };
  if (marks.session_stop) return { kind: "end", code: "session_stop" };
  if (control.session) return { kind: "end", code: "state_stop_session" };
  if (control.handoff !== undefined) return { kind: "handoff", agent: control.handoff };
  const code = matchedRule(facts);
  if (control.force !== undefined) {
    if (humanSides.includes(control.force)) return { kind: "end", code: code ?? "execution_stop" };
    // A side that has to act again has not ended its turn, whatever it said.
    const ends = control.force !== side;
    return { kind: "turn", ends, side: control.force, code: ends ? code : null };
  }
  if (control.stop) return { kind: "end", code: "execution_stop" };
  return afterRules(facts, code);
}

function matchedRule({ marks, rules, spoke, calls }: StepFacts): StopCode | null {
  // The side has to hear that the session did not end before anybody takes it for having finished.
  if (marks.lifecycle_failed) return null;
  if (rules.stopTool !== null && marks.stop_tool) return "stop_tool";
  return rules.stopOnResponse && spoke && calls === 0 ? "stop_on_response" : null;
}

function afterRules({ rules, isDual, side, humanSides }: StepFacts, code: StopCode | null): Verdict {
  const other = otherSide(side);
  const isAlone = !isDual || humanSides.includes(other);
  if (code !== null && isAlone) return { kind: "end", code };
  // Without any rule two models would never meet: they take turns step by step.
  const ends = code !== null || (rules.hasNeither && !isAlone);
  return { kind: "turn", ends, side: ends ? other : side, code };
}

/** What is used up before a step begins; null for `max…` is no limit. `startsTurn`: the step would begin a new turn. */
export function limitReached(used: {
  readonly maxSteps: number | null;
  readonly stepsOfSide: number;
  readonly maxSessionTurns: number | null;
  /** Turns that each side has ended in this session. */
  readonly turns: { readonly a: number; readonly b: number };
  readonly totalSteps: number;
  readonly hardCap: number;
  readonly startsTurn: boolean;
}): StopCode | null {
  const { maxSteps, maxSessionTurns, turns } = used;
  const exchanges = Math.min(turns.a, turns.b);
  if (used.startsTurn && maxSessionTurns !== null && exchanges >= maxSessionTurns) return "max_session_turns";
  if (maxSteps !== null && used.stepsOfSide >= maxSteps) return "max_side_steps";
  return used.totalSteps >= used.hardCap ? "max_total_steps" : null;
}

/** Who answers these messages: the first that somebody wrote decides, whether or not it is shown to people. */
export function startingSide(messages: readonly Message[], fallback: Side): Side {
  for (const { type, role } of messages) {
    if (type !== "text" && type !== "multimodal_part") continue;
    if (role === "user") return "a";
    if (role === "assistant") return "b";
  }
  return fallback;
}
