// Two runtimes in one process, which is told to end while a tool of one of them is at work and the other has nothing to do.
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { createHoldfast } from "../src/holdfast.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import type { Program } from "./another-process.ts";

export const run: Program<object> = async (open) => {
  await createHoldfast({ backend: sqlite(":memory:"), agents: [] });
  const charge = tool({
    name: "shop/charge",
    description: "Charges.",
    execute: async () => {
      const told = new Promise((resolve) => process.once("SIGTERM", resolve));
      console.log("begun");
      await told;
      // Long enough for the other runtime to have closed.
      await new Promise((resolve) => setTimeout(resolve, 300));
      console.log("charged");
      return "charged";
    },
  });
  const model = scriptedModel([callsTool("shop/charge"), says("Done.")]);
  const holdfast = await open([agent({ slug: "clerk", model, tools: [charge] })]);
  const thread = await holdfast.threads.open("t", { agent: "clerk" });
  await thread.queueMessage("Charge.");
};
