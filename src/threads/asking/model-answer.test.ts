import { describe, expect, it } from "vitest";
import * as message from "../../contracts/conversation/message.ts";
import { readModelAnswer } from "./model-answer.ts";

const given = [message.text("user", "Hello.")];
const read = (answer: unknown, step = 0) => readModelAnswer(answer, given, step);

describe("a model's answer", () => {
  it("may be a text alone", () => {
    expect(read("Hi.")).toEqual({ content: "Hi.", tool_calls: [] });
    expect(read("")).toEqual({ content: "", tool_calls: [] });
  });

  it("makes no calls when it says nothing of them", () => {
    for (const none of [{}, { tool_calls: null }, { tool_calls: undefined }, { tool_calls: [] }]) {
      expect(read({ content: "Hi.", ...none })).toEqual({ content: "Hi.", tool_calls: [] });
    }
    expect(read({})).toEqual({ content: "", tool_calls: [] });
    expect(read({ content: null })).toEqual({ content: "", tool_calls: [] });
  });

  it("keeps what else it tells, such as its usage", () => {
    const usage = { total_tokens: 5 };
    expect(read({ content: "Hi.", usage, request_metadata: { id: "r" } })).toMatchObject({
      usage,
      request_metadata: { id: "r" },
    });
  });

  it("may be the transcript with what the assistant says behind it", () => {
    const says = (...words: string[]) => words.map((content) => ({ role: "assistant", content }));
    expect(read({ messages: [...given, ...says("Hi.")] })).toEqual({ content: "Hi.", tool_calls: [] });
    expect(read({ messages: [...given, ...says("Hi.", "How are you?")] })).toMatchObject({
      content: "Hi.\nHow are you?",
    });
    expect(read({ messages: [...given], tool_calls: [{ name: "peek" }] })).toMatchObject({ content: "" });
    expect(read({ messages: [...given, ...says("Hi.")], content: "Said so." })).toMatchObject({ content: "Said so." });
    expect(read({ messages: [...given, ...says("Hi.")] })).not.toHaveProperty("messages");
  });

  it("gives a call without an id one of its own, by its step and place, and leaves those that have one", () => {
    const calls = [
      { name: "peek" },
      { name: "peek", id: "own" },
      { tool_name: "peek", tool_call_id: "other", id: " " },
    ];
    expect(read({ tool_calls: calls }, 4).tool_calls).toEqual([
      { name: "peek", id: "call-5-1", parameters: {} },
      { name: "peek", id: "own", parameters: {} },
      { tool_name: "peek", tool_call_id: "other", id: "other", parameters: {} },
    ]);
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["a number", 5],
    ["a list", [{ content: "Hi." }]],
    ["a function", () => "Hi."],
    ["content that is a map", { content: { text: "Hi." } }],
    ["content in parts", { content: [{ type: "text", text: "Hi." }] }],
    ["calls that are a map", { tool_calls: { name: "peek" } }],
    ["a call that is a text", { tool_calls: ["peek"] }],
    ["a call without a name", { tool_calls: [{ parameters: {} }] }],
    ["a call as a provider sends it", { tool_calls: [{ type: "function", function: { name: "peek" } }] }],
    ["a call with a blank name", { tool_calls: [{ name: " " }] }],
    ["a transcript that was cut", { messages: [] }],
    ["a transcript that was changed", { messages: [message.text("user", "Hello.")] }],
    ["a transcript in which a user speaks", { messages: [...given, { role: "user", content: "And?" }] }],
    ["a transcript with a message that is none", { messages: [...given, 5] }],
  ])("is refused as %s", (_what, answer) => {
    expect(() => read(answer)).toThrow(expect.objectContaining({ code: "invalid_model_answer" }));
  });

  it("is refused with words that say which call is wrong, and what it has", () => {
    const wrong = { tool_calls: [{ name: "peek" }, { type: "function", function: { name: "peek" } }] };
    expect(() => read(wrong)).toThrow(/tool_calls\[1\] has no name; it has type, function/);
  });

  it.each<[string, object, object]>([
    ["a map", { parameters: { a: 1 } }, { parameters: { a: 1 } }],
    ["JSON text", { parameters: '{"a":1}' }, { parameters: { a: 1 } }],
    ["JSON text under another name", { arguments: '{"a":1}' }, { parameters: { a: 1 } }],
    ["nothing", {}, { parameters: {} }],
    ["text that is no JSON", { arguments: '{"a":' }, { parameters: {}, invalid_input: '{"a":' }],
    ["JSON text that is no map", { parameters: "[1]" }, { parameters: {}, invalid_input: "[1]" }],
    ["a list", { parameters: [1] }, { parameters: {}, invalid_input: "[1]" }],
  ])("has its calls read whose arguments are %s, and none runs with nothing instead", (_title, given, expected) => {
    const [call] = read({ tool_calls: [{ name: "peek", ...given }] }, 4).tool_calls as object[];
    expect(call).toMatchObject(expected);
    expect(call).toHaveProperty("parameters", (expected as { parameters: unknown }).parameters);
  });
});
