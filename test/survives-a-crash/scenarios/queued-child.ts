// A child that nobody waits for: what it comes to is left for its parent, which had come to rest long before.
import { callsTool, says } from "../../../src/models/scripted/scripted-model.ts";
import { untilFamilyAtRest } from "../../../src/testing/until-at-rest.ts";
import { childAgent, lastShown, parentAgent } from "../child-agent.ts";
import type { Scenario } from "../scenario.ts";

export const queuedChild: Scenario = {
  name: "queued child",
  agents: ({ ledger }) => [
    parentAgent("director", {
      script: [
        (messages) => callsTool("courier", { task: `Deliver for ${lastShown(messages, "id")}.` }),
        says("It is on its way."),
        says("It was delivered."),
      ],
      tools: [{ name: "courier", blocking: false, initUserMessageProperty: "task" }],
    }),
    childAgent("courier", {
      script: [
        async (messages, { signal }) => {
          await ledger.noted(`at rest ${lastShown(messages, "id")}`, signal);
          return callsTool("finish", { text: "Delivered." });
        },
      ],
    }),
  ],
  async play({ holdfast, ledger, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "director" });
    await thread.send(`Deliver for ${thread.id}.`, { key: "deliver" });
    await ledger.note(`at rest ${thread.id}`);
    await untilFamilyAtRest(holdfast, thread);
  },
  endings: {
    main: {
      agent: "director",
      status: "idle",
      transcript: [
        "user: Deliver for <id>.",
        "call courier",
        "result courier: success",
        "assistant: It is on its way.",
        'user: The subagent "courier" (<id>) has finished.\n\nDelivered.',
        "assistant: It was delivered.",
      ],
      calls: { "standard/courier": 1 },
      children: [
        {
          agent: "courier",
          name: "courier",
          shown: "terminated",
          transcript: [
            /^system: This thread was started with these arguments/,
            "user: Deliver for <id>.",
            "call finish",
            "result finish: success",
          ],
        },
      ],
    },
  },
};
