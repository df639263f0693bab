import { describe, expect, it } from "vitest";
import { type Agent, type AgentDefinition, agent, runOptions, type StandardAgentDefinition } from "../agent.ts";
import { tool } from "../tool.ts";
import { prompt } from "./define-prompt.ts";

const writer = prompt({ name: "writer", prompt: "You write." });
const pair = { sideA: { prompt: "writer" }, sideB: { prompt: "critic" } };

function backings({ sides }: Agent): readonly string[] {
  return [sides.a.backing.kind, sides.b.backing.kind];
}

describe("an agent of two sides", () => {
  it("is a model's and a person's unless it says otherwise", () => {
    const support = agent({ name: "support_desk", sideA: { prompt: writer } });
    expect(support).toMatchObject({
      slug: "support_desk",
      title: "support_desk",
      style: "standard",
      isDual: false,
      maxSessionTurns: null,
      exposeAsTool: false,
      toolDescription: "",
      primary: true,
      env: {},
      hooks: [],
      parentHooks: [],
      retry: { attempts: 2, backoffMs: 1_000 },
    });
    expect(support.sides.a).toEqual({
      backing: { kind: "prompt", prompt: writer },
      label: "writer",
      stopOnResponse: true,
      maxSteps: null,
      subagents: [],
    });
    expect(support.sides.b.backing).toEqual({ kind: "human" });
    expect(agent({ name: "a", type: "ai_human", sideA: { prompt: "p" }, sideB: { label: "You" } }).sides.b.label).toBe(
      "You",
    );
  });

  it("is dual by its type in the first generation, and by its sides in the second", () => {
    expect(agent({ name: "review", type: "dual_ai", ...pair }).isDual).toBe(true);
    expect(agent({ name: "review", ...pair }).isDual).toBe(true);
    expect(backings(agent({ name: "a", sideA: { human: true }, sideB: { prompt: "p" } }))).toEqual(["human", "prompt"]);
    expect(backings(agent({ name: "a", sideA: { prompt: "p" }, sideB: { human: true } }))).toEqual(["prompt", "human"]);
  });

  it("binds tools to its session by a name or a map, and under older names, of which the new ones count", () => {
    const { a, b } = agent({
      name: "review",
      sideA: {
        prompt: "p",
        endSessionTool: "done",
        failSessionTool: "give_up",
        statusTool: { name: "say", messageProperty: "m" },
      },
      sideB: { prompt: "q", sessionStop: { name: "finish", messageProperty: "text" }, endSessionTool: "done" },
    }).sides;
    expect(a).toMatchObject({
      sessionStop: { name: "done" },
      sessionFail: { name: "give_up" },
      sessionStatus: { name: "say", messageProperty: "m" },
    });
    expect(b.sessionStop).toEqual({ name: "finish", messageProperty: "text" });
  });

  it("has subagents on its sides, which are not waited for and stay", () => {
    const { subagents } = agent({
      name: "lead",
      sideA: {
        prompt: "p",
        subagents: [
          { agent: "crew" },
          {
            agent: "crew",
            as: "second",
            blocking: true,
            hidden: true,
            maxInstances: 1,
            scopedEnv: ["TOKEN"],
            immediate: true,
          },
        ],
      },
    }).sides.a;
    expect(subagents).toEqual([
      {
        agent: "crew",
        as: "crew",
        description: "",
        generation: 2,
        blocking: false,
        resumable: true,
        receivesMessages: "side_a",
        maxInstances: null,
        parentCommunication: "implicit",
        immediate: false,
        hidden: false,
        scopedEnv: [],
      },
      expect.objectContaining({
        as: "second",
        blocking: true,
        hidden: true,
        maxInstances: 1,
        immediate: { scopedEnv: ["TOKEN"] },
      }),
    ]);
  });

  it("may take as many steps as its sides may, and 250 at least", () => {
    expect(runOptions(agent({ name: "a", sideA: { prompt: "p" } })).maxTurns).toBe(250);
    expect(runOptions(agent({ name: "a", sideA: { prompt: "p", maxSteps: 400 } })).maxTurns).toBe(400);
  });

  it("carries limits and policies as every agent does, with tools by the names under which they are declared", () => {
    const limited = agent({
      name: "a",
      sideA: { prompt: "p" },
      hooks: ["log"],
      limits: { perTool: { send: 2, "shop/order": 1 } },
    });
    expect(runOptions(limited).budgets).toEqual([
      { name: "tool_calls_standard/send", ceiling: 2 },
      { name: "tool_calls_shop/order", ceiling: 1 },
    ]);
    expect(limited.hooks).toEqual(["log"]);
    expect(runOptions(limited)).not.toHaveProperty("hooks");
  });

  const plain = { name: "review", sideA: { prompt: "p" } };
  it.each<[field: string, definition: object]>([
    ["name", { ...plain, name: "Review Desk" }],
    ["name", { sideA: { prompt: "p" } }],
    ["type", { ...plain, type: "dual" }],
    ["sideA", { name: "review" }],
    ["sideA", { name: "review", sideA: {} }],
    ["sideA", { name: "review", sideA: { prompt: "p", human: true } }],
    ["sideA.prompt", { name: "review", sideA: { prompt: "" } }],
    ["sideA.prompt", { name: "review", type: "ai_human", sideA: { human: true }, sideB: {} }],
    ["sideA.handler", { name: "review", sideA: { handler: "h" } }],
    ["sideA or sideB", { name: "review", sideA: { human: true } }],
    ["sideA.maxSteps", { name: "review", sideA: { prompt: "p", maxSteps: 0 } }],
    ["sideA.stopTools", { name: "review", sideA: { prompt: "p", stopTools: ["x"] } }],
    ["sideA.sessionStop", { name: "review", sideA: { prompt: "p", sessionStop: { tool: "x" } } }],
    ["sideA.subagents\\[0\\].agent", { name: "review", sideA: { prompt: "p", subagents: [{}] } }],
    [
      "sideA.subagents\\[0\\].blocking",
      { name: "review", sideA: { prompt: "p", subagents: [{ agent: "x", blocking: 1 }] } },
    ],
    ["sideA.subagents\\[1\\]", { name: "review", sideA: { prompt: "p", subagents: [{ agent: "x" }, { agent: "x" }] } }],
    ["sideB", { ...plain, type: "dual_ai" }],
    ["sideB", { ...plain, type: "ai_human", sideB: { prompt: "q" } }],
    ["sideB", { ...plain, sideB: "human" }],
    ["maxSessionTurns", { ...plain, maxSessionTurns: 0 }],
    ["toolDescription", { ...plain, exposeAsTool: true }],
    ["env", { ...plain, env: { A: 1 } }],
    ["hooks", { ...plain, hooks: [7] }],
    ["parentHooks", { ...plain, parentHooks: [{ hook: "x", stage: "first" }] }],
    ["limits.usd", { ...plain, limits: { usd: 0 } }],
    ["instructions", { ...plain, instructions: "You help." }],
    ["context", { ...plain, context: { id: 1n } }],
  ])("is refused with the field that is wrong: %s", (field, definition) => {
    expect(() => agent(definition as StandardAgentDefinition)).toThrow(
      expect.objectContaining({ code: "invalid_agent", detail: expect.stringMatching(new RegExp(`^${field}(\\W|$)`)) }),
    );
  });
});

