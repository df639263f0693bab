import { describe, expect, it } from "vitest";
import { agent, type StandardAgentDefinition } from "../agent.ts";
import { type Tool, tool } from "../tool.ts";
import { type PromptDefinition, prompt } from "./define-prompt.ts";
import { effect } from "./effect.ts";
import { hook } from "./hook.ts";
import { model } from "./model.ts";
import { createRegistry, type Definitions } from "./registry.ts";

const named = (name: string, more: object = {}): Tool => tool({ name, description: "x", execute: () => null, ...more });
const speaks = (name: string, more: Partial<PromptDefinition> = {}) => prompt({ name, prompt: "x", ...more });
const alone = (name: string, more: Partial<StandardAgentDefinition> = {}) =>
  agent({ name, sideA: { prompt: "main" }, ...more });
const dual = (name: string, more: Partial<StandardAgentDefinition> = {}) =>
  agent({
    name,
    sideA: { prompt: "main" },
    sideB: { prompt: "main" },
    exposeAsTool: true,
    toolDescription: `Does ${name}.`,
    ...more,
  });

describe("the registry", () => {
  it("finds what stands behind every name", () => {
    const send = named("send");
    const inline = named("shop/order");
    const sub = speaks("sub", { toolDescription: "Sub." });
    const main = speaks("main", {
      tools: [
        inline,
        { name: "send", env: { KEY: "v" }, options: { n: 1 } },
        { name: "sub", includeErrors: false },
        { name: "billing", initUserMessageProperty: "why" },
        { name: "crew", resumable: { receives_messages: "side_b", maxInstances: 2, parentCommunication: "explicit" } },
        "The Scouts",
      ],
    });
    const { registry, problems } = createRegistry({
      agents: [alone("lead"), alone("billing"), dual("crew"), dual("scouts", { title: "The Scouts" })],
      prompts: [main, sub],
      tools: [send],
    });
    expect(problems).toEqual([]);
    expect(registry.promptOf(alone("lead"), "a")).toBe(main);
    expect(registry.promptOf(alone("lead"), "b")).toBeUndefined();
    const entries = registry.entriesOf(main);
    expect(entries).toEqual([
      { kind: "tool", tool: inline, env: {}, options: {} },
      { kind: "tool", tool: send, env: { KEY: "v" }, options: { n: 1 } },
      {
        kind: "prompt",
        prompt: sub,
        uses: { includeTextResponse: true, includeToolCalls: true, includeErrors: false },
      },
      { kind: "handoff", agent: "billing", init: { initUserMessageProperty: "why" } },
      {
        kind: "subagent",
        relationship: {
          agent: "crew",
          as: "crew",
          description: "Does crew.",
          generation: 1,
          blocking: true,
          resumable: true,
          receivesMessages: "side_b",
          maxInstances: 2,
          parentCommunication: "explicit",
          immediate: false,
          hidden: false,
          scopedEnv: [],
        },
      },
      {
        kind: "subagent",
        relationship: expect.objectContaining({ agent: "scouts", resumable: false, blocking: true }),
      },
    ]);
    expect([...registry.tools.keys()]).toEqual(["send", "shop/order"]);
  });

  it("knows the children of a side, those among the tools of its prompt and its own", () => {
    const main = speaks("main", {
      tools: [{ name: "crew", blocking: false, immediate: { nameEnv: "N" }, optional: "CREW" }],
    });
    const lead = alone("lead", { sideA: { prompt: "main", subagents: [{ agent: "scouts", as: "ahead" }] } });
    const { registry } = createRegistry({
      agents: [lead, dual("crew", { sideA: { prompt: "idle" }, sideB: { prompt: "idle" } }), dual("scouts")],
      prompts: [main, speaks("idle")],
    });
    expect(registry.relationshipsOf(lead, "a")).toMatchObject([
      { as: "crew", generation: 1, blocking: false, immediate: { nameEnv: "N", scopedEnv: [] }, optional: "CREW" },
      { as: "ahead", agent: "scouts", generation: 2, blocking: false, resumable: true, description: "Does scouts." },
    ]);
    expect(registry.relationshipsOf(lead, "b")).toEqual([]);
  });

  it("lets a side say more of a child that its prompt lists, and offers it to other agents as the prompt has it", () => {
    const main = speaks("main", { tools: ["crew", "ahead"] });
    const subagents = [
      { agent: "crew", maxInstances: 3 },
      { agent: "crew", as: "ahead" },
    ];
    const [lead, other] = [alone("lead", { sideA: { prompt: "main", subagents } }), alone("other")];
    const crew = dual("crew", { sideA: { prompt: "idle" }, sideB: { prompt: "idle" } });
    const { registry } = createRegistry({ agents: [lead, other, crew], prompts: [main, speaks("idle")] });
    expect(registry.relationshipsOf(lead, "a")).toMatchObject([{ as: "crew", maxInstances: 3 }, { as: "ahead" }]);
    expect(registry.relationshipsOf(other, "a")).toMatchObject([{ as: "crew", maxInstances: null, generation: 1 }]);
  });

  it("takes prompts and tools that stand in others, and lets agents have different tools of one name", () => {
    const [one, other] = [named("shop/order"), named("shop/order")];
    const inner = speaks("inner");
    const outer = speaks("outer", { tools: [inner] });
    const { registry } = createRegistry({
      agents: [
        agent({ slug: "shop", tools: [one] }),
        agent({ slug: "store", tools: [other] }),
        alone("lead", { sideA: { prompt: outer } }),
      ],
    });
    expect([...registry.prompts.keys()]).toEqual(["outer", "inner"]);
    const shop = registry.agents.get("store");
    const spoken = shop && registry.promptOf(shop, "a");
    expect(spoken && registry.entriesOf(spoken)).toMatchObject([{ kind: "tool", tool: other }]);
  });

  it("gathers the variables of an agent from its prompts and their tools, the strictest of each name", () => {
    const render = named("render", { variables: [{ name: "FONT", type: "text" }] });
    const send = named("send", { uses: ["render"], variables: [{ name: "TOKEN", scoped: true }] });
    const tone = speaks("tone", { variables: [{ name: "TONE", type: "text" }] });
    const sub = speaks("sub", {
      variables: [{ name: "TOKEN", type: "text", required: true, description: "A token." }],
    });
    const main = speaks("main", { tools: ["send", "sub", "crew"], prompt: [{ type: "include", prompt: "tone" }] });
    const crew = dual("crew", { sideA: { prompt: "own" }, sideB: { prompt: "own" } });
    const { registry } = createRegistry({
      agents: [alone("lead"), crew],
      prompts: [main, sub, tone, speaks("own", { variables: [{ name: "SECRET" }] })],
      tools: [send, render],
    });
    const lead = registry.agents.get("lead");
    expect(lead && registry.variablesOf(lead)).toEqual([
      { name: "TOKEN", type: "secret", required: true, scoped: true, description: "A token." },
      { name: "TONE", type: "text", required: false, scoped: false, description: "" },
      { name: "FONT", type: "text", required: false, scoped: false, description: "" },
    ]);
    expect(registry.variablesOf(crew).map(({ name }) => name)).toEqual(["SECRET"]);
  });

  it("puts models in the place of their names, with those that take over", () => {
    const models = [model({ name: "quick", model: "x/q", fallbacks: ["slow"] }), model({ name: "slow", model: "x/s" })];
    const { registry } = createRegistry({ models });
    const chosen = (given: PromptDefinition["model"]) => registry.choicesOf(speaks("p", given ? { model: given } : {}));
    expect(chosen("quick")).toMatchObject([{ model: "x/q" }, { model: "x/s" }]);
    expect(chosen(["slow", "openai/gpt-5"])).toMatchObject([{ model: "x/s" }, "openai/gpt-5"]);
    expect(chosen("openai/gpt-5")).toBe("openai/gpt-5");
    expect(chosen(undefined)).toBeUndefined();
  });

  it("lets subagents go round in a circle that are created only when asked for", () => {
    const main = speaks("main", { tools: [{ name: "crew", resumable: {} }] });
    expect(() => createRegistry({ agents: [dual("crew")], prompts: [main] })).not.toThrow();
  });
});

