import { describe, expect, it } from "vitest";
import type { Json } from "../json.ts";
import * as message from "./message.ts";
import { estimateMessage, estimateTokens } from "./token-estimate.ts";

const parameters = { order: 7, why: "It came broken." };
const called = (metadata = {}) => message.toolCall({ tool_name: "shop/refund", parameters, turn: 1, metadata });

describe("an estimate of text", () => {
  it("takes three bytes for a token, so that other scripts than ours are not taken for less than they are", () => {
    expect(estimateTokens("")).toBe(0);
    expect(estimateTokens("a")).toBe(1);
    expect(estimateTokens("abcd")).toBe(2);
    expect(estimateTokens("漢字")).toBe(2);
    expect(estimateTokens("🦀")).toBe(2);
  });

  it("is more than English words are", () => {
    const words = "The customer wants her money back, because the lamp came broken.";
    // Tokenizers make 13 or 14 of these.
    expect(estimateTokens(words)).toBe(22);
  });
});

describe("an estimate of a message", () => {
  it("counts who speaks and what is said", () => {
    expect(estimateMessage(message.text("user", "go"))).toBe(3);
    expect(estimateMessage(message.text("user", "x".repeat(3_000)))).toBe(1_002);
  });

  it("counts what a tool is called with", () => {
    expect(estimateMessage(called())).toBeGreaterThan(estimateTokens(JSON.stringify(parameters)));
    expect(estimateMessage(called({ tool_call_id: "call_0123456789" }))).toBeGreaterThan(estimateMessage(called()));
  });

  it("counts a result once, though its envelope says it twice", () => {
    const content = JSON.stringify({ found: "x".repeat(3_000) });
    const payload = { success: true, result: JSON.parse(content) };
    const result = message.toolResult({ content, tool_name: "shop/find", payload });
    expect(estimateMessage(result)).toBeGreaterThan(1_000);
    expect(estimateMessage(result)).toBeLessThan(1_050);
  });

  it("counts what a provider has thought, because it is shown that again", () => {
    const reasoning = [{ text: "Hm. ".repeat(300), provider_id: "local.chat" }];
    const plain = estimateMessage(message.text("assistant", "Yes."));
    expect(estimateMessage(message.text("assistant", "Yes.", { reasoning }))).toBeGreaterThan(plain + 400);
    const signed = { provider_metadata: { local: { signature: "s".repeat(1_200) } } };
    expect(estimateMessage(called(signed))).toBeGreaterThan(estimateMessage(called()) + 400);
    expect(estimateMessage(message.text("assistant", "Yes.", { type: "note".repeat(300) }))).toBe(plain);
  });

  const picture = { type: "file", media_type: "image/png", data: "iVBOR".repeat(100_000) };
  it.each<[string, Json]>([
    ["as we store one", picture],
    ["as others write one", { type: "image_url", image_url: { url: picture.data } }],
    ["by its source", { type: "document", source: { type: "base64", data: picture.data } }],
  ])("counts a file by itself, whatever its bytes: %s", (_title, part) => {
    expect(estimateMessage(message.text("user", [part]))).toBe(1_502);
    const both = [part, { type: "text", text: "What is this?" }];
    expect(estimateMessage(message.text("user", both))).toBe(1_502 + estimateTokens(JSON.stringify(both[1])));
  });

  it.each<[string, Json]>([
    ["words without a type", { text: "x".repeat(3_000) }],
    ["words of a type of their own", { type: "input_text", text: "x".repeat(3_000) }],
    ["words that are called content", { type: "document", content: "x".repeat(6_000) }],
    ["what nobody knows", { type: "reading", values: "x".repeat(6_000) }],
    ["text alone", "x".repeat(3_000)],
  ])("counts everything else in full: %s", (_title, part) => {
    expect(estimateMessage(message.text("user", [part]))).toBeGreaterThan(JSON.stringify(part).length / 3);
  });

  it("counts content that is a map", () => {
    const answer = message.text("assistant", { text: "x".repeat(300) });
    expect(estimateMessage(answer)).toBeGreaterThan(100);
    expect(estimateMessage(message.text("user", picture))).toBe(1_502);
  });

  it("is the same every time it is asked for", () => {
    const said = message.text("user", "Once upon a time");
    expect([estimateMessage(said), estimateMessage(said)]).toEqual([8, 8]);
  });
});
