import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ReadyModel } from "../../models/model-choice.ts";
import { type AgentDefinition, agent } from "../agent.ts";
import { tool } from "../tool.ts";
import { checkPrices, fundsOf } from "./agent-funds.ts";

const price = { input: 1, output: 2 };
const model = (more: Partial<ReadyModel> = {}): ReadyModel => ({
  ...{ name: "a function", ask: () => "", price: null, maxOutputTokens: null },
  ...more,
});
const clerk = (more: Partial<AgentDefinition> = {}) => agent({ slug: "clerk", model: () => "", ...more });
const spending = (more: Partial<AgentDefinition> = {}) => ({ agent: clerk(more), tools: clerk(more).tools });

describe("what a run may spend", () => {
  it("is not counted where there is neither a limit nor a price nor anybody to share with", () => {
    expect(fundsOf(spending({ limits: { steps: 3, seconds: 5 } }), [model()], false)).toBeNull();
  });

  it("is counted as soon as there is one of them", () => {
    expect(fundsOf(spending({ limits: { tokens: 500 } }), [model()], false)).toMatchObject({
      tokens: 500,
      nanodollars: null,
      isShared: false,
    });
    expect(fundsOf(spending({ limits: { usd: 0.5 } }), [model({ price })], false)).toMatchObject({
      tokens: null,
      nanodollars: 500_000_000,
    });
    expect(fundsOf(spending(), [model(), model({ price })], false)).toMatchObject({ tokens: null, nanodollars: null });
    expect(fundsOf(spending(), [model()], true)).toMatchObject({ isShared: true });
  });

  it("goes to the models in their order, and to summaries unless somebody else writes them", () => {
    const models = [model({ price }), model({ price, maxOutputTokens: 100 })];
    expect(fundsOf(spending(), models, false)).toMatchObject({
      models: [
        { price, maxOutputTokens: null },
        { price, maxOutputTokens: 100 },
      ],
      paysSummaries: true,
    });
    expect(fundsOf(spending({ summarizer: () => "" }), models, false)).toMatchObject({ paysSummaries: false });
  });

  it("begins with what every request holds: instructions, tools, and the form of the last words", () => {
    const overhead = (more: Partial<AgentDefinition>) => fundsOf(spending(more), [model()], true)?.overhead ?? 0;
    const bare = overhead({});
    expect(overhead({ instructions: "x".repeat(300) })).toBe(bare + 100);
    const tools = [tool({ name: "shop/peek", description: "x".repeat(300), execute: () => null })];
    expect(overhead({ tools })).toBeGreaterThan(bare + 100);
    const output = z.object({ n: z.int().describe("x".repeat(300)) });
    expect(overhead({ output })).toBeGreaterThan(bare + 100);
  });
});

describe("a limit in dollars", () => {
  it("needs a price of every model that may be asked", () => {
    expect(() => checkPrices([model({ price })], "It")).not.toThrow();
    const models = [model({ price }), model({ name: "openai/gpt-5" })];
    expect(() => checkPrices(models, "The agent")).toThrow(
      expect.objectContaining({
        code: "model_price_missing",
        detail: "The agent has a limit in dollars, and openai/gpt-5 has no price.",
      }),
    );
  });
});
