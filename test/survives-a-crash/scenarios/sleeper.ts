// A call that somebody has made and not told of: whoever takes over looks it up, and takes its time until there is a sign.
import { callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import { tool } from "../../../src/threads/tool.ts";
import type { Scenario } from "../scenario.ts";

/**
 * Played with two workers of which one sleeps; by itself it has no point. The successor commits nothing while it looks up
 * what became of the call, so nothing but the lease tells the two apart.
 */
export const sleeperAnswer: Scenario = {
  name: "sleeper",
  agents: ({ ledger }) => [
    agent({
      slug: "sleeper",
      model: scriptedModel([callsTool("shop/look"), (messages) => says(`Found by ${resultIn(messages.at(-1))}.`)]),
      tools: [
        tool({
          name: "shop/look",
          description: "Looks.",
          execute: () => ({ by: "the sleeper" }),
          async reconcile({ threadId, signal }) {
            await ledger.note(`successor of ${threadId}`);
            await ledger.noted(`go on with ${threadId}`, signal);
            return { status: "done", result: { by: "the successor" } };
          },
        }),
      ],
    }),
  ],
  async play() {},
  endings: {
    main: {
      agent: "sleeper",
      status: "idle",
      transcript: [
        "user: Who are you?",
        "call shop/look",
        "result shop/look: success",
        "assistant: Found by the successor.",
      ],
      calls: { "shop/look": 1 },
    },
  },
};

function resultIn(message: { readonly payload: Readonly<Record<string, unknown>> } | undefined): string {
  const { by } = (message?.payload.result ?? {}) as { by?: string };
  return by ?? "nobody";
}
