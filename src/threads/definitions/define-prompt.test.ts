import { describe, expect, it } from "vitest";
import { z } from "zod";
import { tool } from "../tool.ts";
import { type PromptDefinition, prompt } from "./define-prompt.ts";

const order = tool({ name: "look_up", description: "Look up.", execute: () => null });

describe("a prompt", () => {
  it("has a default for everything but its name and words", () => {
    expect(prompt({ name: "writer", prompt: "You write." })).toEqual({
      name: "writer",
      toolDescription: "",
      parts: [{ type: "text", content: "You write." }],
      includeChat: false,
      includePastTools: false,
      toolChoice: "auto",
      tools: [],
      variables: [],
      env: {},
      recentImageThreshold: 10,
      hooks: [],
    });
  });

  it("is made of pieces, of which older names are understood", () => {
    const parts: unknown[] = [
      "Hello ",
      { type: "text", content: "you. " },
      { type: "include", prompt: "tone" },
      { type: "env", property: "REGION" },
      { type: "variable", name: "topic" },
      { type: "string", content: "old" },
      { type: "prompt", prompt: "older" },
    ];
    expect(prompt({ name: "p", prompt: parts as PromptDefinition["prompt"] }).parts).toEqual([
      { type: "text", content: "Hello " },
      { type: "text", content: "you. " },
      { type: "include", prompt: "tone" },
      { type: "env", property: "REGION" },
      { type: "variable", name: "topic" },
      { type: "text", content: "old" },
      { type: "include", prompt: "older" },
    ]);
  });

  it("lists tools and prompts as they are, and names with what is said beside them", () => {
    const sub = prompt({ name: "sub", prompt: "x" });
    const made = prompt({
      name: "p",
      prompt: "x",
      tools: [
        order,
        sub,
        "other",
        {
          tool: tool({ name: "b", description: "B.", execute: () => null }),
          env: { KEY: "v" },
          options: { deep: { n: 1 } },
        },
        { prompt: prompt({ name: "quiet", prompt: "x" }), includeTextResponse: false, initUserMessageProperty: "q" },
        {
          name: "crew",
          resumable: { receives_messages: "side_b", maxInstances: 2 },
          immediate: { scopedEnv: ["TOKEN"] },
        },
      ],
    });
    expect(made.tools).toMatchObject([
      { kind: "tool", tool: { name: "standard/look_up" }, env: {}, options: {} },
      { kind: "prompt", prompt: { name: "sub" }, uses: { includeTextResponse: true, includeErrors: true } },
      { kind: "named", name: "other", given: {} },
      { kind: "tool", env: { KEY: "v" }, options: { deep: { n: 1 } } },
      { kind: "prompt", uses: { includeTextResponse: false, includeToolCalls: true, initUserMessageProperty: "q" } },
      { kind: "named", name: "crew", given: { resumable: { maxInstances: 2 } } },
    ]);
  });

  it("has variables that are secret unless they say otherwise, and values under an older name too", () => {
    const made = prompt({
      name: "p",
      prompt: "x",
      variables: [{ name: "TOKEN", required: true }],
      tenvs: { A: "old", B: "old" },
      env: { A: "new" },
    });
    expect(made.variables).toEqual([{ name: "TOKEN", type: "secret", required: true, scoped: false, description: "" }]);
    expect(made.env).toEqual({ A: "new", B: "old" });
  });

  it("says what it is called with", () => {
    const { requiredSchema } = prompt({ name: "p", prompt: "x", requiredSchema: z.object({ topic: z.string() }) });
    expect(requiredSchema?.json).toMatchObject({ properties: { topic: { type: "string" } } });
    expect(requiredSchema?.validate({})).toMatchObject({ ok: false, problems: [{ path: "topic" }] });
  });

  const plain = { name: "p", prompt: "x" };
  it.each<[field: string, definition: object]>([
    ["name", { prompt: "x" }],
    ["name", { ...plain, name: "My Prompt" }],
    ["prompt", { name: "p" }],
    ["prompt\\[1\\]", { ...plain, prompt: ["a", { type: "image" }] }],
    ["prompt\\[0\\]", { ...plain, prompt: [{ type: "env" }] }],
    ["model", { ...plain, model: 5 }],
    ["includeChat", { ...plain, includeChat: "yes" }],
    ["toolChoice", { ...plain, toolChoice: "any" }],
    ["requiredSchema", { ...plain, requiredSchema: z.string() }],
    ["requiredSchema", { ...plain, requiredSchema: 5 }],
    ["tools", { ...plain, tools: "look_up" }],
    ["tools\\[0\\]", { ...plain, tools: [7] }],
    ["tools\\[0\\]", { ...plain, tools: [""] }],
    ["tools\\[1\\]", { ...plain, tools: [order, "look_up"] }],
    ["tools\\[0\\].declaration", { ...plain, tools: [{ ...order }] }],
    ["tools\\[0\\].tool", { ...plain, tools: [{ tool: "look_up" }] }],
    ["tools\\[0\\]", { ...plain, tools: [{ tool: order, name: "x" }] }],
    ["tools\\[0\\].env", { ...plain, tools: [{ name: "x", env: { A: 1 } }] }],
    ["tools\\[0\\].options", { ...plain, tools: [{ name: "x", options: { big: 1n } }] }],
    ["tools\\[0\\].resumable", { ...plain, tools: [{ name: "x", resumable: true }] }],
    [
      "tools\\[0\\].resumable.receives_messages",
      { ...plain, tools: [{ name: "x", resumable: { receives_messages: "b" } }] },
    ],
    ["tools\\[0\\].resumable.maxInstances", { ...plain, tools: [{ name: "x", resumable: { maxInstances: 0 } }] }],
    ["tools\\[0\\].resumable.sides", { ...plain, tools: [{ name: "x", resumable: { sides: 2 } }] }],
    ["tools\\[0\\].immediate", { ...plain, tools: [{ name: "x", immediate: { env: "A" } }] }],
    ["tools\\[0\\].optional", { ...plain, tools: [{ name: "x", optional: true }] }],
    ["variables\\[0\\].type", { ...plain, variables: [{ name: "A", type: "number" }] }],
    ["variables\\[1\\]", { ...plain, variables: [{ name: "A" }, { name: "A" }] }],
    ["env", { ...plain, env: { A: 5 } }],
    ["reasoning", { ...plain, reasoning: { effort: "most" } }],
    ["recentImageThreshold", { ...plain, recentImageThreshold: -1 }],
    ["providerOptions", { ...plain, providerOptions: { big: 1n } }],
    ["hooks", { ...plain, hooks: "log" }],
    ["temperature", { ...plain, temperature: 1 }],
  ])("is refused with the field that is wrong: %s", (field, definition) => {
    expect(() => prompt(definition as PromptDefinition)).toThrow(
      expect.objectContaining({
        code: "invalid_definition",
        detail: expect.stringMatching(new RegExp(`^${field}(\\W|$).*\\(prompt`)),
      }),
    );
  });
});
