// Two calls that a person decides about: one is accepted and runs, the other is rejected and never begins.
import type { Holdfast } from "../../../src/holdfast.ts";
import { calls, callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import type { Answer } from "../../../src/threads/requests/requests.ts";
import type { ThreadHandle } from "../../../src/threads/thread.ts";
import { charge, refund } from "../effect-tools.ts";
import type { Scenario } from "../scenario.ts";

const script = [
  calls(callsTool("shop/refund", { order: "7" }), callsTool("shop/charge", { order: "8" })),
  says("As you decided."),
];

const decisions: Readonly<Record<string, Answer>> = {
  "shop/refund": { decision: "accepted" },
  "shop/charge": { decision: "rejected", reason: "Not this one." },
};

export const approval: Scenario = {
  name: "approval",
  agents: (world) => [
    agent({
      slug: "cashier",
      model: scriptedModel(script),
      tools: [refund(world, { actionPolicy: "preview" }), charge(world, { actionPolicy: "preview" })],
    }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "cashier" });
    await thread.send("Refund 7 and charge 8.", { key: "both" });
    await decide(holdfast, thread);
    await decide(holdfast, thread);
    await thread.wait();
  },
  endings: {
    main: {
      agent: "cashier",
      status: "idle",
      transcript: [
        "user: Refund 7 and charge 8.",
        "call shop/refund",
        /^approval_required: Run shop\/refund/,
        "result shop/refund: success",
        "call shop/charge",
        /^approval_required: Run shop\/charge/,
        "result shop/charge: approval_rejected",
        "assistant: As you decided.",
      ],
    },
  },
};

/** Decides about whatever the thread waits for now, if it does. */
async function decide(holdfast: Holdfast, thread: ThreadHandle): Promise<void> {
  await thread.wait();
  const [pending] = await holdfast.requests.list({ thread: thread.id, status: "pending" });
  const answer = pending && decisions[pending.tool_name];
  if (answer) await holdfast.requests.submit(pending.id, answer);
}
