import { describe, expect, it } from "vitest";
import * as toolCall from "./call.ts";

describe("toolCall.normalize", () => {
  it("uses the alias only where the name itself is absent or null", () => {
    expect(toolCall.normalize({ tool_name: null, name: "t" }).tool_name).toBe("t");
    expect(() => toolCall.normalize({ tool_name: "", name: "t" })).toThrow("invalid_tool_call: tool_name");
    expect(() => toolCall.normalize({ tool_name: 5, name: "t" })).toThrow("invalid_tool_call: tool_name");
  });

  it("lets the first id that is there decide, even when it is unusable", () => {
    expect(toolCall.normalize({ name: "t", id: 5, tool_call_id: "x" })).toEqual({
      tool_name: "t",
      parameters: {},
      metadata: {},
    });
    expect(toolCall.normalize({ name: "t", id: null, tool_call_id: " x " })).toMatchObject({
      metadata: { tool_call_id: "x" },
      id: "x",
    });
  });

  it("reads a list of parameters as none and refuses a scalar", () => {
    expect(toolCall.normalize({ name: "t", parameters: [] }).parameters).toEqual({});
    expect(toolCall.normalize({ name: "t", parameters: null }).parameters).toEqual({});
    expect(() => toolCall.normalize({ name: "t", parameters: 1 })).toThrow("invalid_tool_call: parameters");
  });

  it("refuses what is no map, and what is no JSON, with a code", () => {
    for (const value of [undefined, null, "t", ["t"]]) {
      expect(() => toolCall.normalize(value)).toThrow("invalid_tool_call");
    }
    const cyclic: Record<string, unknown> = { name: "t" };
    cyclic.parameters = cyclic;
    expect(() => toolCall.normalize(cyclic)).toThrow("not_json");
  });

  it("freezes what it returns and takes a deep copy", () => {
    const parameters = { deep: { list: [1] } };
    const call = toolCall.normalize({ name: "t", parameters, id: "i" });
    parameters.deep.list.push(2);
    expect(call.parameters).toEqual({ deep: { list: [1] } });
    expect([call, call.parameters, call.metadata].every(Object.isFrozen)).toBe(true);
  });
});
