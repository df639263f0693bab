// A child that stays: its parent waits for it the first time, and writes to it the second time without waiting.
import { callsTool, says } from "../../../src/models/scripted/scripted-model.ts";
import { untilFamilyAtRest } from "../../../src/testing/until-at-rest.ts";
import { childAgent, lastShown, parentAgent } from "../child-agent.ts";
import type { Scenario } from "../scenario.ts";

export const resumedChild: Scenario = {
  name: "resumed child",
  agents: ({ ledger }) => [
    parentAgent("dictator", {
      script: [
        callsTool("subagent_create", { agent: "scribe", message: "Write one.", attachments: [], name: "scribe" }),
        says("One is written."),
        (messages) =>
          callsTool("subagent_message", {
            referenceId: lastShown(messages.slice(0, -1), "id"),
            message: `Write two for ${lastShown(messages, "id")}.`,
            attachments: [],
          }),
        says("Two is being written."),
        says("Two is written."),
      ],
      tools: [{ name: "scribe", resumable: { maxInstances: 1 } }],
    }),
    childAgent("scribe", {
      script: [
        callsTool("finish", { text: "One." }),
        async (messages, { signal }) => {
          await ledger.noted(`at rest ${lastShown(messages, "id")}`, signal);
          return says("Two?");
        },
        says("Two."),
        callsTool("finish", { text: "Two." }),
      ],
    }),
  ],
  async play({ holdfast, ledger, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "dictator" });
    await thread.send("Have one written.", { key: "one" });
    await thread.send(`Have two written for ${thread.id}.`, { key: "two" });
    await ledger.note(`at rest ${thread.id}`);
    await untilFamilyAtRest(holdfast, thread);
  },
  endings: {
    main: {
      agent: "dictator",
      status: "idle",
      transcript: [
        "user: Have one written.",
        "call subagent_create",
        "result subagent_create: success",
        "assistant: One is written.",
        "user: Have two written for <id>.",
        "call subagent_message",
        "result subagent_message: success",
        "assistant: Two is being written.",
        'user: The subagent "scribe" (<id>) has finished.\n\nTwo.',
        "assistant: Two is written.",
      ],
      calls: { "standard/subagent_create": 1, "standard/subagent_message": 1 },
      children: [
        {
          agent: "scribe",
          name: "scribe",
          shown: "idle",
          transcript: [
            "user: Write one.",
            "call finish",
            "result finish: success",
            "user: Write two for <id>.",
            "assistant: Two?",
            "user: Two.",
            "call finish",
            "result finish: success",
          ],
        },
      ],
    },
  },
};
