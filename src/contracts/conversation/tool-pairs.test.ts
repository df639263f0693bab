import { expect, it } from "vitest";
import * as message from "./message.ts";
import * as toolPairs from "./tool-pairs.ts";

const call = (id: string, tool_name = "t") =>
  message.toolCall({ tool_name, parameters: {}, turn: 1, metadata: { tool_call_id: id } });
const result = (id: string, tool_name = "t") =>
  message.toolResult({ content: "", tool_name, payload: {}, metadata: { tool_call_id: id } });

it("matches by id even when the names differ", () => {
  expect(toolPairs.validate([call("1", "alias"), result("1", "canonical")])).toEqual([]);
});

it("tells an id as it stands and counts a blank one as none", () => {
  expect(toolPairs.validate([call(" 1 "), result("1")])).toMatchObject([
    { kind: "orphan_tool_call", tool_call_id: " 1 " },
    { kind: "orphan_tool_result", tool_call_id: "1" },
  ]);
  expect(toolPairs.validate([call("  "), result("")])).toEqual([]);
  expect(toolPairs.validate([call("  ")])[0]).not.toHaveProperty("tool_call_id");
});

it("lists orphans in the order of the transcript", () => {
  const orphans = toolPairs.validate([call("late"), result("unknown"), call("1"), result("1"), call("1")]);
  expect(orphans.map(({ index, kind }) => [index, kind])).toEqual([
    [0, "orphan_tool_call"],
    [1, "orphan_tool_result"],
    [4, "orphan_tool_call"],
  ]);
});

it("keeps the given messages themselves when it prunes", () => {
  const plain = { role: "user", content: "hi" };
  const { messages } = toolPairs.prune([plain, call("1")]);
  expect(messages).toEqual([plain]);
  expect(messages[0]).toBe(plain);
});

it("stays quick while thousands of calls of one id wait", () => {
  const calls = Array.from({ length: 20_000 }, () => call("same"));
  const results = Array.from({ length: 20_000 }, () => result("same"));
  expect(toolPairs.validate([...calls, ...results])).toEqual([]);
});
