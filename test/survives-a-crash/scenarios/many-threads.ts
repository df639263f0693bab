// A thread of the chaos: three messages, and tools of every kind in between.
import { setTimeout as sleep } from "node:timers/promises";
import { callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import { charge, refund, ship } from "../effect-tools.ts";
import type { Scenario } from "../scenario.ts";

// A model takes its time, so that at any moment there is somebody in the middle of something.
const THINKS_MS = 150;

const script = [
  callsTool("shop/charge", { order: "1" }),
  callsTool("shop/ship", { order: "1" }),
  says("Shipped."),
  callsTool("shop/refund", { order: "1" }),
  says("Refunded."),
  says("You are welcome."),
];

export const manyThreads: Scenario = {
  name: "many threads",
  agents: (world) => [
    agent({
      slug: "shop",
      async model(...asked) {
        await sleep(THINKS_MS);
        return await scriptedModel(script)(...asked);
      },
      tools: [charge(world), ship(world), refund(world)],
    }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "shop" });
    await thread.send("I want one.", { key: "order" });
    await thread.send("It is broken.", { key: "complaint" });
    await thread.send("Thank you.", { key: "thanks" });
  },
  endings: {
    main: {
      agent: "shop",
      status: "idle",
      transcript: [
        "user: I want one.",
        "call shop/charge",
        /^result shop\/charge: (success|outcome_unknown)$/,
        "call shop/ship",
        "result shop/ship: success",
        "assistant: Shipped.",
        "user: It is broken.",
        "call shop/refund",
        "result shop/refund: success",
        "assistant: Refunded.",
        "user: Thank you.",
        "assistant: You are welcome.",
      ],
      calls: { "shop/charge": 1, "shop/ship": 1, "shop/refund": 1 },
    },
  },
};
