import { describe, expect, it } from "vitest";
import { inputFromParams } from "./jsonrpc-input.ts";

const text = { type: "text", text: "x" };

function read(parts: unknown, params: object = {}, body?: object) {
  return inputFromParams({ message: { parts }, ...params }, "writer", body) as unknown as Record<string, unknown>;
}

function call(toolCallId: unknown, more: object = {}) {
  return { type: "data", data: { toolCallId, ...more } };
}

describe("the parameters of a JSON-RPC message", () => {
  it.each([
    ["a result that is there twice", [call("c", { result: 1 }), call("c", { result: 2 })], "duplicate_tool_result"],
    ["a result without its call", [call("c", { toolId: "t", result: 1 })], "tool_call_mismatch"],
    ["a call without a tool", [call("c"), call("c", { result: 1 })], "invalid_tool_call"],
    [
      "a result of another tool",
      [call("c", { toolId: "t" }), call("c", { toolId: "u", result: 1 })],
      "tool_name_mismatch",
    ],
  ])("are refused for %s", (_, parts, code) => {
    expect(read(parts)).toMatchObject({ code: `agents_chat_jsonrpc_${code}`, data: { status: 400 } });
  });

  it("take null for a result, because the field is there", () => {
    const { input_messages } = read([call("c", { toolId: "t" }), call("c", { result: null })]);
    expect(input_messages).toMatchObject([
      { type: "tool_call", payload: { tool_name: "t", parameters: {} } },
      { type: "tool_result", content: "null", payload: { tool_name: "t", result: null } },
    ]);
  });

  it("are read whatever nonsense stands beside what counts", () => {
    const parts = [null, "text", { type: "text" }, { type: "data", data: 7 }, { type: "other", text: "no" }, text];
    expect(read(parts, { sessionId: "", id: 12 })).toMatchObject({ message: "x", session_id: null, run_id: "12" });
    expect(read("no list")).toMatchObject({ code: "agents_chat_jsonrpc_invalid_params" });
    expect(inputFromParams(null, "writer")).toMatchObject({ code: "agents_chat_jsonrpc_invalid_params" });
  });

  it("keep history as it was said, and leave out what says nothing or is nobody's", () => {
    const said = (role: unknown, words: unknown) => ({ type: "data", data: { role, text: words } });
    const parts = [said("user", " "), said("user", 5), said("toString", "no"), said("agent", " yes\n"), text];
    expect(read(parts).history).toEqual([{ role: "assistant", content: " yes\n" }]);
  });

  it("keep the ids of clients as they are written", () => {
    expect(read([text], { sessionId: " s ", id: " r " })).toMatchObject({ session_id: " s ", run_id: " r " });
    expect(read([text], { sessionId: ["s"], id: "" })).toMatchObject({ session_id: null, run_id: null });
    const { input_messages } = read([call(" c ", { toolId: " t " }), call(" c ", { toolId: " t ", result: 1 })]);
    const kept = { payload: { tool_name: " t " }, metadata: { tool_call_id: " c " } };
    expect(input_messages).toMatchObject([kept, kept]);
    expect(read([call("c", { toolId: "t" }), call(" c ", { result: 1 })])).toMatchObject({
      code: "agents_chat_jsonrpc_tool_call_mismatch",
    });
  });

  it("carry a result as the text that contracts write", () => {
    const result = { url: "a/b", word: "é", none: {} };
    const { input_messages } = read([call("c", { toolId: "t" }), call("c", { result })]);
    const content = String.raw`{"url":"a\/b","word":"\u00e9","none":[]}`;
    expect(input_messages).toMatchObject([{}, { content, payload: { result } }]);
  });

  it("cannot say where they come from, nor bring tools", () => {
    const context = { source: "cli", client_name: "root", runtime_tools: [1], page: "home" };
    const parts = [{ type: "data", data: { clientContext: context } }, text];
    expect(read(parts, { metadata: { a: 1 } }).client_context).toEqual({
      ...{ page: "home", metadata: { a: 1 }, source: "jsonrpc", client_name: "jsonrpc-chat" },
    });
    expect("token_streaming" in read([text])).toBe(false);
    expect(read([text], {}, { tokenStreaming: "0" }).token_streaming).toBe(false);
  });
});
