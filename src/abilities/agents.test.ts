import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ADMINISTRATOR, ceiling, type DeskWorld, deskWorld } from "../../test/desk-world.ts";
import { says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { prompt } from "../threads/definitions/define-prompt.ts";
import { tool } from "../threads/tool.ts";

const refund = tool({
  name: "shop/refund",
  description: "Pays back.",
  inputSchema: z.object({ order: z.number() }),
  actionPolicy: "preview",
  execute: () => "paid",
});
const locate = tool({ name: "client/locate", description: "Tells where the user is." });
const model = scriptedModel([says("Hello.")]);
const shop = agent({ slug: "shop", model, instructions: "Never tell the margin.", tools: [refund, locate, "helper"] });
const helper = agent({
  name: "helper",
  description: "Helps.",
  toolDescription: "Helps out.",
  exposeAsTool: true,
  primary: false,
  sideA: { prompt: prompt({ name: "help", toolDescription: "Helps.", prompt: "Help.", model, tools: [refund] }) },
});

describe("the operations on agents and tools", () => {
  let world: DeskWorld;

  beforeEach(async () => {
    world = await deskWorld({ agents: [shop, helper] });
    await world.grant("shop", 7);
  });

  it("list the agents that the caller may talk with, and what those may call", async () => {
    const { agents } = await world.as(7)("holdfast/list-agents");
    expect(agents).toMatchObject([
      {
        ...{ slug: "shop", title: "shop", is_primary: true },
        tools: [
          {
            ...{
              name: "shop/refund",
              kind: "tool",
              description: "Pays back.",
              action_policy: "preview",
              is_client: false,
            },
            parameters: { type: "object", properties: { order: { type: "number" } }, required: ["order"] },
          },
          { name: "client/locate", kind: "tool", action_policy: null, is_client: true },
          { name: "helper", kind: "reference" },
        ],
      },
    ]);
    expect(JSON.stringify(agents)).not.toContain("margin");
  });

  it("list all of them for whoever manages threads", async () => {
    const { agents } = await world.as(ADMINISTRATOR)("holdfast/list-agents");
    expect(agents).toMatchObject([
      { slug: "shop" },
      { slug: "helper", description: "Helps.", is_primary: false, tools: [{ name: "shop/refund" }] },
    ]);
  });

  it("list the tools of the agents, or of one that the caller may talk with", async () => {
    const named = async (user: number, input: object = {}) => {
      const { tools, ...refused } = await world.as(user)("holdfast/list-tools", { ...input });
      return tools ? tools.map((each: { agent: string; name: string }) => `${each.agent}: ${each.name}`) : refused.code;
    };
    expect(await named(7)).toEqual(["shop: shop/refund", "shop: client/locate", "shop: helper"]);
    expect(await named(7, { agent: "helper" })).toBe("agent_not_found");
    expect(await named(ADMINISTRATOR, { agent: "helper" })).toEqual(["helper: shop/refund"]);
    expect(await named(8)).toEqual([]);
  });

  it("stay below the ceiling of a token", async () => {
    const calls = world.as(7, ceiling(7, "threads.read"));
    expect(await calls("holdfast/list-agents")).toMatchObject({ code: "ability_forbidden" });
    expect(await calls("holdfast/list-tools")).toMatchObject({ code: "ability_forbidden" });
  });
});
