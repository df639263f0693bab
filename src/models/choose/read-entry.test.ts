import { describe, expect, it } from "vitest";
import { readEntry } from "./read-entry.ts";

const model = async () => "hello";
const sdk = { specificationVersion: "v4", provider: "p", modelId: "m", doStream: () => {} };

describe("what an agent gives for a model", () => {
  it.each([model, sdk, { ...sdk, specificationVersion: "v3" }, "openai/gpt-5"])("may be one of these: %o", (given) => {
    expect(readEntry(given, "model")).toEqual({ model: given });
    expect(readEntry({ model: given, price: undefined }, "model").model).toBe(given);
  });

  it("may say what it costs and how to ask it", () => {
    const entry = {
      model: "openai/gpt-5",
      price: { input: 1.25, output: 10, cached: 0 },
      maxOutputTokens: 1,
      temperature: 0,
      providerOptions: { openai: { reasoningEffort: "low" } },
      stallMs: 5_000,
      capabilities: { supportsImages: false, maxContextTokens: 8_000 },
    };
    expect(readEntry(entry, "model")).toEqual(entry);
    const own = { model, name: "parrot", price: { input: 0, output: 0 }, maxOutputTokens: 100 };
    expect(readEntry(own, "model")).toEqual(own);
  });

  it.each<[given: unknown, detail: string]>([
    [null, "model must be a function, a model of the AI SDK, or a name such as openai/gpt-5"],
    [7, "model must be a function"],
    [{}, "model must be a function"],
    [["openai/gpt-5"], "model must be a function"],
    [{ model: undefined }, "model.model must be a function"],
    [{ model: { model: "openai/gpt-5" } }, "model.model must be a function"],
    [{ model, cost: 3 }, "model.cost is no field of a model"],
    [{ model, price: 3 }, "model.price must be { input, output, cached? }"],
    [{ model, price: { input: 1 } }, "model.price.output must be a number from 0"],
    [{ model, price: { input: -1, output: 1 } }, "model.price.input must be a number from 0"],
    [{ model, price: { input: 1, output: Number.NaN } }, "model.price.output must be a number from 0"],
    [{ model, price: { input: 1, output: 1, cached: "0" } }, "model.price.cached must be a number from 0"],
    [{ model, price: { input: 1, output: 1, currency: "EUR" } }, "model.price.currency is no field of a price"],
    [{ model, maxOutputTokens: 0 }, "model.maxOutputTokens must be a whole number from 1"],
    [{ model: "openai/gpt-5", temperature: -1 }, "model.temperature must be a number from 0"],
    [{ model: "openai/gpt-5", providerOptions: [] }, "model.providerOptions must be a map"],
    [{ model: "openai/gpt-5", stallMs: 2 ** 31 }, "model.stallMs must be a whole number of milliseconds"],
    [{ model, capabilities: { supportsImages: "no" } }, "model.capabilities must be { supportsImages?"],
    [{ model, capabilities: { maxContextTokens: 0 } }, "model.capabilities must be { supportsImages?"],
    [{ model, name: " " }, "model.name must be text that is not blank"],
    [{ model, capabilities: { vision: true } }, "model.capabilities must be { supportsImages?"],
    [{ model, temperature: 0 }, "model.temperature says nothing to a function"],
    [Object.assign(() => sdk, { languageModel: () => sdk }), "model is a provider; call it with the name of a model"],
  ])("is refused with the field that is wrong: %o", (given, detail) => {
    expect(() => readEntry(given, "model")).toThrow(expect.objectContaining({ code: "invalid_model" }));
    expect(() => readEntry(given, "model")).toThrow(`invalid_model: ${detail}`);
  });

  it("is refused when its interface is another one", () => {
    const old = { ...sdk, specificationVersion: "v2" };
    expect(() => readEntry(old, "model[1]")).toThrow(
      "model_interface_unknown: model[1] is a model of the AI SDK's interface v2",
    );
  });
});
