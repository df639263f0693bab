// Two calls that only certain people may decide about: one is accepted with other parameters, the other is rejected. Who
// asked for them may not decide.
import { isMap } from "../../../src/contracts/json.ts";
import { calls, callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import type { Answer } from "../../../src/threads/requests/requests.ts";
import { ann, bob, decide, here, notesOf } from "../acting.ts";
import { charge, refund } from "../effect-tools.ts";
import type { Scenario } from "../scenario.ts";

const script = [
  calls(callsTool("shop/refund", { order: "7" }), callsTool("shop/charge", { order: "8" })),
  says("As you decided."),
];

const decisions: Readonly<Record<string, Answer>> = {
  "shop/refund": { decision: "accepted", parameters: { order: "9" } },
  "shop/charge": { decision: "rejected", reason: "Not this one." },
};

export const editedApproval: Scenario = {
  name: "edited approval",
  agents: (world) => [
    agent({
      slug: "teller",
      model: scriptedModel(script),
      tools: [refund(world, { actionPolicy: "preview" }), charge(world, { actionPolicy: "preview" })],
      approvers: { users: [bob.acting_user_id], other_than_requester: true },
    }),
  ],
  isPlayedTwice: true,
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "teller", principal: ann, ...here(key("main")) });
    await thread.send("Refund 7 and charge 8.", { key: "both" });
    await decide(holdfast, thread, decisions);
    await decide(holdfast, thread, decisions);
    await thread.wait();
  },
  endings: {
    main: {
      agent: "teller",
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
  async check(thread, effects) {
    const done = effects.filter((effect) => effect.thread === thread.id).map(({ name }) => name);
    const told = (await thread.messages()).flatMap(({ message: { type, payload } }) =>
      type === "tool_result" && isMap(payload.result) ? [String(payload.result.done)] : [],
    );
    const decided = await notesOf(thread, "approval_decided");
    const shown = decided.map(({ decision, edited, resolver }) => `${decision} ${edited} ${resolver}`);
    return [
      ...(String(done) === "refund 9" ? [] : [`what was done is [${done}]`]),
      ...(String(told) === "refund 9" ? [] : [`what is told to be done is [${told}]`]),
      ...(String(shown) === "accepted true user:12,rejected false user:12" ? [] : [`what was decided is [${shown}]`]),
    ];
  },
};
