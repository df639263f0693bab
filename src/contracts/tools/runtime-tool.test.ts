import { describe, expect, it } from "vitest";
import * as runtimeTool from "./runtime-tool.ts";

const lookup = { tool_name: "client/lookup", tool_call_id: "call-1" };

describe("runtime tool request", () => {
  it("derives one id from run, tool and call, so that asking twice is asking once", () => {
    const first = runtimeTool.request({ ...lookup, run_id: "run-1", parameters: { page: 1 } });
    const again = runtimeTool.request({ ...lookup, run_id: "run-1", parameters: { page: 2 } });
    expect(again.request_id).toBe(first.request_id);
    expect(runtimeTool.request({ ...lookup, run_id: "run-2" }).request_id).not.toBe(first.request_id);
  });

  it("keeps an id it was given as it is, and replaces a blank one", () => {
    expect(runtimeTool.request({ ...lookup, request_id: " q " }).request_id).toBe(" q ");
    expect(runtimeTool.request({ ...lookup, request_id: "  " }).request_id).toMatch(/^runtime-tool-[0-9a-f]{64}$/);
  });

  it("normalises to itself", () => {
    const request = runtimeTool.request({ ...lookup, run_id: "run-1", metadata: { turn_count: 2 } });
    expect(runtimeTool.request(request)).toEqual(request);
  });

  it("shares nothing that could change", () => {
    const parameters = { filter: { tag: "a" } };
    const request = runtimeTool.request({ ...lookup, parameters });
    parameters.filter.tag = "b";
    expect(request.parameters).toEqual({ filter: { tag: "a" } });
    expect(Object.isFrozen(request)).toBe(true);
  });

  it("refuses what is no request with a code", () => {
    const cyclic: Record<string, unknown> = { ...lookup };
    cyclic.parameters = cyclic;
    expect(() => runtimeTool.request(cyclic)).toThrow("not_json");
    for (const value of [null, "text", [], { tool_name: 1, tool_call_id: "c" }]) {
      expect(() => runtimeTool.request(value)).toThrow("invalid_runtime_tool_request: tool_name");
    }
  });
});

describe("runtime tool result", () => {
  it("wraps a bare value and keeps a list or a map", () => {
    const payloadOf = (result: unknown) => runtimeTool.result({ request_id: "q", tool_name: "t", result });
    expect(payloadOf(0)).toMatchObject({ result: { value: 0 } });
    expect(payloadOf([1, 2])).toMatchObject({ result: [1, 2] });
    expect(payloadOf(null)).toMatchObject({ result: {} });
  });

  it("has either a result or an error, never both", () => {
    const failed = runtimeTool.result({
      request_id: "q",
      tool_name: "t",
      success: false,
      error: "e",
      result: { v: 1 },
    });
    expect(failed).not.toHaveProperty("result");
    const succeeded = runtimeTool.result({ request_id: "q", tool_name: "t", error: "e" });
    expect(succeeded).not.toHaveProperty("error");
  });

  it("normalises citations and keeps other metadata", () => {
    const metadata = { citations: [{ source: " wiki " }, "no citation"], took_ms: 3 };
    expect(runtimeTool.result({ request_id: "q", tool_name: "t", metadata }).metadata).toEqual({
      citations: [{ source: "wiki" }],
      took_ms: 3,
    });
  });

  it("takes missing ids from the request it answers", () => {
    const request = runtimeTool.request({ ...lookup, request_id: "q" });
    expect(runtimeTool.resultFromRequest(request, { tool_name: null })).toMatchObject({
      request_id: "q",
      tool_name: "client/lookup",
    });
    expect(() => runtimeTool.resultFromRequest(request, { tool_name: " " })).toThrow(
      "invalid_runtime_tool_result: tool_name",
    );
  });
});
