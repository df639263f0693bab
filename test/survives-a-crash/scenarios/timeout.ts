// A tool that nobody outside runs: when its time is up the call settles by itself, also if the process was away then.
import { callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import { tool } from "../../../src/threads/tool.ts";
import type { Scenario } from "../scenario.ts";

const script = [callsTool("client/ring", { bell: "front" }), says("Nobody is there.")];

export const timeout: Scenario = {
  name: "timeout",
  agents: () => [
    agent({
      slug: "visitor",
      model: scriptedModel(script),
      tools: [tool({ name: "client/ring", description: "Rings a bell.", waitMs: 30 })],
    }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "visitor" });
    await thread.send("Ring the bell.", { key: "ring" });
    for (let outcome = await thread.wait(); !outcome?.completed; outcome = await thread.wait()) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  },
  endings: {
    main: {
      agent: "visitor",
      status: "idle",
      transcript: [
        "user: Ring the bell.",
        "call client/ring",
        "result client/ring: runtime_tool_timeout",
        "assistant: Nobody is there.",
      ],
      calls: { "client/ring": 1 },
    },
  },
};