describe("what is wrong between definitions", () => {
  const main = speaks("main");
  const logs = hook({ id: "log", hook: "after_create_message", execute: () => null });
  const tick = effect({ name: "tick", description: "x", handler: () => null });
  const tools = (...list: NonNullable<PromptDefinition["tools"]>) => speaks("lead", { tools: list });
  const ring = (name: string, next: string, immediate: boolean) =>
    dual(name, { sideA: { prompt: "main", subagents: [{ agent: next, immediate }] } });

  it.each<[detail: string, definitions: Partial<Definitions>]>([
    [
      "sideA.prompt names nobody, which is no prompt (agent a)",
      { agents: [alone("a", { sideA: { prompt: "nobody" } })] },
    ],
    ["tools[0] names nothing, which is no tool, prompt or agent (prompt lead)", { prompts: [tools("nothing")] }],
    [
      "model names quick, which is no model, nor <provider>/<model> (prompt p)",
      { prompts: [speaks("p", { model: "quick" })] },
    ],
    [
      "fallbacks names slow, which is no model (model m)",
      { models: [model({ name: "m", model: "x/y", fallbacks: ["slow"] })] },
    ],
    ["hooks names log, which is no hook (prompt p)", { prompts: [speaks("p", { hooks: ["log"] })] }],
    ["hooks names log, which is no hook (agent a)", { agents: [alone("a", { hooks: ["log"] })], prompts: [main] }],
    [
      "hooks names log, which is no hook (agent a)",
      { agents: [alone("a", { parentHooks: [{ hook: "log" }] })], prompts: [main] },
    ],
    ["uses names gone, which is no tool, prompt or agent (tool t)", { tools: [named("t", { uses: ["gone"] })] }],
    ["name twice is taken by the prompt twice", { prompts: [speaks("twice"), speaks("twice")] }],
    ["name main is taken by the prompt main", { prompts: [main], tools: [named("main")] }],
    ["name main is taken by the agent main", { agents: [alone("main")], prompts: [main] }],
    ["name main is taken by the prompt main", { prompts: [main, tools(named("main"))] }],
    ["name t is taken by the tool t", { tools: [named("t")], prompts: [tools(named("t"))] }],
    [
      "name m is there twice (model m)",
      { models: [model({ name: "m", model: "x/y" }), model({ name: "m", model: "x/y" })] },
    ],
    [
      "name log is there twice (hook log)",
      { hooks: [logs, hook({ id: "log", hook: "tool_call_done", execute: () => null })] },
    ],
    [
      "name tick is there twice (effect tick)",
      { effects: [tick, effect({ name: "tick", description: "y", handler: () => null })] },
    ],
    ["name subagents is reserved (tool subagents)", { tools: [named("subagents")] }],
    ["name send_to_agent is reserved (prompt lead)", { prompts: [tools(named("send_to_agent"))] }],
    [
      "tools[0] names crew as a subagent, which is not exposed",
      { agents: [dual("crew", { exposeAsTool: false })], prompts: [main, tools("crew")] },
    ],
    [
      "tools[0] names desk as a subagent, but one of its sides is not a prompt's",
      { agents: [alone("desk")], prompts: [main, tools({ name: "desk", resumable: {} })] },
    ],
    [
      "sideA.subagents[0] names ghosts, which is no agent (agent a)",
      { agents: [alone("a", { sideA: { prompt: "main", subagents: [{ agent: "ghosts" }] } })], prompts: [main] },
    ],
    [
      "tools[1] is called shop__order by models, as is tools[0] (prompt lead)",
      { prompts: [tools(named("shop/order"), named("shop__order"))] },
    ],
    [
      "tools lead back to the prompt itself: a → b → a (prompt a)",
      { prompts: [speaks("a", { tools: ["b"] }), speaks("b", { tools: ["a"] })] },
    ],
    ["tools lead back to the prompt itself: a → a (prompt a)", { prompts: [speaks("a", { tools: ["a"] })] }],
    [
      "immediate subagents lead back to the agent itself: a → b → a (agent a)",
      { agents: [ring("a", "b", true), ring("b", "a", true)], prompts: [main] },
    ],
    ["tools[0] names 7up, which no model can call", { agents: [agent({ slug: "7up" })], prompts: [tools("7up")] }],
    ["prompts[1] must be made by prompt() (prompt)", { prompts: [main, { ...main }] }],
    [
      "prompt inner: hooks names log, which is no hook (agent a)",
      { agents: [alone("a", { sideA: { prompt: speaks("inner", { hooks: ["log"] }) } })] },
    ],
  ])("is told with the definition and the field: %s", (detail, definitions) => {
    expect(() => createRegistry(definitions)).toThrow(
      expect.objectContaining({ code: "invalid_definition", detail: expect.stringContaining(detail) }),
    );
  });

  it("is nothing when only part of a ring creates children by itself", () => {
    expect(() =>
      createRegistry({ agents: [ring("a", "b", true), ring("b", "a", false)], prompts: [main] }),
    ).not.toThrow();
  });

  it("keeps nobody from starting when it is only odd", () => {
    const { problems } = createRegistry({
      agents: [
        alone("a", { sideA: { prompt: "lead", sessionStop: "done" } }),
        alone("b", { sideA: { prompt: "main" } }),
      ],
      prompts: [
        main,
        speaks("lead", {
          prompt: [{ type: "include", prompt: "gone" }],
          tools: ["provider:web", "subagents", { name: "b", env: {} }],
        }),
      ],
      tools: [named("getWeather")],
      models: [model({ name: "m", model: "x/y", providerTools: ["web"] })],
    });
    expect(problems).toEqual([
      { definition: "tool getWeather", message: "name getWeather should be small letters, digits and underscores" },
      { definition: "prompt lead", message: "tools[0] names provider:web: tools that others run are not offered" },
      {
        definition: "prompt lead",
        message: "tools[1] names subagents, which is there by itself where there are subagents",
      },
      { definition: "prompt lead", message: "tools[2].env says nothing to an agent that takes over" },
      { definition: "prompt lead", message: "prompt includes gone, which is no prompt" },
      { definition: "agent a", message: "sideA.sessionStop names done, which is not among its prompt's tools" },
      { definition: "model m", message: "providerTools are not offered" },
    ]);
  });
});
