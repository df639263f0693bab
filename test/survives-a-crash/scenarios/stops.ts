// Somebody stops a thread while its model is speaking, another while its tool is at work; then both go on. A third one is
// terminated, and stays so.
import { callsTool, type ScriptedStep, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import type { World } from "../../../src/testing/scenario.ts";
import { agent } from "../../../src/threads/agent.ts";
import { tool } from "../../../src/threads/tool.ts";
import { act } from "../effect-tools.ts";
import { maybe, type Scenario, type Stage } from "../scenario.ts";

export const stopsAnswer: Scenario = {
  name: "stop of an answer",
  agents: ({ ledger }) => [
    agent({
      slug: "speaker",
      model: (messages, context, options) => {
        const speech: ScriptedStep = async () => {
          options.onDelta?.({ type: "text", text: "It was a dark " });
          await ledger.note(`speaking ${context.thread_id}`);
          return await untilAborted(options.signal);
        };
        const isResumed = messages.some(({ content }) => content === "Go on.");
        return scriptedModel([isResumed ? says("The end.") : speech])(messages, context, { ...options, step: 0 });
      },
    }),
  ],
  async play(stage) {
    await stopAndGoOn(stage, "speaker", "speaking");
  },
  endings: {
    main: {
      agent: "speaker",
      status: "idle",
      transcript: [
        "user: Begin.",
        maybe("assistant: It was a dark "),
        "system: Stop it.",
        "user: Go on.",
        "assistant: The end.",
      ],
    },
  },
};

export const stopsTool: Scenario = {
  name: "stop of a tool",
  agents: (world) => [
    agent({
      slug: "lingerer",
      model: scriptedModel([callsTool("shop/linger"), says("The end."), says("The end.")]),
      tools: [linger(world)],
    }),
  ],
  async play(stage) {
    await stopAndGoOn(stage, "lingerer", "lingering");
  },
  endings: {
    main: {
      agent: "lingerer",
      status: "idle",
      transcript: [
        "user: Begin.",
        "call shop/linger",
        "result shop/linger: outcome_unknown",
        maybe("assistant: The end."),
        maybe("system: Stop it."),
        "user: Go on.",
        "assistant: The end.",
      ],
      calls: { "shop/linger": 1 },
    },
  },
};

export const terminates: Scenario = {
  name: "termination",
  agents: () => [agent({ slug: "mortal", model: scriptedModel([says("I was here.")]) })],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "mortal" });
    if ((await thread.status()).status !== "terminated") await thread.send("Be here.", { key: "be" });
    await thread.terminate();
  },
  endings: {
    main: { agent: "mortal", status: "terminated", transcript: ["user: Be here.", "assistant: I was here."] },
  },
};

async function stopAndGoOn({ holdfast, ledger, key }: Stage, slug: string, note: string): Promise<void> {
  const thread = await holdfast.threads.open(key("main"), { agent: slug });
  const begun = thread.send("Begin.", { key: "begin" });
  // A tool that was cut off is not run again, so a run may also end by itself: then the stop comes late.
  await Promise.race([ledger.noted(`${note} ${thread.id}`), begun]);
  await thread.stop({ key: "stop", reason: "Stop it." });
  await begun;
  await thread.send("Go on.", { key: "go on" });
}

function linger(world: World) {
  return tool({
    name: "shop/linger",
    description: "Takes its time.",
    async execute(_, context) {
      await act(world, "linger", context);
      await world.ledger.note(`lingering ${context.threadId}`);
      return await untilAborted(context.signal);
    },
  });
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
