// A story that leaves something of everything in the log: tools, an approval, an edit, a child, a fork, a deleted thread.
import type { Message } from "../src/contracts/conversation/message.ts";
import type { Holdfast } from "../src/holdfast.ts";
import { calls, callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import type { World } from "./databases.ts";
import { actor, creates, finishes, lead, staying, worker } from "./standard-agents/team.ts";

/** What a user says that is to be erased, what a tool is called with, and what it returns. */
export const SECRET = "swordfish";

const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => ({ seen: SECRET }) });
const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });

/** Looks and pays when it is asked to look, and otherwise says how much it was shown. */
function clerk(messages: readonly Message[]) {
  const last = messages.at(-1);
  if (last?.role === "user" && String(last.content).startsWith("Look")) {
    return calls(callsTool("shop/peek", { word: SECRET }), callsTool("shop/pay", { word: SECRET }));
  }
  return says(`Shown ${messages.length}: ${messages.map(({ content }) => content).join(" | ")}`);
}

export type Story = {
  readonly holdfast: Holdfast;
  readonly shop: ThreadHandle;
  readonly fork: ThreadHandle;
  readonly team: ThreadHandle;
};

export async function playStory(world: World): Promise<Story> {
  const holdfast = await world.open([
    agent({ slug: "shop", model: clerk, tools: [peek, pay] }),
    lead(actor(creates(), "Done.").model, [staying("worker")]),
    worker(actor(finishes("All good.")).model),
  ]);
  const { threads, requests, audit } = holdfast;
  const shop = await threads.open("shop", { agent: "shop" });
  const { waiting_for } = await shop.send(`Look for ${SECRET}`);
  await requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });
  await shop.wait();
  await audit.checkpoint();
  await shop.editMessage(0, `Look, once more, for ${SECRET}`);
  await shop.send("And now?");
  const fork = await shop.fork("fork");
  await fork.send("Go on.");
  const team = await threads.open("team", { agent: "lead" });
  await team.send("Go.");
  const gone = await threads.open("gone", { agent: "shop" });
  await gone.send("Hello");
  await audit.checkpoint();
  await threads.delete(gone.id);
  return { holdfast, shop, fork, team };
}
