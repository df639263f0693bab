// Decisions that are remembered: a yes lets the next call run, a no forbids it, and nobody is asked again.
import type { Holdfast } from "../../../src/holdfast.ts";
import { callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import type { Answer } from "../../../src/threads/requests/requests.ts";
import type { ThreadHandle } from "../../../src/threads/thread.ts";
import { ann, bob, decide, here } from "../acting.ts";
import { charge, refund } from "../effect-tools.ts";
import type { Scenario } from "../scenario.ts";

const orders = [
  callsTool("shop/refund", { order: "7" }),
  callsTool("shop/refund", { order: "8" }),
  callsTool("shop/charge", { order: "9" }),
  callsTool("shop/charge", { order: "10" }),
];

const decisions: Readonly<Record<string, Answer>> = {
  "shop/refund": { decision: "accepted", remember: true },
  "shop/charge": { decision: "rejected", remember: true },
};

const policies: Readonly<Record<string, string>> = { "shop/refund": "direct", "shop/charge": "forbidden" };

export const rememberedApproval: Scenario = {
  name: "remembered approval",
  agents: (world) => [
    agent({
      slug: "bookkeeper",
      model: scriptedModel(orders.flatMap((order) => [order, says("Next.")])),
      tools: [refund(world, { actionPolicy: "preview" }), charge(world, { actionPolicy: "preview" })],
      approvers: { users: [bob.acting_user_id] },
    }),
  ],
  isPlayedTwice: true,
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), {
      agent: "bookkeeper",
      principal: ann,
      ...here(key("main")),
    });
    for (const number of orders.keys()) {
      await thread.send(`Order ${number}.`, { key: String(number) });
      await decide(holdfast, thread, decisions, { principal: bob });
      await thread.wait();
    }
  },
  endings: {
    main: {
      agent: "bookkeeper",
      status: "idle",
      transcript: [
        "user: Order 0.",
        "call shop/refund",
        /^approval_required: Run shop\/refund/,
        "result shop/refund: success",
        "assistant: Next.",
        "user: Order 1.",
        "call shop/refund",
        "result shop/refund: success",
        "assistant: Next.",
        "user: Order 2.",
        "call shop/charge",
        /^approval_required: Run shop\/charge/,
        "result shop/charge: approval_rejected",
        "assistant: Next.",
        "user: Order 3.",
        "call shop/charge",
        "result shop/charge: action_forbidden",
        "assistant: Next.",
      ],
    },
  },
  async check(thread, effects) {
    const done = effects.filter((effect) => effect.thread === thread.id).map(({ name }) => name);
    return String(done) === "refund 7,refund 8" ? [] : [`what was done is [${done}]`];
  },
  /** It is remembered with the answer, and not before or after. */
  async always(thread, { holdfast }) {
    for (;;) {
      const before = await decidedOn(thread, holdfast);
      const found = await rememberedOf(thread, holdfast);
      const decided = await decidedOn(thread, holdfast);
      // Who wants the same may have decided just now.
      if (String(before) !== String(decided)) continue;
      return String(found) === String(decided) ? [] : [`remembered is [${found}], and decided [${decided}]`];
    }
  },
};

async function decidedOn({ id: threadId }: ThreadHandle, { requests }: Holdfast): Promise<readonly string[]> {
  const answered = (await requests.list({ thread: threadId })).filter(({ answer }) => answer !== null);
  return answered.map(({ id, tool_name }) => `${tool_name} ${policies[tool_name]} by ${id} of 12`).sort();
}

async function rememberedOf({ key }: ThreadHandle, { approvals }: Holdfast): Promise<readonly string[]> {
  const found = await approvals.remembered.list(here(key));
  return found
    .map(({ tool_name, policy, request_id, decided_by }) => {
      return `${tool_name} ${policy} by ${request_id} of ${decided_by?.acting_user_id}`;
    })
    .sort();
}
