// One answer that calls three tools, each with another way to answer for itself after a crash.
import { calls, callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import { charge, refund, ship } from "../effect-tools.ts";
import type { Scenario } from "../scenario.ts";

const script = [
  calls(
    callsTool("shop/charge", { order: "7" }),
    callsTool("shop/ship", { order: "7" }),
    callsTool("shop/refund", { order: "6" }),
  ),
  says("All done."),
];

export const threeTools: Scenario = {
  name: "three tools",
  agents: (world) => [
    agent({ slug: "clerk", model: scriptedModel(script), tools: [charge(world), ship(world), refund(world)] }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "clerk" });
    await thread.send("Do everything.", { key: "everything" });
  },
  endings: {
    main: {
      agent: "clerk",
      status: "idle",
      transcript: [
        "user: Do everything.",
        "call shop/charge",
        /^result shop\/charge: (success|outcome_unknown)$/,
        "call shop/ship",
        "result shop/ship: success",
        "call shop/refund",
        "result shop/refund: success",
        "assistant: All done.",
      ],
      calls: { "shop/charge": 1, "shop/ship": 1, "shop/refund": 1 },
    },
  },
};
