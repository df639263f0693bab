// A prompt that is used as a tool: it speaks on the same thread, one level deeper, and calls a tool of its own.
import { calls, callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { prompt } from "../../../src/threads/definitions/define-prompt.ts";
import { parentAgent } from "../child-agent.ts";
import { ship } from "../effect-tools.ts";
import type { Scenario } from "../scenario.ts";

// Whoever is asked, it is an answer of the same thread.
const script = [
  callsTool("adviser", { question: "Shall I?" }),
  calls(says("Yes."), callsTool("shop/ship", { order: "7" })),
  says("I was advised to."),
];

export const promptTool: Scenario = {
  name: "prompt tool",
  agents: (world) => {
    const adviser = prompt({
      name: "adviser",
      toolDescription: "Gives advice.",
      prompt: "You give advice.",
      model: scriptedModel(script),
      requiredSchema: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
      tools: [ship(world)],
    });
    return [parentAgent("advised", { script, tools: [{ prompt: adviser, initUserMessageProperty: "question" }] })];
  },
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), { agent: "advised" });
    await thread.send("Will you?", { key: "will" });
  },
  endings: {
    main: {
      agent: "advised",
      status: "idle",
      transcript: [
        "user: Will you?",
        "call adviser",
        "> user: Shall I?",
        "> assistant: Yes.",
        "> call shop/ship",
        "> result shop/ship: success",
        "result adviser: success",
        "assistant: I was advised to.",
      ],
      calls: { "shop/ship": 1 },
    },
  },
};