describe("an agent with instructions", () => {
  it("has a model's side made of them, and a person's", () => {
    const order = tool({ name: "shop/order", description: "x", execute: () => null });
    const support = agent({
      slug: "support",
      instructions: "You help.",
      tools: [order, "billing", { name: "crew", blocking: false }],
    });
    expect(support).toMatchObject({ style: "agents_api", isDual: false, title: "support" });
    expect(support.sides.b.backing).toEqual({ kind: "human" });
    expect(support.sides.a.backing).toMatchObject({
      kind: "prompt",
      prompt: {
        name: "support",
        parts: [{ type: "text", content: "You help." }],
        includeChat: true,
        includePastTools: true,
        tools: [{ kind: "tool" }, { kind: "named", name: "billing" }, { kind: "named", given: { blocking: false } }],
      },
    });
    expect([...support.tools.keys()]).toEqual(["shop/order"]);
  });

  it("may limit what it only names, and a plain tool by its plain name", () => {
    const send = tool({ name: "send", description: "x", execute: () => null });
    const limits = { perTool: { send: 1, billing: 2 } };
    expect(agent({ slug: "support", tools: [send, "billing"], limits }).limits.perTool).toEqual({
      "standard/send": 1,
      "standard/billing": 2,
    });
  });

  it("is either this or made of sides", () => {
    expect(() =>
      agent({ slug: "support", name: "support", sideA: { prompt: "p" } } as unknown as AgentDefinition),
    ).toThrow("name is no field of an agent");
  });
});
