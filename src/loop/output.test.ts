import { describe, expect, it } from "vitest";
import { asked, call, machine, playInEveryWay, returned } from "../../test/machine.ts";
import * as message from "../contracts/conversation/message.ts";
import { assembleResult } from "./assemble-result.ts";
import type { Arrived } from "./next.ts";
import type { RunOptions } from "./options.ts";

const judged = (options: RunOptions = {}) => machine({ maxTurns: 9, ...options }, {}, { judgesOutput: true });
const says = (content: string, ...tool_calls: unknown[]): Arrived => returned({ content, tool_calls });
const good = (value: unknown) => returned({ ok: true, value });
const bad = (problems: string) => returned({ ok: false, problems });
const resultOf = ({ state, working }: ReturnType<typeof machine>) => assembleResult(state(), working);

describe("last words that were asked for in a form", () => {
  it("are judged as they were said, and the run has what they stand for", () => {
    const { machine: made, asked: all } = playInEveryWay(judged, [undefined, says('{"n": 5}'), good({ n: 5 })]);
    expect(all[1]).toEqual({ kind: "consult", question: { hook: "output", text: '{"n": 5}' } });
    expect(all[2]).toEqual({ kind: "end" });
    expect(resultOf(made)).toMatchObject({
      completed: true,
      structured_output: { n: 5 },
      structured_output_diagnostics: { status: "parsed" },
    });
    expect(made.state().repairs).toBe(0);
  });

  it.each([[[]], [0], [false], [""], [null]])("may stand for %j", (value) => {
    const { machine: made } = playInEveryWay(judged, [undefined, says("x"), good(value)]);
    expect(resultOf(made)).toMatchObject({ completed: true, structured_output: value });
  });

  it("are told to the model once when they are not it, with what is wrong about them", () => {
    const script = [undefined, says("five"), bad("n: must be a number."), says('{"n": 5}'), good({ n: 5 })];
    const { machine: made, asked: all } = playInEveryWay(judged, script);
    expect(all.map(asked)).toEqual(["call_model", "output", "call_model", "output", "end"]);
    expect(made.working.transcript.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    const told = made.working.transcript[2];
    expect(told?.content).toBe(
      "Your answer is not what was asked for: n: must be a number. Answer again, with the corrected JSON alone.",
    );
    expect(told?.metadata).toMatchObject({ type: "output_repair" });
    expect(made.notices).toContainEqual({
      event: "output_repair_requested",
      payload: { turn: 1, problems: "n: must be a number." },
    });
    expect(resultOf(made)).toMatchObject({ completed: true, structured_output: { n: 5 }, turn_count: 2 });
  });

  it("fail the run when they are not it a second time", () => {
    const script = [undefined, says("five"), bad("No JSON."), says("six"), bad("Still none.")];
    const { machine: made, asked: all } = playInEveryWay(judged, script);
    expect(all.at(-1)).toEqual({ kind: "end" });
    expect(resultOf(made)).toMatchObject({
      status: "failed",
      completed: false,
      final_content: "six",
      failure: {
        code: "structured_output_mismatch",
        message: "The model's last words are not what was asked for: Still none.",
        turn_count: 2,
      },
    });
    expect(made.notices.map(({ event }) => event)).toContain("failed");
  });

  it("are repaired once in a run, however much happens in between", () => {
    const { machine: made, asked: all } = playInEveryWay(judged, [
      ...[undefined, says("five"), bad("No JSON."), says("Let me look.", call("a")), returned("seen")],
      ...[says("six"), bad("Still none.")],
    ]);
    expect(all.map(asked)).toEqual([
      ...["call_model", "output", "call_model", "run_tool", "call_model", "output", "end"],
    ]);
    expect(made.state()).toMatchObject({ repairs: 1, stops: { failure: "reported" } });
  });

  it("are the ones without calls: what is said beside a call is not looked at", () => {
    const script = [undefined, says("Let me look.", call("a")), returned("seen"), says("{}"), good({})];
    const { asked: all } = playInEveryWay(judged, script);
    expect(all.map(asked)).toEqual(["call_model", "run_tool", "call_model", "output", "end"]);
  });

  it("are judged also when nothing was said", () => {
    const { asked: all } = playInEveryWay(judged, [undefined, says("")]);
    expect(all[1]).toEqual({ kind: "consult", question: { hook: "output", text: "" } });
  });

  it("are not looked at in a run that ends for another reason", () => {
    const make = () => judged({ budgets: [{ name: "tool_calls", ceiling: 1 }] });
    const { machine: made, asked: all } = playInEveryWay(make, [undefined, says("Look.", call("a")), returned("seen")]);
    expect(all.at(-1)).toEqual({ kind: "end" });
    expect(resultOf(made)).toMatchObject({ status: "budget_exceeded" });
  });

  it("are not repaired when there is no turn left for it", () => {
    const make = () => judged({ budgets: [{ name: "turns", ceiling: 1 }] });
    const { machine: made } = playInEveryWay(make, [undefined, says("five"), bad("No JSON.")]);
    expect(resultOf(made)).toMatchObject({ status: "budget_exceeded", budget: "turns", completed: false });
  });

  it("fail the run when whoever judges them fails", () => {
    const { machine: made } = playInEveryWay(judged, [undefined, says("{}"), { threw: new Error("A bug.") }]);
    expect(resultOf(made)).toMatchObject({ status: "failed", failure: { message: "A bug." } });
  });

  it("are let be when somebody stops the run meanwhile", () => {
    const stop: Arrived = { stop: message.text("user", "Stop."), performed: false };
    const { machine: made } = playInEveryWay(judged, [undefined, says("five"), bad("No JSON."), stop]);
    expect(resultOf(made)).toMatchObject({ status: "interrupted", completed: false });
    expect(made.state().repairs).toBe(1);
  });
});
