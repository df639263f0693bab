import { describe, expect, it } from "vitest";
import * as callGate from "./call-gate.ts";

const rule = { after_tool: "find", limited_tools: ["peek"], max_calls: 1, require_one_of: ["save"] };

const transcript = (...names: string[]) =>
  names.map((tool_name) => ({ version: 1, type: "tool_call", role: "assistant", payload: { tool_name } }));
const mayCall = (rules: unknown, name: string, ...before: string[]) =>
  callGate.evaluateCall(rules, name, transcript(...before))?.allowed;
const mayComplete = (rules: unknown, ...before: string[]) =>
  callGate.evaluateCompletion(rules, transcript(...before))?.allowed;

describe("toolCallGate rules", () => {
  it("drops a rule that could never hold anything back", () => {
    const useless = [
      null,
      "rule",
      ["find"],
      {},
      { ...rule, after_tool: " " },
      { ...rule, require_one_of: [] },
      { ...rule, gate_completion: "off", max_calls: 0 },
      { ...rule, gate_completion: false, gate_calls: "No" },
      { require_tool_use: true, gate_completion: "0" },
    ];
    expect(callGate.normalizeRules(useless)).toEqual([]);
    expect(callGate.normalizeRules({ a: rule })).toEqual([]);
  });

  it("names a rule by its place in the list that was given, unusable ones included", () => {
    const named = ["--a b/c--", "!!", 5, ["a"], null].map((id) => ({ ...rule, id }));
    const ids = callGate.normalizeRules([null, rule, ...named]).map(({ id }) => id);
    expect(ids).toEqual(["tool-call-rule-1", "a-b-c", "tool-call-rule", "5", "tool-call-rule", "tool-call-rule-6"]);
  });

  it("reads the aliases, a single name for a list, and numbers written as text", () => {
    const [usable] = callGate.normalizeRules([
      { after_tool: " find ", limited_tool_names: " peek ", max_calls: "2", then_require_one_of: ["save", "save"] },
    ]);
    expect(usable).toMatchObject({
      after_tool: "find",
      limited_tools: ["peek"],
      max_calls: 2,
      require_one_of: ["save"],
    });
  });
});

describe("toolCallGate calls", () => {
  it("counts only what came after the last anchor", () => {
    expect(mayCall([rule], "peek", "peek", "peek", "find")).toBe(true);
    expect(mayCall([rule], "peek", "find", "peek")).toBe(false);
    expect(mayCall([rule], "peek", "find", "peek", "find")).toBe(true);
    expect(mayCall([rule], "peek", "save", "find", "peek")).toBe(false);
  });

  it("rejects even the anchor once the limit is used, and still lets the required tool through", () => {
    expect(mayCall([rule], "find", "find", "peek")).toBe(false);
    expect(mayCall([rule], "save", "find", "peek")).toBe(true);
    expect(mayCall([rule], "peek", "find", "peek", "save")).toBe(true);
  });

  it("reports the first rule that rejects", () => {
    const rules = [
      { ...rule, id: "one", max_calls: 5 },
      { ...rule, id: "two" },
      { ...rule, id: "three" },
    ];
    expect(callGate.evaluateCall(rules, "peek", transcript("find", "peek"))).toMatchObject({
      allowed: false,
      reason: expect.stringMatching(/find.*1 of 1.*save/),
      context: { rule_id: "two", limited_count: 1, rejected_tool: "peek" },
    });
  });

  it("leaves calls alone when only the completion is gated", () => {
    expect(mayCall([{ ...rule, gate_calls: "false" }], "peek", "find", "peek")).toBe(true);
    expect(mayComplete([{ ...rule, gate_completion: "false" }], "find")).toBe(true);
  });
});

describe("toolCallGate completion", () => {
  it("accepts an anchor that is itself a required tool", () => {
    const own = { after_tool: "save", require_one_of: ["save"] };
    expect(mayComplete([own], "save")).toBe(true);
  });

  it("counts only the listed tools towards the minimum", () => {
    const twoSaves = [{ require_tool_use: 1, min_tool_calls: 2, require_one_of: "save" }];
    expect(mayComplete(twoSaves, "save", "find", "find")).toBe(false);
    expect(mayComplete(twoSaves, "save", "save")).toBe(true);
  });

  it("asks for no particular tool when it names none", () => {
    expect(mayComplete([{ require_tool_use: true, after_tool: "find" }], "find")).toBe(true);
  });

  it("asks no more of a rule about the use of tools than that they were used", () => {
    const used = { ...rule, require_tool_use: true };
    expect(mayComplete([used], "save", "find")).toBe(true);
    expect(mayComplete([{ ...used, require_tool_use: false }], "save", "find")).toBe(false);
  });

  it("reads messages as every other part does: plain rows count, half an envelope does not", () => {
    const rules = [{ require_tool_use: true }];
    const plain = { role: "assistant", content: "", metadata: { type: "tool_call", tool_name: "save" } };
    const half = { type: "tool_call", role: "assistant", content: "", payload: { tool_name: "save" } };
    expect(callGate.evaluateCompletion(rules, [plain])?.allowed).toBe(true);
    expect(callGate.evaluateCompletion(rules, [half])?.allowed).toBe(false);
    expect(callGate.evaluateCall([rule], "peek", [{ ...half, version: 1 }, plain])?.allowed).toBe(true);
    expect(() => callGate.evaluateCompletion(rules, [{ role: "" }])).toThrow("invalid_ai_message_envelope");
  });
});

describe("toolCallGate tallies", () => {
  it("reach the same judgement step by step, through storage, as from the whole transcript", () => {
    const rules = callGate.normalizeRules([rule, { require_tool_use: true, min_tool_calls: 4 }]);
    let tallies = callGate.startTally(rules);
    const before: string[] = [];
    for (const name of ["peek", "find", "peek", "other", "find", "save", "peek", "find"]) {
      tallies = JSON.parse(JSON.stringify(callGate.count(rules, tallies, name)));
      before.push(name);
      const folded = callGate.tallyMessages(rules, transcript(...before));
      expect(tallies).toEqual(folded);
      expect(callGate.judgeCall(rules, tallies, "peek").allowed).toBe(mayCall([rule], "peek", ...before));
    }
  });

  it("go on from where an earlier part of the transcript left them", () => {
    const rules = callGate.normalizeRules([rule]);
    const earlier = callGate.tallyMessages(rules, transcript("find", "peek"));
    expect(callGate.tallyMessages(rules, transcript("save"), earlier)).toEqual(
      callGate.tallyMessages(rules, transcript("find", "peek", "save")),
    );
  });

  it("pass over messages that are no tool calls", () => {
    const rules = callGate.normalizeRules([{ require_tool_use: true }]);
    const messages = [{ role: "user", content: "hi" }, { type: "tool_call" }, { type: "tool_call", payload: {} }];
    expect(callGate.tallyMessages(rules, messages)).toEqual(callGate.startTally(rules));
  });
});
