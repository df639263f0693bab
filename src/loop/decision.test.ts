import { describe, expect, it } from "vitest";
import * as decision from "./decision.ts";

const call = { name: "ability/save", id: "a", parameters: {} };
const before = decision.gateRejection({ allowed: false, reason: "Too many.", context: { rule_id: "r" } }, call.name);
const read = (answer: unknown, standing: decision.Decision = decision.proceed) =>
  decision.normalize(answer, standing, call);

describe("decision.normalize", () => {
  it.each([
    ["nothing", undefined],
    ["null", null],
    ["text", "reject"],
    ["a list", ["reject"]],
    ["a map without an action", { result: {} }],
    ["an action that is no text", { action: 1 }],
    ["an action nobody knows", { action: "explode" }],
    ["a replacement without a result", { action: "replace_result" }],
    ["a replacement by text", { action: "replace_result", result: "done" }],
    ["a replacement by a list", { action: "replace_result", result: ["done"] }],
  ])("leaves the decision that stood before for %s", (_title, answer) => {
    expect(read(answer)).toBe(decision.proceed);
    expect(read(answer, before)).toBe(before);
  });

  it.each(["proceed", " Proceed\n", "PROCEED"])("reads %j in any case and with space around it", (action) => {
    expect(read({ action }, before)).toBe(decision.proceed);
  });

  it("takes from a rejection the error and what it says about it", () => {
    expect(
      read({ action: "reject", error: " Not now. ", metadata: { x: 1 }, runtime: { environment: "here" } }),
    ).toEqual({
      action: "reject",
      complete: false,
      result: {
        success: false,
        tool_name: "ability/save",
        error: "Not now.",
        metadata: { error_type: "pre_tool_mediation_rejected", x: 1 },
        runtime: { environment: "here" },
      },
    });
  });

  it("gives a rejection without words some", () => {
    for (const error of [undefined, "", "  ", 7]) {
      expect(read({ action: "reject", error })).toMatchObject({
        result: { success: false, error: "Tool call rejected before execution." },
      });
    }
  });

  it("lets a rejection bring a whole result of its own, or its own kind of error", () => {
    const result = { success: false, tool_name: "ability/save", error: "Mine." };
    expect(read({ action: "reject", result })).toMatchObject({ result });
    expect(read({ action: "reject", metadata: { error_type: "duplicate" } })).toMatchObject({
      result: { metadata: { error_type: "duplicate" } },
    });
  });

  it("replaces a result under the name of the tool unless it brings another", () => {
    const result = { success: true, result: 1 };
    expect(read({ action: "replace_result", result })).toMatchObject({
      result: { tool_name: "ability/save", result: 1 },
    });
    expect(read({ action: "replace_result", result: { ...result, tool_name: "other/tool" } })).toMatchObject({
      result: { tool_name: "other/tool" },
    });
  });

  it("fills in the name of the tool where a replacement has none that is one", () => {
    for (const tool_name of [undefined, null, "", 7]) {
      const result = { success: true, result: 1, tool_name };
      expect(read({ action: "replace_result", result })).toMatchObject({ result: { tool_name: "ability/save" } });
    }
  });

  it("takes an empty replacement for a call that failed, not for leave to run it", () => {
    for (const result of [[], {}]) {
      expect(read({ action: "replace_result", result })).toMatchObject({
        action: "replace_result",
        result: { success: false, tool_name: "ability/save", error: "Tool execution failed." },
      });
    }
  });

  it("ends the batch only when it is told to, except for a wait, which always does", () => {
    const result = { success: true, result: 1 };
    for (const [complete, ends] of [
      [undefined, false],
      [0, false],
      [true, true],
      ["yes", true],
    ]) {
      expect(read({ action: "reject", complete })).toMatchObject({ complete: ends });
      expect(read({ action: "replace_result", result, complete })).toMatchObject({ complete: ends });
      expect(read({ action: "pending", complete })).toMatchObject({ complete: true });
    }
  });

  it("takes the request of a wait from the first of three places that has a map", () => {
    const request = { request_id: "r" };
    for (const answer of [
      { runtime_tool_request: request, request: { request_id: "no" } },
      { runtime_tool_request: "nonsense", request },
      { result: request },
    ]) {
      expect(read({ action: "pending", ...answer, metadata: { why: "w" } })).toMatchObject({
        action: "pending",
        result: {
          status: "runtime_tool_pending",
          runtime_tool_request: request,
          metadata: { why: "w", status: "runtime_tool_pending" },
        },
      });
    }
  });

  it("keeps nothing of the answer that its author could still change", () => {
    const answer = { action: "reject", metadata: { tags: ["a"] } };
    const decided = read(answer);
    answer.metadata.tags.push("b");
    expect(decided).toMatchObject({ result: { metadata: { tags: ["a"] } } });
    expect(Object.isFrozen(decided)).toBe(true);
  });
});

describe("decision.gateRejection", () => {
  it("rejects with the gate's words, tells why, and lets the batch go on", () => {
    expect(before).toMatchObject({
      action: "reject",
      complete: false,
      result: {
        success: false,
        error: "Too many.",
        metadata: { error_type: "tool_call_gate_rejected", tool_call_gate: { rule_id: "r" } },
      },
    });
  });
});
