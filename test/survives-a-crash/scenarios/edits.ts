// Messages are changed and taken back between two runs.
import { says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import type { Scenario } from "../scenario.ts";

export const edits: Scenario = {
  name: "edits",
  agents: () => [
    agent({ slug: "editor", model: scriptedModel([says("A frist draft."), (shown) => says(`${shown.length} read.`)]) }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "editor" });
    await thread.send("Write.", { key: "write" });
    await thread.editMessage(1, { role: "assistant", content: "A first draft." }, { key: "edit" });
    await thread.deleteMessage(0, { key: "delete" });
    await thread.send("Read.", { key: "read" });
  },
  endings: {
    main: {
      agent: "editor",
      status: "idle",
      transcript: ["assistant: A first draft.", "user: Read.", "assistant: 2 read."],
    },
  },
};
