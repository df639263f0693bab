// Three messages at once to one thread, and one to another: which run takes in which is open, but each is taken in once.
import { says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import type { Scenario } from "../scenario.ts";

const words = ["one", "two", "three"];

export const parallelSends: Scenario = {
  name: "parallel sends",
  agents: () => [
    agent({ slug: "listener", model: scriptedModel(words.map((_, index) => says(`Heard, ${index + 1}.`))) }),
  ],
  async play({ holdfast, key }) {
    const [busy, quiet] = await Promise.all(
      ["busy", "quiet"].map((name) => holdfast.threads.open(key(name), { agent: "listener" })),
    );
    await Promise.all([
      ...words.map((word) => busy?.send(word, { key: word })),
      quiet?.send("alone", { key: "alone" }),
    ]);
  },
  endings: {
    busy: {
      agent: "listener",
      status: "idle",
      transcript(lines) {
        const sent = lines.filter((line) => line.startsWith("user: ")).sort();
        const answers = lines.filter((line) => line.startsWith("assistant: "));
        const isInOrder = answers.every((line, index) => line === `assistant: Heard, ${index + 1}.`);
        const isRight =
          sent.join() === "user: one,user: three,user: two" &&
          answers.length > 0 &&
          isInOrder &&
          lines.length === sent.length + answers.length &&
          lines.at(-1)?.startsWith("assistant: ");
        return isRight ? [] : [`not every message was taken in once and answered: ${lines.join(" | ")}`];
      },
    },
    quiet: { agent: "listener", status: "idle", transcript: ["user: alone", "assistant: Heard, 1."] },
  },
};
