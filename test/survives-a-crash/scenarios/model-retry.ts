// A model that is too busy the first time: the thread is laid down for a moment, and asks again.
import { says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import type { Scenario } from "../scenario.ts";

export const modelRetry: Scenario = {
  name: "model retry",
  agents: ({ ledger }) => [
    agent({
      slug: "patient",
      retry: { attempts: 5, backoffMs: 20 },
      async model(messages, context, options) {
        // Counted outside, because whoever answers the next time may be another process.
        const key = `asked by ${context.thread_id}`;
        const asked = await ledger.count(key);
        await ledger.record({ key, name: "ask" });
        if (asked === 0) throw Object.assign(new Error("Too busy."), { status: 503 });
        return scriptedModel([says("At last.")])(messages, context, options);
      },
    }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "patient" });
    await thread.send("Answer me.", { key: "answer" });
  },
  endings: {
    main: { agent: "patient", status: "idle", transcript: ["user: Answer me.", "assistant: At last."] },
  },
};
