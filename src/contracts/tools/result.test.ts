import { describe, expect, it } from "vitest";
import * as toolResult from "./result.ts";

describe("toolResult.normalize", () => {
  it("writes its keys in the order of the contract", () => {
    const fields = {
      result: 1,
      runtime_tool_request: { a: 1 },
      status: "s",
      runtime: { b: 1 },
      metadata: { m: 1 },
      tool_name: "t",
      error: "e",
    };
    const common = ["success", "tool_name", "metadata", "runtime", "status", "runtime_tool_request"];
    expect(Object.keys(toolResult.normalize({ ...fields, success: true }))).toEqual([...common, "result"]);
    expect(Object.keys(toolResult.normalize({ ...fields, success: false }))).toEqual([...common, "error"]);
  });

  it("keeps an error_type that metadata already has and promotes one on success too", () => {
    const given = { tool_name: "t", success: true, error_type: " outer " };
    expect(toolResult.normalize({ ...given, metadata: { error_type: "inner" } }).metadata).toEqual({
      error_type: "inner",
    });
    expect(toolResult.normalize(given).metadata).toEqual({ error_type: "outer" });
    expect(toolResult.normalize({ ...given, error_type: "  " }).metadata).toEqual({});
  });

  it("keeps false and zero as results and gives an empty list for none", () => {
    expect(toolResult.normalize({ tool_name: "t", success: true, result: false })).toMatchObject({ result: false });
    expect(toolResult.normalize({ tool_name: "t", success: true, result: 0 })).toMatchObject({ result: 0 });
    expect(toolResult.normalize({ tool_name: "t", success: true, result: null })).toMatchObject({ result: [] });
  });

  it("has words for every failure", () => {
    expect(toolResult.normalize({ tool_name: "t", success: null, error: "" })).toEqual({
      success: false,
      tool_name: "t",
      metadata: {},
      error: "Tool execution failed.",
    });
  });

  it("leaves out a runtime that is empty after cleaning", () => {
    expect(toolResult.normalize({ tool_name: "t", success: true, runtime: { a: null } })).not.toHaveProperty("runtime");
    expect(toolResult.failure("t", "e", {}, "x")).not.toHaveProperty("runtime");
  });

  it("refuses a result that belongs to no tool, with a code", () => {
    for (const value of [null, "x", [], {}, { tool_name: "" }, { tool_name: 1 }]) {
      expect(() => toolResult.normalize(value)).toThrow("invalid_tool_execution_result");
    }
  });

  it("drops a __proto__ key and freezes what it returns", () => {
    const given = JSON.parse('{"success":true,"tool_name":"t","result":{"__proto__":{"polluted":true},"list":[1]}}');
    const result = toolResult.normalize(given);
    expect(result.result).toEqual({ list: [1] });
    expect(Object.getPrototypeOf(result.result)).toBe(Object.prototype);
    expect(Object.isFrozen(result) && Object.isFrozen(result.result)).toBe(true);
  });
});
