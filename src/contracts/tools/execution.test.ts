import { describe, expect, it } from "vitest";
import * as toolCall from "./call.ts";
import type { ToolDeclaration } from "./declaration.ts";
import * as execution from "./execution.ts";

const declaration: ToolDeclaration = {
  name: "ability/save",
  source: "abilities",
  description: "Save.",
  parameters: {},
  executor: "host",
  scope: "run",
  runtime: { duplicate_policy: "repeatable" },
};
const tools = { "ability/save": declaration };
const call = toolCall.normalize({ name: "ability/save" });

const returned = (value: unknown) => execution.settle(call, declaration, { returned: value });

describe("toolCore.prepare", () => {
  it("does not mistake what every object inherits for a tool", () => {
    for (const name of ["constructor", "toString", "__proto__"]) {
      expect(execution.prepare(name, {}, tools, {})).toMatchObject({
        ready: false,
        error: `Tool '${name}' not found`,
        metadata: { error_type: "tool_not_found" },
      });
    }
  });

  it("takes a blank call id for none", () => {
    const prepared = execution.prepare("ability/save", {}, tools, { tool_call_id: "  " });
    expect(prepared).toMatchObject({ ready: true });
    if (prepared.ready) expect(prepared.tool_call).not.toHaveProperty("id");
  });
});

describe("toolCore.settle", () => {
  it("wraps whatever an executor returns without a success field", () => {
    expect(returned("text")).toMatchObject({ success: true, result: "text" });
    expect(returned([1])).toMatchObject({ success: true, result: [1] });
    expect(returned(undefined)).toMatchObject({ success: true, result: [] });
    expect(returned({ tool_name: "other/name" })).toMatchObject({
      tool_name: "ability/save",
      result: { tool_name: "other/name" },
    });
  });

  it("reads a null success as a failure", () => {
    expect(returned({ success: null, error: "no" })).toMatchObject({ success: false, error: "no" });
  });

  it("keeps a new name but never an empty one", () => {
    expect(returned({ success: true, tool_name: "other/name" }).tool_name).toBe("other/name");
    expect(returned({ success: true, tool_name: "" }).tool_name).toBe("ability/save");
  });

  it("lays the executor's runtime over the declared one, where a null erases nothing", () => {
    expect(
      returned({ success: true, runtime: { duplicate_policy: null, environment: "control_plane" } }),
    ).toMatchObject({
      runtime: { duplicate_policy: "repeatable", environment: "control_plane" },
    });
    expect(returned({ success: true, runtime: "x" })).toMatchObject({ runtime: { duplicate_policy: "repeatable" } });
  });

  it("turns a return value that is no JSON into an error result", () => {
    const cyclic: Record<string, unknown> = { success: true };
    cyclic.result = cyclic;
    const hostile = {
      get success() {
        throw new Error("trap");
      },
    };
    for (const value of [cyclic, { rows: 1n }, hostile]) {
      expect(returned(value)).toMatchObject({
        success: false,
        tool_name: "ability/save",
        metadata: { error_type: "executor_exception" },
      });
    }
  });

  it("puts anything thrown into a result, even what has no words", () => {
    const threw = (value: unknown) => execution.settle(call, declaration, { threw: value });
    expect(threw(new Error("boom"))).toMatchObject({ error: "boom", metadata: { error_type: "executor_exception" } });
    expect(threw("plain")).toMatchObject({ error: "plain" });
    expect(threw(Object.create(null))).toMatchObject({ error: "Something without words was thrown." });
    expect(threw(Object.assign(new Error(), { message: 1n }))).toMatchObject({ error: "1" });
    expect(threw(new Error(""))).toMatchObject({ error: "Tool execution failed." });
  });
});

describe("toolCore.execute", () => {
  const request = { toolName: "ability/save", parameters: {}, context: {}, executor: () => ({ by: "host" }) };

  it("settles a rejected promise like a thrown error", async () => {
    const result = await execution.execute({
      ...request,
      tools,
      executor: async () => Promise.reject(new Error("late")),
    });
    expect(result).toMatchObject({ success: false, error: "late", metadata: { error_type: "executor_exception" } });
  });

  it("does not fall back to another executor when the target is unknown", async () => {
    for (const target of ["edge", "constructor"]) {
      const aimed = { "ability/save": { ...declaration, runtime: { executor_target: ` ${target} ` } } };
      const result = await execution.execute({ ...request, tools: aimed });
      expect(result).toMatchObject({ success: false, metadata: { error_type: "executor_target_unavailable" } });
      expect(result).not.toHaveProperty("runtime");
    }
  });

  it("gives the preparation error as an ordinary result", async () => {
    const result = await execution.execute({ ...request, tools, toolName: "nope" });
    expect(result).toEqual({
      success: false,
      tool_name: "nope",
      metadata: { error_type: "tool_not_found" },
      error: "Tool 'nope' not found",
    });
  });
});
