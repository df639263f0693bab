// A thread is handed over to another agent, which comes with a child of its own and goes on at once.
import { callsTool, says } from "../../../src/models/scripted/scripted-model.ts";
import { untilFamilyAtRest } from "../../../src/testing/until-at-rest.ts";
import { childAgent, parentAgent } from "../child-agent.ts";
import { refund } from "../effect-tools.ts";
import type { Scenario } from "../scenario.ts";

// The answers of a thread are counted, whoever gives them.
const script = [
  callsTool("specialist"),
  callsTool("shop/refund", { order: "7" }),
  says("I have refunded it."),
  says("You are welcome."),
];

export const handoff: Scenario = {
  name: "handoff",
  agents: (world) => [
    parentAgent("reception", { script, tools: ["specialist"] }),
    parentAgent("specialist", {
      script,
      tools: [refund(world)],
      subagents: [{ agent: "archivist", immediate: true }],
    }),
    childAgent("archivist", { script: [] }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "reception" });
    await thread.send("I want my money back.", { key: "money" });
    await thread.send("Thank you.", { key: "thanks" });
    await untilFamilyAtRest(holdfast, thread);
  },
  endings: {
    main: {
      agent: "reception",
      status: "idle",
      transcript: [
        "user: I want my money back.",
        "call specialist",
        "result specialist: success",
        "call shop/refund",
        "result shop/refund: success",
        "assistant: I have refunded it.",
        "user: Thank you.",
        "assistant: You are welcome.",
      ],
      calls: { "standard/specialist": 1, "shop/refund": 1 },
      children: [{ agent: "archivist", name: "archivist", shown: "idle", transcript: [] }],
    },
  },
  async check(thread) {
    const { agent, origin_agent } = await thread.status();
    return agent === "specialist" && origin_agent === "reception" ? [] : [`it belongs to ${agent}`];
  },
};
