// Whoever answers says which attempt at the answer it was; from the second one on it waits for a sign.
import { says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import type { Scenario } from "../scenario.ts";

/** Played with two workers of which one sleeps; by itself it has an answer of the first attempt, and no point. */
export const sleeperAnswer: Scenario = {
  name: "sleeper",
  agents: ({ ledger }) => [
    agent({
      slug: "sleeper",
      async model(messages, context, options) {
        // Counted outside, because whoever answers the next time is another process.
        const key = `asked by ${context.thread_id}`;
        const attempt = 1 + (await ledger.count(key));
        await ledger.record({ key, name: "ask" });
        if (attempt > 1) {
          await ledger.note(`successor of ${context.thread_id}`);
          await ledger.noted(`go on with ${context.thread_id}`, options.signal);
        }
        return await scriptedModel([says(`Attempt ${attempt}.`)])(messages, context, options);
      },
    }),
  ],
  async play() {},
  endings: {
    main: { agent: "sleeper", status: "idle", transcript: ["user: Who are you?", "assistant: Attempt 2."] },
  },
};
