// A tool schedules something for later: it happens after a while, whatever became of the process until then.
import { setTimeout as sleep } from "node:timers/promises";
import { callsTool, says } from "../../../src/models/scripted/scripted-model.ts";
import { untilFamilyAtRest } from "../../../src/testing/until-at-rest.ts";
import { effect } from "../../../src/threads/definitions/effect.ts";
import { tool } from "../../../src/threads/tool.ts";
import { parentAgent } from "../child-agent.ts";
import type { Scenario } from "../scenario.ts";

const setAlarm = tool({
  name: "set_alarm",
  description: "Sets an alarm.",
  idempotent: true,
  execute: (_, { state }) => state.scheduleEffect("ring", { of: "the oven" }, 30),
});

export const scheduledEffect: Scenario = {
  name: "effect",
  agents: () => [
    parentAgent("cook", {
      script: [callsTool("set_alarm"), says("The alarm is set."), says("It is done.")],
      tools: [setAlarm],
    }),
  ],
  effects: ({ ledger, reached }) => [
    effect({
      name: "ring",
      description: "Rings.",
      args: { type: "object", properties: { of: { type: "string" } }, required: ["of"] },
      async handler(state, { of }) {
        await ledger.record({ key: ringOf(state.threadId), name: "ring" });
        await reached("inside ring");
        await state.queueMessage(`It is ${of}.`);
      },
    }),
  ],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "cook" });
    await thread.send("Bake.", { key: "bake" });
    // It is no part of a run, so that nothing tells when it is over.
    while ((await thread.effects.list({ status: "completed" })).length === 0) await sleep(10);
    await untilFamilyAtRest(holdfast, thread);
  },
  endings: {
    main: {
      agent: "cook",
      status: "idle",
      transcript: [
        "user: Bake.",
        "call set_alarm",
        "result set_alarm: success",
        "assistant: The alarm is set.",
        "user: It is the oven.",
        "assistant: It is done.",
      ],
      calls: { "standard/set_alarm": 1 },
    },
  },
  /** Begun again only because it was cut off: as often as it was begun at most, and nothing of it is doubled here. */
  async check(thread, effects) {
    const rung = effects.find(({ key }) => key === ringOf(thread.id))?.times ?? 0;
    const scheduled = await thread.effects.list();
    const shown = scheduled.map(({ status, attempts }) => `${status} after ${attempts} attempts`).join(", ");
    const [only, ...more] = scheduled;
    const isRight = only?.status === "completed" && more.length === 0 && rung >= 1 && rung <= only.attempts;
    return isRight && only.attempts <= 2 ? [] : [`it rang ${rung} times, and the effects are: ${shown}`];
  },
};

function ringOf(threadId: string): string {
  return `ring of ${threadId}`;
}
