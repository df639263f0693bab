import { describe, expect, it } from "vitest";
import { deltaToWire } from "./jsonrpc-delta.ts";

function contentOf(delta: unknown): unknown {
  return deltaToWire("task", delta).params.delta.content;
}

describe("a piece of an answer on its way to a JSON-RPC client", () => {
  it("is the text, or the content where no text is said", () => {
    expect(contentOf({ text: "Hi", content: "no" })).toBe("Hi");
    expect(contentOf({ text: "", content: "no" })).toBe("");
    expect(contentOf({ text: ["no"], content: "no" })).toBe("");
    expect([{ content: "Hi" }, { text: null, content: "Hi" }].map(contentOf)).toEqual(["Hi", "Hi"]);
  });

  it("is nothing but the text where it belongs to the arguments of a call", () => {
    const argument = { type: "tool_argument", content: "no" };
    expect([argument, { ...argument, text: null }].map(contentOf)).toEqual(["", ""]);
    expect(contentOf({ ...argument, text: 5 })).toBe("5");
  });
});
