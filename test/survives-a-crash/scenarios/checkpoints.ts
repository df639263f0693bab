// Checkpoints of the audit are signed while threads go on and another one is deleted.
import { says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import { checkAudit } from "../check-audit.ts";
import type { Scenario } from "../scenario.ts";

export const checkpoints: Scenario = {
  name: "checkpoints",
  agents: () => [agent({ slug: "witness", model: scriptedModel([says("I have seen it."), says("That too.")]) })],
  async play({ holdfast: { audit, threads }, key }) {
    const thread = await threads.open(key("main"), { agent: "witness" });
    await Promise.all([thread.send("Look.", { key: "look" }), audit.checkpoint()]);
    // Begun again it is another one, of the same key.
    const gone = await threads.open(key("gone"), { agent: "witness" });
    await gone.send("Look at this.", { key: "look" });
    await audit.checkpoint();
    await threads.delete(gone.id);
    await audit.checkpoint();
    await thread.send("And at this.", { key: "again" });
  },
  endings: {
    main: {
      agent: "witness",
      status: "idle",
      transcript: ["user: Look.", "assistant: I have seen it.", "user: And at this.", "assistant: That too."],
    },
  },
  always: (thread, { holdfast }) => checkAudit(holdfast, thread.id),
};
