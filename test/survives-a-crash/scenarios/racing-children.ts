// Two children at once that nobody waits for: when their results come in is open, but each comes in once.
import { calls, callsTool, says } from "../../../src/models/scripted/scripted-model.ts";
import { untilFamilyAtRest } from "../../../src/testing/until-at-rest.ts";
import { childAgent, parentAgent } from "../child-agent.ts";
import { ship } from "../effect-tools.ts";
import type { ChildEnding, Scenario } from "../scenario.ts";

const names = ["Ada", "Bea"];
const create = (name: string) =>
  callsTool("subagent_create", { agent: "runner", message: `Run, ${name}.`, attachments: [], name });

function ending(name: string): ChildEnding {
  return {
    agent: "runner",
    name,
    shown: "idle",
    transcript: [
      `user: Run, ${name}.`,
      "call shop/ship",
      "result shop/ship: success",
      "call finish",
      "result finish: success",
    ],
    calls: { "shop/ship": 1 },
  };
}

export const racingChildren: Scenario = {
  name: "racing children",
  agents: (world) => [
    parentAgent("trainer", {
      script: [calls(...names.map(create)), says("Heard, 1."), says("Heard, 2."), says("Heard, 3.")],
      subagents: [{ agent: "runner" }],
    }),
    childAgent("runner", {
      script: [callsTool("shop/ship", { order: "7" }), callsTool("finish", { text: "I am there." })],
      tools: [ship(world)],
    }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "trainer" });
    await thread.send("Go.", { key: "go" });
    await untilFamilyAtRest(holdfast, thread);
  },
  endings: {
    main: {
      agent: "trainer",
      status: "idle",
      transcript(lines) {
        const reports = names.map((name) => `user: The subagent "${name}" (<id>) has finished.\n\nI am there.`);
        const wanted = ["user: Go.", ...names.flatMap(() => createdLines), ...reports];
        const answers = lines.filter((line) => line.startsWith("assistant: "));
        const isInOrder = answers.every((line, index) => line === `assistant: Heard, ${index + 1}.`);
        const others = lines.filter((line) => !line.startsWith("assistant: "));
        const isRight =
          String(others.toSorted()) === String(wanted.toSorted()) &&
          isInOrder &&
          lines.at(-1)?.startsWith("assistant: ");
        return isRight ? [] : [`not every result came in once and was answered: ${lines.join(" | ")}`];
      },
      calls: { "standard/subagent_create": 2 },
      children: names.map(ending),
    },
  },
};

const createdLines = ["call subagent_create", "result subagent_create: success"];
