import { describe, expect, it } from "vitest";
import { judgeResult, readTypedResult, synthesizedResult, type ToolResult } from "./agentic-result.ts";
import { newRun, withCompletedStep, withPending } from "./agentic-run.ts";

const context = {
  run_id: "R1",
  step: 2,
  tool: "fabric",
  attempt: 2,
  agent: "agentic-loop",
  ductile_plugin: "agentic-loop",
};
const typed = { run_id: "R1", step: 2, tool: "fabric", status: "ok" };

describe("a typed result", () => {
  it("is read with what it says", () => {
    expect(readTypedResult({ ...typed, result: { a: 1 }, attempt: 3, extra: true })).toEqual({
      ...{ ...typed, attempt: 3, result: { a: 1 }, error: null, permanent: false },
    });
  });

  it("takes a missing attempt from a context of the same step, and from no other", () => {
    expect(readTypedResult(typed, context)?.attempt).toBe(2);
    expect(readTypedResult(typed, { ...context, step: 1 })?.attempt).toBeUndefined();
    expect(readTypedResult({ ...typed, attempt: 1 }, context)?.attempt).toBe(1);
  });

  it("has no error text where that is blank", () => {
    for (const error of [null, "", " ", "\u00a0"]) {
      expect(readTypedResult({ ...typed, status: "error", error })?.error).toBeNull();
    }
    expect(readTypedResult({ ...typed, status: "\u3000" })).toBeUndefined();
  });

  it("has an error of another shape as its JSON text", () => {
    for (const error of [{ message: "boom" }, ["boom"], 7, false]) {
      expect(readTypedResult({ ...typed, status: "error", error })?.error).toBe(JSON.stringify(error));
    }
  });

  it("is permanent only where it says so", () => {
    expect(readTypedResult({ ...typed, permanent: true })?.permanent).toBe(true);
    expect(readTypedResult({ ...typed, permanent: "yes" })?.permanent).toBe(false);
  });

  it("is an answer of the gateway where it is permanent and its reason is one of the gateway's", () => {
    const failed = { ...typed, status: "error", permanent: true };
    expect(readTypedResult({ ...failed, reason: "tool_unroutable" })?.refusal).toBe("tool_unroutable");
    expect(readTypedResult({ ...failed, reason: "cancelled" })).not.toHaveProperty("refusal");
    expect(readTypedResult({ ...failed, permanent: false, reason: "tool_unroutable" })).not.toHaveProperty("refusal");
  });
});

describe("a result that is made of any other event", () => {
  it("has its correlation from the context and no key that was copied from there", () => {
    const payload = { step: 0, text: "hi", tool: "fabric", run_id: "R1", ductile_plugin: "agentic-loop" };
    expect(synthesizedResult(payload, context)).toEqual({
      ...{ run_id: "R1", step: 2, tool: "fabric", attempt: 2, status: "ok", error: null, permanent: false },
      result: { step: 0, text: "hi" },
    });
  });

  it("keeps equal values of keys that are no correlation", () => {
    expect(synthesizedResult({ url: "u" }, { ...context, url: "u" })?.result).toEqual({ url: "u" });
    expect(synthesizedResult({ ductile_upstream_plugin: "fetch" }, context)?.result).toEqual({
      ductile_upstream_plugin: "fetch",
    });
  });

  it("says nothing of an attempt where the context does not", () => {
    const { attempt: _attempt, ...without } = context;
    expect(synthesizedResult({}, without)).not.toHaveProperty("attempt");
  });
});

describe("the verdict on a result", () => {
  const about = { goal: "g", max_steps: 6, max_reframes: 2, workspace_ref: "job:J1" };
  const action = { step: 2, attempt: 2, tool: "fabric", tool_command: "handle", pending_payload: {} };
  const run = withPending(withCompletedStep(newRun(about, "t"), 1), action, "t");
  const result: ToolResult = { ...typed, result: null, error: null, permanent: false };

  it.each<[string, Partial<ToolResult>]>([
    ["matched", {}],
    ["matched", { attempt: 2 }],
    ["matched", { attempt: 3 }],
    ["unknown", { run_id: "R2" }],
    ["unknown", { run_id: "toString" }],
    ["stale", { step: 1 }],
    ["stale", { step: 1, tool: "other" }],
    ["step_ahead", { step: 3 }],
    ["step_ahead", { step: 3, attempt: 1 }],
    ["late", { attempt: 1 }],
    ["late", { attempt: 1, tool: "other" }],
    ["wrong_tool", { tool: "other" }],
  ])("is %s for %j", (kind, other) => {
    expect(judgeResult({ runs: { R1: run } }, { ...result, ...other }).kind).toBe(kind);
  });

  it.each(["done", "escalated", "failed", "paused by hand"])("names the status of a run that is %s", (status) => {
    expect(judgeResult({ runs: { R1: { ...run, status } } }, result)).toEqual({ kind: "ended", status });
  });

  it.each([null, "running", [], {}, { status: 1 }])("is that there is no run where %j is stored", (stored) => {
    expect(judgeResult({ runs: { R1: stored } }, result)).toEqual({ kind: "unknown" });
  });
});
