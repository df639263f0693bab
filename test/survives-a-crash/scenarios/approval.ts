// Two calls that a person decides about: one is accepted and runs, the other is rejected and never begins.
import { agent } from "../../../src/threads/agent.ts";
import type { Answer } from "../../../src/threads/requests/requests.ts";
import { decide } from "../acting.ts";
import { proposesBoth, transcript, wish } from "../refund-and-charge.ts";
import type { Scenario } from "../scenario.ts";

const decisions: Readonly<Record<string, Answer>> = {
  "shop/refund": { decision: "accepted" },
  "shop/charge": { decision: "rejected", reason: "Not this one." },
};

export const approval: Scenario = {
  name: "approval",
  agents: (world) => [agent({ slug: "cashier", ...proposesBoth(world) })],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "cashier" });
    await thread.send(wish, { key: "both" });
    await decide(holdfast, thread, decisions);
    await decide(holdfast, thread, decisions);
    await thread.wait();
  },
  endings: { main: { agent: "cashier", status: "idle", transcript } },
};
