import { describe, expect, it } from "vitest";
import * as message from "../conversation/message.ts";
import { pairCalls } from "./pair-calls.ts";

const call = (id: string, turn = 1, metadata = {}) =>
  message.toolCall({ tool_name: "look", parameters: {}, turn, metadata: { tool_call_id: id, ...metadata } });
const result = (id: string, content = id) =>
  message.toolResult({ tool_name: "look", content, payload: { success: true }, metadata: { tool_call_id: id } });
const request = (id: string) =>
  message.approvalRequired({ content: "May it?", payload: { tool_name: "look" }, metadata: { tool_call_id: id } });
const words = message.text("assistant", "Let me see.");
const user = message.text("user", "Hurry.");
const system = message.text("system", "It is late.");
const nudge = message.text("assistant", "It keeps failing.", { type: "identical_failure_nudge" });

const fine: readonly (readonly [string, readonly message.Message[]])[] = [
  ["nothing", []],
  ["words alone", [user, words]],
  ["calls, then their results", [user, words, call("1"), call("2"), result("1"), result("2"), words]],
  ["each call with its result", [words, call("1"), result("1"), call("2"), result("2")]],
  ["two answers", [call("1"), result("1"), call("2", 2), result("2")]],
  ["ids that begin anew with every answer", [call("1"), result("1"), user, call("1"), result("1")]],
  ["a note between two calls of an answer", [call("1"), result("1"), nudge, call("2"), result("2")]],
  ["a request that nobody has answered", [call("1"), request("1"), user]],
];

const amiss: readonly (readonly [string, readonly message.Message[], readonly message.Message[]])[] = [
  ["drops a result without its call", [user, result("1"), words], [user, words]],
  [
    "drops a result that stands before its call",
    [result("1"), call("1"), result("1", "late")],
    [call("1"), result("1", "late")],
  ],
  [
    "moves what stands between a call and its result",
    [call("1"), user, system, result("1"), words],
    [call("1"), result("1"), user, system, words],
  ],
  [
    "moves what stands between the results of an answer",
    [call("1"), call("2"), result("1"), user, result("2")],
    [call("1"), call("2"), result("1"), result("2"), user],
  ],
  [
    "finishes an answer before the next one begins",
    [call("1"), call("2", 2), result("2"), result("1")],
    [call("1"), result("1"), call("2", 2), result("2")],
  ],
  [
    "begins a new answer where a model thought anew",
    [call("1"), call("2", 1, { reasoning: [{ text: "Hm." }] }), result("1"), result("2")],
    [call("1"), result("1"), call("2", 1, { reasoning: [{ text: "Hm." }] }), result("2")],
  ],
  [
    "keeps the last result of a call",
    [call("1"), result("1", "soon"), result("1", "done")],
    [call("1"), result("1", "done")],
  ],
  [
    "moves a note that stands between the results of an answer",
    [call("1"), call("2"), nudge, result("1"), result("2")],
    [call("1"), call("2"), result("1"), result("2"), nudge],
  ],
  ["moves a request with its call", [call("1"), user, request("1")], [call("1"), request("1"), user]],
];

describe("pairCalls", () => {
  it.each(fine)("gives back what it was given: %s", (_, messages) => {
    expect(pairCalls(messages)).toBe(messages);
  });

  it.each(amiss)("%s", (_, messages, expected) => {
    const paired = pairCalls(messages);
    expect(paired).toEqual(expected);
    expect(pairCalls(paired)).toBe(paired);
  });

  it("gives a call without result one that says so", () => {
    const messages = [call("1", 3, { side: "b" }), call("2", 3), result("2"), user];
    const paired = pairCalls(messages);
    expect(paired.slice(0, 3)).toEqual([messages[0], messages[1], messages[2]]);
    expect(paired[3]).toMatchObject({
      type: "tool_result",
      content: "There is no result of this call.",
      payload: { success: false, tool_name: "look", turn: 3 },
      metadata: { tool_call_id: "1", side: "b" },
    });
    expect(paired[4]).toBe(user);
    expect(pairCalls(paired)).toBe(paired);
  });

  it("finds the calls of hosts that give none an id by their names, in order", () => {
    const plain = (tool_name: string) => message.toolCall({ tool_name, parameters: {}, turn: 1 });
    const answer = (tool_name: string, content: string) =>
      message.toolResult({ tool_name, content, payload: { success: true } });
    const [first, other, second] = [plain("a"), plain("b"), plain("a")];
    const results = [answer("a", "1"), answer("b", "2"), answer("a", "3")];
    const messages = [first, other, second, ...results, answer("a", "too many")];
    expect(pairCalls(messages)).toEqual([first, other, second, ...results]);
  });
});
