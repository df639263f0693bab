import { expect, it } from "vitest";
import { z } from "zod";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";

const principal = { acting_user_id: 7, effective_agent_id: "shop", auth_source: "user", request_context: "chat" };

eachDatabase((newWorld) => {
  it("what a parameter is bound to counts for a model, for a queued tool and for code that runs one at once", async () => {
    const world = await newWorld();
    const given: unknown[] = [];
    const outcomes: unknown[] = [];
    const pay = tool({
      name: "shop/pay",
      description: "Pays.",
      inputSchema: z.object({
        who: z.unknown().optional(),
        shop: z.unknown().optional(),
        currency: z.string(),
        n: z.int(),
      }),
      parameterDefaults: { currency: "EUR" },
      parameterBindings: {
        who: { source: "context", path: "principal.acting_user_id", authoritative: true },
        shop: { source: "context", path: "workspace.workspace_id" },
      },
      execute: (input) => void given.push(input),
    });
    const through = tool({
      name: "shop/through",
      description: "Pays by code.",
      execute: async (_input, { state, queueTool }) => {
        outcomes.push(await state.invokeTool("shop/pay", { n: 2, who: 1 }));
        outcomes.push(await state.invokeTool("shop/pay", { who: 1 }));
        queueTool("shop/pay", { n: 3, who: 1 });
      },
    });
    const model = scriptedModel([callsTool("shop/pay", { n: 1, who: 1 }), callsTool("shop/through"), says("Done.")]);
    const holdfast = await world.open(agent({ slug: "shop", model, tools: [pay, through] }));
    const workspace = { workspace_type: "site", workspace_id: "main" };
    await (await holdfast.threads.open("t", { agent: "shop", principal, workspace })).send("Go.");

    const paid = (n: number) => ({ n, who: 7, shop: "main", currency: "EUR" });
    expect(given).toEqual([paid(1), paid(2), paid(3)]);
    expect(outcomes).toEqual([
      { status: "success", result: null },
      { status: "error", error: "Tool 'shop/pay' is missing required parameters: n" },
    ]);
  });
});
