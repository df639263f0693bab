import { describe, expect, it } from "vitest";
import { namesOfModel } from "./names.ts";

describe("provider and model", () => {
  it.each([
    ["openai/gpt-5", "openai", "gpt-5"],
    ["openai.responses/gpt-5", "openai", "gpt-5"],
    ["google/gemini-flash-latest", "gcp.gemini", "gemini-flash-latest"],
    ["google.vertex.chat/gemini-flash-latest", "gcp.vertex_ai", "gemini-flash-latest"],
    ["mistral.chat/large", "mistral_ai", "large"],
    ["ollama/library/llama", "ollama", "library/llama"],
    ["a function", "custom", "a function"],
    ["/odd", "custom", "/odd"],
    ["", "custom", ""],
  ])("of %s are %s and %s", (name, provider, model) => {
    expect(namesOfModel(name)).toEqual({ provider, model });
  });
});
