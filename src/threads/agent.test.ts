import { describe, expect, it } from "vitest";
import { runConversation } from "../loop/run-conversation.ts";
import { callsTool, says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { type AgentDefinition, agent, agentsBySlug, runOptions } from "./agent.ts";
import { tool } from "./tool.ts";

const order = tool({ name: "shop/order", description: "Look an order up.", execute: () => "sent" });
const model = scriptedModel([callsTool("shop/order"), says("It was sent.")]);

describe("an agent", () => {
  it("runs in memory with its options, like anybody's", async () => {
    const support = agent({ slug: "support", instructions: "You help.", model, tools: [order] });
    const { final_content, turn_count } = await runConversation([{ role: "user", content: "Order 7?" }], model, {
      ...runOptions(support),
      toolExecutor: ({ tool_name }) => support.tools.get(tool_name)?.name,
    });
    expect(final_content).toBe("It was sent.");
    expect(turn_count).toBe(2);
  });

  it("has defaults for what a thread cannot do without", () => {
    const support = agent({ slug: "support", model });
    expect(support.retry).toEqual({ attempts: 5, backoffMs: 2_000, mostMs: 60_000 });
    expect(runOptions(support)).toEqual({ maxTurns: 25, toolDeclarations: [] });
    expect(support).not.toHaveProperty("instructions");
    expect(agent({ slug: "support", model, retry: { attempts: 1 } }).retry).toMatchObject({
      attempts: 1,
      backoffMs: 2_000,
    });
  });

  it("keeps its values whatever becomes of what it was made from", () => {
    const context = { tenant: "acme" };
    const options = runOptions(agent({ slug: "support", model, context, maxTurns: 3 }));
    context.tenant = "other";
    expect(options).toMatchObject({ context: { tenant: "acme" }, maxTurns: 3 });
    expect(Object.isFrozen(options)).toBe(true);
  });

  it("has a compaction policy enabled that it is given, and leaves the summaries to its model unless told who writes them", () => {
    const teller = agent({ slug: "teller", model, compaction: { max_messages: 9 } });
    expect(runOptions(teller)).toMatchObject({ compactionPolicy: { enabled: true, max_messages: 9 } });
    expect(teller.hasOwnSummarizer).toBe(false);
    const own = () => "mine";
    expect(runOptions(agent({ slug: "a", model, compaction: { enabled: false }, summarizer: own }))).toMatchObject({
      compactionPolicy: { enabled: false },
      summarizer: own,
    });
    expect(runOptions(agent({ slug: "a", model, summarizer: own }))).not.toHaveProperty("summarizer");
  });

  const plain = { slug: "support", model };
  const alike = tool({ name: "shop/or__der", description: "x", execute: () => null });
  const unlike = tool({ name: "shop/or-der", description: "x", execute: () => null });
  it.each<[string, object]>([
    ["slug", { model }],
    ["slug", { ...plain, slug: "Support Desk" }],
    ["model", { slug: "support", model: " " }],
    ["model", { slug: "support", model: [] }],
    ["model", { slug: "support", model: [model, [model]] }],
    ["model", { slug: "support", model: 5 }],
    ["output", { ...plain, output: "json" }],
    ["limits", { ...plain, limits: 5 }],
    ["limits.usd", { ...plain, limits: { usd: 0 } }],
    ["limits.steps", { ...plain, limits: { steps: 1.5 } }],
    ["limits.perTool", { ...plain, limits: { perTool: { "shop/order": "3" } } }],
    ["limits.perTool names shop/oder", { ...plain, tools: [order], limits: { perTool: { "shop/oder": 3 } } }],
    ["limits.turns", { ...plain, limits: { turns: 3 } }],
    ["instructions", { ...plain, instructions: 5 }],
    ["tools\\[0\\]", { ...plain, tools: [{ ...order }] }],
    ["tools\\[1\\]", { ...plain, tools: [order, order] }],
    ["tools", { ...plain, tools: [unlike, alike] }],
    ["retry", { ...plain, retry: { times: 3 } }],
    ["maxTurns", { ...plain, maxTurns: 0 }],
    ["approvalWaitMs", { ...plain, approvalWaitMs: -1 }],
    ["toolPolicy", { ...plain, toolPolicy: { mode: "some" } }],
    ["actionPolicy", { ...plain, actionPolicy: { tools: { "shop/order": "ask" } } }],
    ["preToolMediator", { ...plain, preToolMediator: "no" }],
    ["completionPolicy", { ...plain, completionPolicy: {} }],
    ["hooks", { ...plain, hooks: {} }],
    ["context", { ...plain, context: { id: 1n } }],
    ["context.deny", { ...plain, context: { deny: 5 } }],
    ["toolExecutor", { ...plain, toolExecutor: () => null }],
  ])("is refused with the field that is wrong: %s", (field, definition) => {
    expect(() => agent(definition as AgentDefinition)).toThrow(
      expect.objectContaining({ code: "invalid_agent", detail: expect.stringMatching(new RegExp(`^${field}(\\W|$)`)) }),
    );
  });
});

describe("a list of agents", () => {
  it("is read by their slugs, each of which is there once", () => {
    const support = agent({ slug: "support", model });
    const sales = agent({ slug: "sales", model });
    expect([...agentsBySlug([support, sales]).keys()]).toEqual(["support", "sales"]);
    expect(() => agentsBySlug([support, sales, agent({ slug: "sales", model })])).toThrow(
      expect.objectContaining({ code: "invalid_agent", detail: "agents[2] has the slug sales of another" }),
    );
    expect(() => agentsBySlug([{ ...support }])).toThrow("agents[0] must be made by agent()");
  });
});
