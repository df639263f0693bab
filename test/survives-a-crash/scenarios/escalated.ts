// A run is handed to a person, who answers once: the thread waits for that, whoever dies meanwhile.
import { isMap } from "../../../src/contracts/json.ts";
import { callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import { escalation } from "../../../src/threads/consent/escalation.ts";
import { ann } from "../acting.ts";
import type { Scenario } from "../scenario.ts";

const script = [
  callsTool("human/escalate", { reason: "Too hard." }),
  says("A person says: Tomorrow."),
  says("You are welcome."),
];

export const escalated: Scenario = {
  name: "escalation",
  agents: () => [agent({ slug: "desk", model: scriptedModel(script), tools: [escalation()] })],
  isPlayedTwice: true,
  async play({ holdfast, key }) {
    const consent = { escalate_to_human: true };
    const thread = await holdfast.threads.open(key("main"), { agent: "desk", principal: ann, consent });
    const { waiting_for } = await thread.send("When does it come?", { key: "when" });
    if (waiting_for) await holdfast.requests.submit(waiting_for.request_id, { result: "Tomorrow." });
    await thread.wait();
    await thread.send("Thank you.", { key: "thanks" });
  },
  endings: {
    main: {
      agent: "desk",
      status: "idle",
      transcript: [
        "user: When does it come?",
        "call human/escalate",
        "result human/escalate: success",
        "assistant: A person says: Tomorrow.",
        "user: Thank you.",
        "assistant: You are welcome.",
      ],
      calls: { "human/escalate": 1 },
    },
  },
  async check(thread, _effects, { holdfast }) {
    const requests = await holdfast.requests.list({ thread: thread.id });
    const shown = requests.map(({ status, shown: { consent } }) => {
      return `${status}, ${isMap(consent) ? `${consent.operation} ${consent.allowed}` : "without consent"}`;
    });
    return String(shown) === "settled, escalate_to_human true" ? [] : [`what was asked of a person is [${shown}]`];
  },
};
