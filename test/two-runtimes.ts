// Two runtimes in one process, which is told to end while a tool of one of them is at work and the other has nothing to do.
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { createHoldfast } from "../src/holdfast.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import type { Program } from "./another-process.ts";

export const run: Program<object> = async (open) => {
  const other = await createHoldfast({ backend: sqlite(":memory:"), agents: [] });
  const charge = tool({
    name: "shop/charge",
    description: "Charges.",
    execute: async () => {
      const told = new Promise((resolve) => process.once("SIGTERM", resolve));
      console.log("begun");
      await told;
      // The other runtime closes because of the signal. Whatever follows from that has happened by the next turn.
      await other.close();
      await new Promise(setImmediate);
      console.log("charged");
      return "charged";
    },
  });
  const model = scriptedModel([callsTool("shop/charge"), says("Done.")]);
  const holdfast = await open([agent({ slug: "clerk", model, tools: [charge] })], { drainMs: 600_000 });
  const thread = await holdfast.threads.open("t", { agent: "clerk" });
  await thread.queueMessage("Charge.");
};
