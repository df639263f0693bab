import { describe, expect, it } from "vitest";
import { choicesOf, type ModelDefinition, type ModelInput, model } from "./model.ts";

const answers = async () => "hello";

describe("a model", () => {
  it("is a name of a provider's model, a model itself, or what a provider makes of a name", () => {
    expect(model({ name: "quick", model: "openai/gpt-5-mini" }).model).toBe("openai/gpt-5-mini");
    expect(model({ name: "quick", model: answers }).model).toBe(answers);
    expect(model({ name: "quick", provider: "openai", model: "gpt-5" }).model).toBe("openai/gpt-5");
    const ids: string[] = [];
    const provider = (id: string) => {
      ids.push(id);
      return answers;
    };
    expect(model({ name: "quick", provider, model: "gpt-5" }).model).toBe(answers);
    expect(ids).toEqual(["gpt-5"]);
  });

  it("costs what it says, whole or in parts, and can do what it does not deny", () => {
    const whole = model({ name: "m", model: answers, price: { input: 1, output: 2 } });
    const parts = model({ name: "m", model: answers, inputPrice: 1, outputPrice: 2, cachedPrice: 0.1 });
    expect(whole.price).toEqual({ input: 1, output: 2 });
    expect(parts.price).toEqual({ input: 1, output: 2, cached: 0.1 });
    expect(whole.capabilities).toEqual({});
    expect(model({ name: "m", model: answers, capabilities: { vision: false } }).capabilities).toEqual({
      supportsImages: false,
    });
  });

  it("is asked first, and then those that it names, but not those that they name", () => {
    const models = new Map<string, ModelDefinition>(
      [
        model({
          name: "a",
          model: "x/a",
          fallbacks: ["b", "c"],
          capabilities: { maxOutputTokens: 9, supportsToolCalls: false },
        }),
        model({ name: "b", model: "x/b", fallbacks: ["d"], inputPrice: 1, outputPrice: 2 }),
        model({ name: "c", model: "x/c", providerOptions: { x: { effort: "low" } } }),
        model({ name: "d", model: "x/d" }),
      ].map((each) => [each.name, each]),
    );
    expect(choicesOf(models.get("a") as ModelDefinition, { models })).toEqual([
      { model: "x/a", name: "a", maxOutputTokens: 9, capabilities: { supportsToolCalls: false } },
      { model: "x/b", name: "b", price: { input: 1, output: 2 }, capabilities: {} },
      { model: "x/c", name: "c", providerOptions: { x: { effort: "low" } }, capabilities: {} },
    ]);
  });

  const plain = { name: "m", model: answers };
  it.each<[field: string, definition: object]>([
    ["name", { model: answers }],
    ["name", { ...plain, name: "GPT 5" }],
    ["model", { name: "m" }],
    ["model", { name: "m", provider: "openai", model: answers }],
    ["provider", { ...plain, provider: 5 }],
    [
      "provider makes no model",
      {
        name: "m",
        provider: () => {
          throw new Error("no key");
        },
        model: "x",
      },
    ],
    ["provider", { name: "m", provider: () => 5, model: "x" }],
    ["fallbacks", { ...plain, fallbacks: "b" }],
    ["fallbacks", { ...plain, fallbacks: ["m"] }],
    ["price", { ...plain, price: { input: 1 } }],
    ["price", { ...plain, price: { input: 1, output: 1 }, inputPrice: 1 }],
    ["outputPrice", { ...plain, inputPrice: 1 }],
    ["inputPrice", { ...plain, inputPrice: -1, outputPrice: 1 }],
    ["capabilities", { ...plain, capabilities: { sings: true } }],
    ["capabilities", { ...plain, capabilities: { supportsImages: "yes" } }],
    ["stallMs", { ...plain, stallMs: 0 }],
    ["cost", { ...plain, cost: 1 }],
  ])("is refused with the field that is wrong: %s", (field, definition) => {
    expect(() => model(definition as ModelInput)).toThrow(
      expect.objectContaining({
        code: "invalid_definition",
        detail: expect.stringMatching(new RegExp(`^${field}(\\W|$).*\\(model`)),
      }),
    );
  });
});
