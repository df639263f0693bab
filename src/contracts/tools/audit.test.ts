import { describe, expect, it } from "vitest";
import * as audit from "./audit.ts";
import { expose } from "./exposure.ts";
import * as toolResult from "./result.ts";

const call = { tool_name: "ability/x", tool_call_id: "c1", declaration: null, turn: 1 };
const event = (parameters: Record<string, string | number>, result: unknown) =>
  audit.event({ ...call, exposure: expose(parameters, null), result: toolResult.normalize(result) });

describe("toolAudit.event", () => {
  it("tells nothing of parameters or result but hashes", () => {
    const told = JSON.stringify(event({ query: "who" }, { success: true, tool_name: "t", result: "the answer" }));
    expect(told).not.toContain("who");
    expect(told).not.toContain("the answer");
  });

  it("tells two errors apart by their text", () => {
    const failed = (error: string) => event({}, { success: false, tool_name: "t", error }).result_sha256;
    expect(failed("a")).not.toBe(failed("b"));
    expect(failed("a")).toBe(failed("a"));
  });

  it("hashes the name inside the result, and shows the name the model gave", () => {
    const one = event({}, { success: true, tool_name: "ability/x" });
    const other = event({}, { success: true, tool_name: "ability/y" });
    expect(one.tool_name).toBe(other.tool_name);
    expect(one.result_sha256).not.toBe(other.result_sha256);
  });

  it("leaves out an error type that is no text", () => {
    expect(event({}, { success: false, tool_name: "t", metadata: { error_type: 5 } })).not.toHaveProperty("error_type");
  });
});
