// A thread is forked, and both go their own ways from the same beginning.
import { callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import { ship } from "../effect-tools.ts";
import type { Ending, Scenario } from "../scenario.ts";

const script = [says("Two roads."), callsTool("shop/ship", { order: "7" }), says("Shipped.")];

function ending(road: string): Ending {
  return {
    agent: "wanderer",
    status: "idle",
    transcript: [
      "user: Where are we?",
      "assistant: Two roads.",
      `user: Take the ${road}.`,
      "call shop/ship",
      "result shop/ship: success",
      "assistant: Shipped.",
    ],
    calls: { "shop/ship": 1 },
  };
}

export const fork: Scenario = {
  name: "fork",
  agents: (world) => [agent({ slug: "wanderer", model: scriptedModel(script), tools: [ship(world)] })],
  async play({ holdfast, key }) {
    const left = await holdfast.threads.open(key("left"), { agent: "wanderer" });
    await left.send("Where are we?", { key: "where" });
    const right = await left.fork(key("right"));
    await left.send("Take the left.", { key: "go" });
    await right.send("Take the right.", { key: "go" });
  },
  endings: { left: ending("left"), right: ending("right") },
};
