import { describe, expect, it } from "vitest";
import { unnamedModel } from "./unnamed-model.ts";

describe("the model that is used when none is named", () => {
  it.each([
    ["is the demo model without any key", {}, "demo"],
    ["is the demo model where every key is blank", { OPENAI_API_KEY: "", GROQ_API_KEY: " " }, "demo"],
    [
      "is the one that HOLDFAST_MODEL names",
      { HOLDFAST_MODEL: "groq/openai/gpt-oss-120b" },
      "groq/openai/gpt-oss-120b",
    ],
    [
      "is the one that HOLDFAST_MODEL names, whatever keys there are",
      { HOLDFAST_MODEL: "demo", XAI_API_KEY: "k" },
      "demo",
    ],
    ["is the provider's whose key is set", { OPENAI_API_KEY: "k" }, "openai/gpt-5"],
    ["is the provider's whose key is set", { ANTHROPIC_API_KEY: "k" }, "anthropic/claude-sonnet-5"],
    ["is the provider's whose key is set", { GOOGLE_GENERATIVE_AI_API_KEY: "k" }, "google/gemini-flash-latest"],
    ["knows a key by its other name", { GEMINI_API_KEY: "k" }, "google/gemini-flash-latest"],
    ["is asked of the server at OPENAI_BASE_URL", { OPENAI_BASE_URL: "http://localhost:8000/v1" }, "openai/gpt-5"],
    ["is not changed by an address without a key", { ANTHROPIC_BASE_URL: "https://proxy.example" }, "demo"],
  ])("%s: %o", (_what, env: Record<string, string>, name) => {
    expect(unnamedModel(env)).toBe(name);
  });

  it.each([
    [{ OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }, "OPENAI_API_KEY, ANTHROPIC_API_KEY are set"],
    [{ OPENAI_API_KEY: "k", OLLAMA_BASE_URL: "http://localhost:11434" }, "OPENAI_API_KEY, OLLAMA_BASE_URL are set"],
    [{ MISTRAL_API_KEY: "k" }, "HOLDFAST_MODEL=mistral/<model>"],
    [{ OLLAMA_BASE_URL: "http://localhost:11434" }, "HOLDFAST_MODEL=ollama/<model>"],
  ])("is not guessed: %o", (env: Record<string, string>, words) => {
    expect(() => unnamedModel(env)).toThrow(expect.objectContaining({ code: "model_not_named" }));
    expect(() => unnamedModel(env)).toThrow(words);
  });
});
