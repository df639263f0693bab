// A call that waits for a child: the parent goes on when the child is done, and the child is gone then.
import { callsTool, says } from "../../../src/models/scripted/scripted-model.ts";
import { untilFamilyAtRest } from "../../../src/testing/until-at-rest.ts";
import { childAgent, parentAgent } from "../child-agent.ts";
import { ship } from "../effect-tools.ts";
import type { Scenario } from "../scenario.ts";

const proof = [
  says("It has two mistakes."),
  says("Ship it then."),
  callsTool("shop/ship", { order: "7" }),
  callsTool("finish", { text: "Two mistakes, shipped." }),
];

export const blockingChild: Scenario = {
  name: "blocking child",
  agents: (world) => [
    parentAgent("author", {
      script: [callsTool("proofreader", { page: 3 }), says("Thank you.")],
      tools: ["proofreader"],
    }),
    childAgent("proofreader", { script: proof, tools: [ship(world)] }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "author" });
    await thread.send("Have it read.", { key: "read" });
    await untilFamilyAtRest(holdfast, thread);
  },
  endings: {
    main: {
      agent: "author",
      status: "idle",
      transcript: ["user: Have it read.", "call proofreader", "result proofreader: success", "assistant: Thank you."],
      calls: { "standard/proofreader": 1 },
      children: [
        {
          agent: "proofreader",
          name: "proofreader",
          shown: "terminated",
          transcript: [
            /^system: This thread was started with these arguments/,
            /^user: /,
            "assistant: It has two mistakes.",
            "user: Ship it then.",
            "call shop/ship",
            "result shop/ship: success",
            "call finish",
            "result finish: success",
          ],
          calls: { "shop/ship": 1, "standard/finish": 1 },
        },
      ],
    },
  },
};
