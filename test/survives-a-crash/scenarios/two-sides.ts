// Two models converse with each other on one thread until one of them ends the session; then a user begins another one.
import { calls, callsTool, says } from "../../../src/models/scripted/scripted-model.ts";
import { childAgent } from "../child-agent.ts";
import { refund, ship } from "../effect-tools.ts";
import type { Scenario } from "../scenario.ts";

const script = [
  says("I would ship it."),
  calls(says("Do, and I refund the other one."), callsTool("shop/refund", { order: "6" })),
  says("Refunded."),
  callsTool("shop/ship", { order: "7" }),
  callsTool("finish", { text: "Shipped." }),
  callsTool("finish", { text: "Nothing to do." }),
];

export const twoSides: Scenario = {
  name: "two sides",
  agents: (world) => [childAgent("partners", { script, tools: [ship(world)], judgesWith: [refund(world)] })],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "partners" });
    await thread.send("Decide.", { key: "decide" });
    await thread.send("And now?", { key: "now" });
  },
  endings: {
    main: {
      agent: "partners",
      status: "idle",
      transcript: [
        "user: Decide.",
        "assistant: I would ship it.",
        "user: Do, and I refund the other one.",
        "call shop/refund",
        "result shop/refund: success",
        "user: Refunded.",
        "call shop/ship",
        "result shop/ship: success",
        "call finish",
        "result finish: success",
        "user: And now?",
        "call finish",
        "result finish: success",
      ],
      calls: { "shop/refund": 1, "shop/ship": 1, "standard/finish": 2 },
    },
  },
};
