import { describe, expect, it } from "vitest";
import { snapshot } from "../json.ts";
import * as message from "./message.ts";
import * as result from "./result.ts";

const refused = expect.objectContaining({ code: "invalid_agent_conversation_result" });

describe("conversation result", () => {
  it("keeps what is canonical already instead of copying it", () => {
    const hello = message.text("user", "hello");
    const ran = { tool_name: "t", tool_call_id: "c", result: { success: true }, parameters: {}, turn_count: 1 };
    const executionResults = snapshot([ran]);
    const normalized = result.normalize({ messages: [hello], tool_execution_results: executionResults });
    expect(normalized.messages[0]).toBe(hello);
    expect(normalized.tool_execution_results).toBe(executionResults);
  });

  it("gives the same result when it reads its own again", () => {
    const normalized = result.normalize({ messages: [{ content: "x" }], completed: false, status: "stalled" });
    expect(result.normalize(normalized)).toEqual(normalized);
  });

  it("computes observability whatever the input claims", () => {
    const claimed = { messages: [], tool_observability: { version: 9 } };
    expect(result.normalize(claimed).tool_observability).toEqual({ version: 1, calls: [] });
  });

  it("reports the first wrong field in the order of the contract", () => {
    const wrong = { completed: 1, status: 1, tool_events: [{}], tool_audit_events: "x", messages: [] };
    expect(() => result.normalize(wrong)).toThrow("tool_audit_events must be a list");
    expect(() => result.normalize({ ...wrong, tool_audit_events: [] })).toThrow("tool_events[0].type");
    expect(() => result.normalize({ ...wrong, tool_audit_events: [], tool_events: {} })).toThrow("status must");
    const late = { messages: [], runtime_tool_pending: null, failure: {} };
    expect(() => result.normalize(late)).toThrow("failure.type");
    expect(() => result.normalize({ ...late, failure: undefined })).toThrow("runtime_tool_pending must");
  });

  it("refuses what is not a result with its own code", () => {
    const cyclic: Record<string, unknown> = { messages: [] };
    cyclic.self = cyclic;
    const odd = { messages: [], toJSON: () => null };
    for (const bad of [null, [], "x", cyclic, odd, { messages: [], custom: 1n }, { messages: { a: {} } }]) {
      expect(() => result.normalize(bad)).toThrow(refused);
    }
  });

  it("takes an empty list for the empty map, which lacks its messages", () => {
    for (const empty of [[], {}]) expect(() => result.normalize(empty)).toThrow("messages must be a list");
  });

  it("finds what the assistant said last, past tool calls, other roles and parts", () => {
    const transcript = message.normalizeMany([
      { role: "assistant", content: "answer" },
      { role: "assistant", content: [{ type: "image" }] },
      message.toolCall({ content: "calling", tool_name: "t", parameters: {}, turn: 1 }),
      { role: "user", content: "thanks" },
    ]);
    expect(result.finalContent(transcript)).toBe("answer");
    expect(result.finalContent([])).toBe("");
  });
});
