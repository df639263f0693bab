// Two messages, two answers.
import { says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import type { Scenario } from "../scenario.ts";

export const plainAnswer: Scenario = {
  name: "plain answer",
  agents: () => [agent({ slug: "greeter", model: scriptedModel([says("Good morning."), says("Good night.")]) })],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "greeter" });
    await thread.send("It is seven.", { key: "first" });
    await thread.send("It is ten.", { key: "second" });
  },
  endings: {
    main: {
      agent: "greeter",
      status: "idle",
      transcript: ["user: It is seven.", "assistant: Good morning.", "user: It is ten.", "assistant: Good night."],
    },
  },
};
