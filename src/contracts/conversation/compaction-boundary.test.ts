import { expect, it } from "vitest";
import { selectBoundary } from "./compaction-boundary.ts";
import { normalizePolicy } from "./compaction-policy.ts";
import * as message from "./message.ts";

const say = message.text("user", "hello");
const call = message.toolCall({ tool_name: "ability/search", parameters: {}, turn: 1 });
const answer = message.toolResult({ content: "{}", tool_name: "ability/search", payload: {} });
const policy = (recent_messages: number, preserve_tool_boundaries = true) =>
  normalizePolicy({ max_messages: 50, recent_messages, preserve_tool_boundaries });

it("keeps several calls together with their results", () => {
  const transcript = [say, call, call, answer, answer, say];
  expect(selectBoundary(transcript, policy(2))).toBe(1);
  expect(selectBoundary(transcript, policy(4))).toBe(1);
  expect(selectBoundary(transcript, policy(1))).toBe(5);
});

it("keeps a call that still waits for its result", () => {
  expect(selectBoundary([say, say, call], policy(1))).toBe(2);
  expect(selectBoundary([say, say, call, say], policy(1))).toBe(2);
});

it("finds no boundary in a transcript of nothing but calls and results", () => {
  expect(selectBoundary([call, answer, answer], policy(1))).toBe(0);
});

it("cuts where it is told when the policy does not care", () => {
  expect(selectBoundary([say, call, answer, say], policy(2, false))).toBe(2);
});

it("keeps a call with its result whatever stands between them, where that can be", () => {
  const metadata = { tool_call_id: "c1" };
  const waits = message.toolCall({ tool_name: "ability/save", parameters: {}, turn: 1, metadata });
  const came = message.toolResult({ content: "{}", tool_name: "ability/save", payload: {}, metadata });
  const transcript = [say, waits, say, say, say, came, say];
  expect(selectBoundary(transcript, policy(2))).toBe(4);
  expect(selectBoundary(transcript, policy(2), "all")).toBe(1);
  expect(selectBoundary(transcript, policy(1), "all")).toBe(6);
});
