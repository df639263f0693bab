import type { LanguageModelV4 } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { providerOptionsFor } from "./provider-options.ts";

const named = (provider: string) => ({ specificationVersion: "v4", provider, modelId: "small" }) as LanguageModelV4;

it("lays what a request says over what the model says, provider by provider and key by key", () => {
  const own = { local: { effort: "low", user: "shop" }, other: { cache: true } };
  const providerOptions = { local: { effort: "high" }, third: { seed: 1 } };

  expect(providerOptionsFor(named("local.chat"), own, { providerOptions }, false)).toEqual({
    local: { effort: "high", user: "shop" },
    other: { cache: true },
    third: { seed: 1 },
  });
  expect(own).toEqual({ local: { effort: "low", user: "shop" }, other: { cache: true } });
});

it("says nothing when nobody has set anything", () => {
  expect(providerOptionsFor(named("openai.chat"), undefined, {}, true)).toBeUndefined();
  expect(providerOptionsFor(named("openai.chat"), {}, { providerOptions: {} }, true)).toBeUndefined();
});

describe("several calls in one answer", () => {
  it.each([
    ["openai.responses", { openai: { parallelToolCalls: false } }],
    ["groq.chat", { groq: { parallelToolCalls: false } }],
    ["anthropic.messages", { anthropic: { disableParallelToolUse: true } }],
    ["unheard-of.chat", undefined],
  ])("are told to %s in its own words", (provider, expected) => {
    expect(providerOptionsFor(named(provider), undefined, { parallelToolCalls: false }, true)).toEqual(expected);
  });

  it("are not spoken of where there is no tool to call", () => {
    expect(providerOptionsFor(named("openai.chat"), undefined, { parallelToolCalls: true }, false)).toBeUndefined();
  });

  it("are as the provider's own options say, where both speak of them", () => {
    const own = { openai: { parallelToolCalls: true } };

    expect(providerOptionsFor(named("openai.chat"), own, { parallelToolCalls: false }, true)).toEqual(own);
  });
});
