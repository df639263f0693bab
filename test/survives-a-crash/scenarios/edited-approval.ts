// Two calls that only certain people may decide about: one is accepted with other parameters, the other is rejected. Who
// asked for them may not decide.
import { isMap } from "../../../src/contracts/json.ts";
import { agent } from "../../../src/threads/agent.ts";
import type { Answer } from "../../../src/threads/requests/requests.ts";
import { ann, bob, decide, here, notesOf } from "../acting.ts";
import { proposesBoth, transcript, wish } from "../refund-and-charge.ts";
import type { Scenario } from "../scenario.ts";

const decisions: Readonly<Record<string, Answer>> = {
  "shop/refund": { decision: "accepted", parameters: { order: "9" } },
  "shop/charge": { decision: "rejected", reason: "Not this one." },
};

export const editedApproval: Scenario = {
  name: "edited approval",
  agents: (world) => [
    agent({
      slug: "teller",
      ...proposesBoth(world),
      approvers: { users: [bob.acting_user_id], other_than_requester: true },
    }),
  ],
  isPlayedTwice: true,
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "teller", principal: ann, ...here(key("main")) });
    await thread.send(wish, { key: "both" });
    await decide(holdfast, thread, decisions, { principal: bob });
    await decide(holdfast, thread, decisions, { principal: bob });
    await thread.wait();
  },
  endings: { main: { agent: "teller", status: "idle", transcript } },
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
