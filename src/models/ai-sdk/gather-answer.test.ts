import { expect, it } from "vitest";
import * as declaration from "../../contracts/tools/declaration.ts";
import type { ModelDelta } from "../model.ts";
import { gatherAnswer, type StreamPart } from "./gather-answer.ts";

const peek = declaration.normalizeForServer({ name: "shop/peek", source: "shop", description: "Looks." });

const usage = {
  inputTokens: { total: 12, noCache: 9, cacheRead: 3, cacheWrite: 0 },
  outputTokens: { total: 5, text: 1, reasoning: 4 },
};
const finish: StreamPart = { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage };

function gather(...parts: StreamPart[]) {
  const told: ModelDelta[] = [];
  const onDelta = (delta: ModelDelta) => told.push(delta);
  const tools = { "shop/peek": peek };
  const gathering = gatherAnswer({ providerId: "local.chat", modelId: "small", tools, onDelta });
  for (const part of parts) gathering.take(part);
  return { ...gathering.answer(), told, hasSpoken: gathering.hasSpoken(), finish: gathering.finish() };
}

it("joins the texts of an answer, and says who gave it and what it cost", () => {
  const { content, request_metadata, usage, told } = gather(
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", id: "r-1", modelId: "small-2026" },
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: "Hel" },
    { type: "text-delta", id: "0", delta: "lo" },
    { type: "text-end", id: "0" },
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: " you" },
    { type: "text-end", id: "1" },
    finish,
  );

  expect(content).toBe("Hello you");
  expect(told).toEqual(["Hel", "lo", " you"].map((text) => ({ type: "text", text })));
  expect(request_metadata).toEqual({
    provider_id: "local.chat",
    model_id: "small-2026",
    finish_reason: "stop",
    response_id: "r-1",
  });
  expect(usage).toEqual({
    prompt_tokens: 12,
    completion_tokens: 5,
    total_tokens: 17,
    cached_tokens: 3,
    reasoning_tokens: 4,
  });
});

it("keeps thoughts with the signature that comes after them, also thoughts that are hidden", () => {
  const { message_metadata, told } = gather(
    { type: "reasoning-start", id: "0", providerMetadata: { local: { kind: "thinking" } } },
    { type: "reasoning-delta", id: "0", delta: "Hm." },
    { type: "reasoning-delta", id: "0", delta: "", providerMetadata: { local: { signature: "s" } } },
    { type: "reasoning-end", id: "0" },
    { type: "reasoning-start", id: "0", providerMetadata: { local: { redactedData: "…" } } },
    { type: "reasoning-end", id: "0" },
    { type: "reasoning-start", id: "1" },
    { type: "reasoning-end", id: "1" },
    finish,
  );

  expect(message_metadata).toEqual({
    reasoning: [
      { text: "Hm.", provider_id: "local.chat", provider_metadata: { local: { kind: "thinking", signature: "s" } } },
      { text: "", provider_id: "local.chat", provider_metadata: { local: { redactedData: "…" } } },
    ],
  });
  expect(told).toEqual([{ type: "reasoning", text: "Hm." }]);
});

it("keeps what was said of a text, as long as it is the only one", () => {
  const one: StreamPart[] = [
    { type: "text-start", id: "0", providerMetadata: { local: { item: 1 } } },
    { type: "text-delta", id: "0", delta: "Hi" },
  ];
  const two: StreamPart[] = [
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: "!" },
  ];

  expect(gather(...one, finish).message_metadata).toEqual({ provider_metadata: { local: { item: 1 } } });
  expect(gather(...one, ...two, finish).message_metadata).toBeUndefined();
});

it("reads calls under the names of the tools, with what the provider wants to see again", () => {
  const { tool_calls, told } = gather(
    { type: "tool-input-start", id: "a", toolName: "shop__peek" },
    { type: "tool-input-delta", id: "a", delta: '{"at":' },
    { type: "tool-input-delta", id: "a", delta: "1}" },
    { type: "tool-input-end", id: "a" },
    {
      type: "tool-call",
      toolCallId: "a",
      toolName: "shop__peek",
      input: '{"at":1}',
      providerMetadata: { local: { signature: "s" } },
    },
    { type: "tool-call", toolCallId: "b", toolName: "shop__peek", input: "" },
    finish,
  );

  expect(tool_calls).toEqual([
    { id: "a", name: "shop/peek", parameters: { at: 1 }, provider_metadata: { local: { signature: "s" } } },
    { id: "b", name: "shop/peek", parameters: {} },
  ]);
  expect(told).toEqual(['{"at":', "1}"].map((text) => ({ type: "tool_input", id: "a", name: "shop/peek", text })));
});

it.each(['{"at":', "[1]", '"text"', "null", "x".repeat(9_000)])(
  "hands on arguments that are no JSON map as they came, so that the call is answered and not run: %.20s",
  (input) => {
    const { tool_calls } = gather({ type: "tool-call", toolCallId: "a", toolName: "shop__peek", input }, finish);

    expect(tool_calls).toEqual([{ id: "a", name: "shop/peek", parameters: {}, invalid_input: input.slice(0, 2_000) }]);
  },
);

it("leaves what the provider runs itself to the provider", () => {
  const { tool_calls, told, content } = gather(
    { type: "tool-input-start", id: "a", toolName: "web_search", providerExecuted: true },
    { type: "tool-input-delta", id: "a", delta: "{}" },
    { type: "tool-call", toolCallId: "a", toolName: "web_search", input: "{}", providerExecuted: true },
    { type: "tool-result", toolCallId: "a", toolName: "web_search", result: [] },
    { type: "text-delta", id: "0", delta: "Found it." },
    finish,
  );

  expect({ tool_calls, content }).toEqual({ tool_calls: [], content: "Found it." });
  expect(told).toEqual([{ type: "text", text: "Found it." }]);
});

it("keeps files as base64, in whichever way the interface carries them", () => {
  const bytes = new Uint8Array([1, 2, 3]);

  const { files } = gather(
    { type: "file", mediaType: "image/png", data: { type: "data", data: bytes } },
    { type: "file", mediaType: "image/png", data: "AQID" },
    { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.org/a.png") } },
    finish,
  );

  expect(files).toEqual([
    { media_type: "image/png", data: "AQID" },
    { media_type: "image/png", data: "AQID" },
  ]);
});

it("has no usage where the provider did not count", () => {
  const nothing = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  const uncounted = { inputTokens: nothing, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };

  expect(gather({ ...finish, usage: uncounted }).usage).toBeUndefined();
});

it("knows whether the provider has begun to answer", () => {
  expect(gather({ type: "stream-start", warnings: [] }, { type: "raw", rawValue: {} }).hasSpoken).toBe(false);
  expect(gather({ type: "response-metadata", id: "r-1" }).hasSpoken).toBe(true);
});

it("takes an answer for finished only if nothing comes after the finish", () => {
  expect(gather(finish, { type: "raw", rawValue: {} }).finish).toBe(finish);
  expect(gather(finish, { type: "text-delta", id: "0", delta: "And" }).finish).toBeUndefined();
});
