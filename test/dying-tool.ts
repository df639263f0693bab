// A runtime that dies in the middle of tools: each of these threads has its call begun, and nobody sees what comes of it.
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import type { Program } from "./another-process.ts";

/** Agents of these names, each with a thread under its name. */
export type Given = { readonly slugs: readonly string[] };

/** What the model of every one of them says. */
export const script = [callsTool("shop/charge", {}, { id: "call-1" }), says("Done.")];

export const run: Program<Given> = async (open, { slugs }) => {
  let begun = 0;
  const charge = tool({
    name: "shop/charge",
    description: "Charges.",
    idempotent: true,
    execute: () => {
      if (++begun === slugs.length) process.kill(process.pid, "SIGKILL");
      return new Promise(() => undefined);
    },
  });
  const agents = slugs.map((slug) => agent({ slug, model: scriptedModel(script), tools: [charge] }));
  // Nobody else gets the threads because of the time, so that it is known who has taken them.
  const holdfast = await open(agents, { leaseMs: 600_000 });
  for (const slug of slugs) {
    const thread = await holdfast.threads.open(slug, { agent: slug });
    // Sent under a key: whoever comes after a crash sends nothing new.
    await thread.queueMessage("Charge.", { key: "charge" });
  }
};
