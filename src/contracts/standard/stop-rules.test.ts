import { describe, expect, it } from "vitest";
import * as message from "../conversation/message.ts";
import { judgeStep, limitReached, type StepFacts, startingSide, type Verdict } from "./stop-rules.ts";

const noMarks = { session_fail: false, session_stop: false, lifecycle_failed: false, stop_tool: false };

/** A model that talks to a person and has called a tool. */
const called: StepFacts = {
  rules: { stopOnResponse: true, stopTool: "finish", hasNeither: false },
  ...{ isDual: false, side: "a", spoke: false, calls: 1, marks: noMarks, control: {}, humanSides: ["b"] },
};
const dual: StepFacts = { ...called, isDual: true, humanSides: [] };
const noRules = { stopOnResponse: false, stopTool: null, hasNeither: true };
const marked = (...names: (keyof typeof noMarks)[]) => ({
  marks: { ...noMarks, ...Object.fromEntries(names.map((name) => [name, true])) },
});

const goesOn: Verdict = { kind: "turn", ends: false, side: "a", code: null };
const ends = (code: Extract<Verdict, { kind: "end" }>["code"]): Verdict => ({ kind: "end", code });

const cases: readonly (readonly [string, StepFacts, Verdict])[] = [
  ["a call is followed by another step", called, goesOn],
  ["text beside a call does not end the turn", { ...called, spoke: true }, goesOn],
  ["text alone ends a run with a person", { ...called, spoke: true, calls: 0 }, ends("stop_on_response")],
  ["an answer of nothing ends nothing", { ...called, calls: 0 }, goesOn],
  [
    "text ends nothing where the side has no such rule",
    { ...called, rules: { ...called.rules, stopOnResponse: false }, spoke: true, calls: 0 },
    goesOn,
  ],
  ["the stop tool ends a run with a person", { ...called, ...marked("stop_tool") }, ends("stop_tool")],
  ["failure comes before success", { ...called, ...marked("session_fail", "session_stop") }, ends("session_fail")],
  [
    "the end of the session comes before the stop tool",
    { ...called, ...marked("session_stop", "stop_tool") },
    ends("session_stop"),
  ],
  [
    "the end of the session comes before what code asked for",
    { ...dual, ...marked("session_stop"), control: { force: "b", handoff: "billing", session: { status: "success" } } },
    ends("session_stop"),
  ],
  [
    "a lifecycle tool that failed keeps the stop tool from counting",
    { ...called, ...marked("lifecycle_failed", "stop_tool") },
    goesOn,
  ],
  [
    "one lifecycle tool that failed does not undo another that succeeded",
    { ...called, ...marked("lifecycle_failed", "session_stop") },
    ends("session_stop"),
  ],
  [
    "code ends the session",
    { ...dual, control: { session: { status: "failure" }, handoff: "x" } },
    ends("state_stop_session"),
  ],
  ["code stops the run", { ...dual, control: { stop: true } }, ends("execution_stop")],
  [
    "a handoff comes before a forced turn and before the rules",
    { ...called, ...marked("stop_tool"), control: { handoff: "billing", force: "a", stop: true } },
    { kind: "handoff", agent: "billing" },
  ],
  [
    "text gives the turn to the other model",
    { ...dual, spoke: true, calls: 0 },
    { kind: "turn", ends: true, side: "b", code: "stop_on_response" },
  ],
  [
    "the stop tool of side B gives the turn to side A",
    { ...dual, side: "b", ...marked("stop_tool") },
    { kind: "turn", ends: true, side: "a", code: "stop_tool" },
  ],
  [
    "two models without rules take turns step by step",
    { ...dual, rules: noRules },
    { kind: "turn", ends: true, side: "b", code: null },
  ],
  ["a model without rules goes on beside a person", { ...called, rules: noRules }, goesOn],
  [
    "a forced side acts next",
    { ...dual, control: { force: "b" } },
    { kind: "turn", ends: true, side: "b", code: null },
  ],
  ["a forced side undoes a stop", { ...called, ...marked("stop_tool"), control: { force: "a", stop: true } }, goesOn],
  [
    "a turn that ended by a rule says so although the next side was forced",
    { ...dual, spoke: true, calls: 0, control: { force: "b" } },
    { kind: "turn", ends: true, side: "b", code: "stop_on_response" },
  ],
  ["forcing the person's side ends the run", { ...called, control: { force: "b" } }, ends("execution_stop")],
  [
    "forcing the person's side after an answer leaves the reason",
    { ...called, spoke: true, calls: 0, control: { force: "b" } },
    ends("stop_on_response"),
  ],
  [
    "a person may be side A",
    { ...called, side: "b", humanSides: ["a"], spoke: true, calls: 0 },
    ends("stop_on_response"),
  ],
];

describe("judgeStep", () => {
  it.each(cases)("%s", (_, facts, verdict) => {
    expect(judgeStep(facts)).toEqual(verdict);
  });
});

describe("limitReached", () => {
  const unused = { maxSteps: 2, stepsOfSide: 0, maxSessionTurns: 2, turns: { a: 0, b: 0 } };
  const limits = { ...unused, totalSteps: 0, hardCap: 250, startsTurn: true };

  it.each([
    ["nothing is used up at first", {}, null],
    ["the steps of a side", { stepsOfSide: 2 }, "max_side_steps"],
    ["no limit for the steps of a side", { maxSteps: null, stepsOfSide: 200 }, null],
    ["the second exchange may be finished", { turns: { a: 2, b: 1 } }, null],
    ["a third exchange may not begin", { turns: { a: 2, b: 2 } }, "max_session_turns"],
    ["a turn that began may go on", { turns: { a: 2, b: 2 }, startsTurn: false }, null],
    ["no limit for exchanges", { maxSessionTurns: null, turns: { a: 9, b: 9 } }, null],
    ["all steps of a run", { maxSteps: null, totalSteps: 250 }, "max_total_steps"],
    ["the session before the side", { turns: { a: 2, b: 2 }, stepsOfSide: 2 }, "max_session_turns"],
    ["the side before the run", { stepsOfSide: 2, totalSteps: 250 }, "max_side_steps"],
  ] as const)("%s", (_, used, code) => {
    expect(limitReached({ ...limits, ...used })).toBe(code);
  });
});

describe("startingSide", () => {
  const call = message.toolCall({ tool_name: "x", parameters: {}, turn: 1 });
  const result = message.toolResult({ tool_name: "x", payload: { success: true } });
  const said = (role: string, metadata = {}) => message.text(role, "Hello.", metadata);

  it.each([
    ["nobody has said anything", [], "b"],
    ["a person spoke", [said("user")], "a"],
    ["the assistant spoke", [said("assistant")], "b"],
    ["the first decides", [said("user"), said("assistant")], "a"],
    ["what people do not see decides too", [said("user", { silent: true }), said("assistant")], "a"],
    ["what the system says does not count", [said("system"), said("user")], "a"],
    ["calls and results do not count", [call, result, said("user")], "a"],
    ["a result alone does not count", [result], "b"],
    ["images count", [message.text("user", [{ type: "text", text: "See." }])], "a"],
  ] as const)("%s", (_, messages, side) => {
    expect(startingSide(messages, "b")).toBe(side);
  });
});
