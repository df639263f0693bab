// A tool that somebody outside runs: the thread waits, and the answer is submitted until it is known to be there.
import { callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import { tool } from "../../../src/threads/tool.ts";
import type { Scenario } from "../scenario.ts";

const script = [callsTool("client/where", { of: "the parcel" }), says("It is in Bremen.")];

export const clientTool: Scenario = {
  name: "client tool",
  agents: () => [
    agent({
      slug: "tracker",
      model: scriptedModel(script),
      tools: [tool({ name: "client/where", description: "Asks the browser where something is." })],
    }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "tracker" });
    const { waiting_for } = await thread.send("Where is it?", { key: "where" });
    if (waiting_for) await holdfast.requests.submit(waiting_for.request_id, { result: { place: "Bremen" } });
    await thread.wait();
  },
  endings: {
    main: {
      agent: "tracker",
      status: "idle",
      transcript: [
        "user: Where is it?",
        "call client/where",
        "result client/where: success",
        "assistant: It is in Bremen.",
      ],
      calls: { "client/where": 1 },
    },
  },
};
