// A conversation that is kept beyond its thread with consent: several runs, and changes in between, until the consent is
// taken back.
import { sortedText } from "../../../src/contracts/canonical-json.ts";
import { isMap } from "../../../src/contracts/json.ts";
import { callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import { ann, here } from "../acting.ts";
import { refund } from "../effect-tools.ts";
import type { Scenario } from "../scenario.ts";

const script = [
  callsTool("shop/refund", { order: "7" }),
  says("It is refundet."),
  says("You are welcome."),
  says("Bye."),
  says("I see."),
];

/** The last run before the consent is taken back. */
const KEPT = 3;

export const keptTranscript: Scenario = {
  name: "kept transcript",
  agents: (world) => [agent({ slug: "stenographer", model: scriptedModel(script), tools: [refund(world)] })],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), {
      ...{ agent: "stenographer", principal: ann, ...here(key("main")) },
      consent: { store_transcript: true },
    });
    await thread.send("Refund 7.", { key: "refund" });
    await thread.editMessage(3, { role: "assistant", content: "It is refunded." }, { key: "edit" });
    await thread.send("Thank you.", { key: "thanks" });
    await thread.deleteMessage(0, { key: "delete" });
    await thread.wait();
    await thread.send("Bye.", { key: "bye" });
    await thread.consent({ store_transcript: false });
    await thread.send("This is not for others.", { key: "secret" });
  },
  endings: {
    main: {
      agent: "stenographer",
      status: "idle",
      transcript: [
        "call shop/refund",
        "result shop/refund: success",
        "assistant: It is refunded.",
        "user: Thank you.",
        "assistant: You are welcome.",
        "user: Bye.",
        "assistant: Bye.",
        "user: This is not for others.",
        "assistant: I see.",
      ],
    },
  },
  /** The session is what the thread says, as far as its runs have ended and it is to be kept. */
  async always(thread, { holdfast }) {
    const ended = new Set((await thread.runs()).filter(({ ended_at }) => ended_at !== null).map(({ run }) => run));
    const said = (await thread.messages())
      .filter(({ run }) => ended.has(run) && run <= KEPT)
      .map(({ message }) => message);
    const session = await holdfast.sessions.get(thread.id);
    const { messages = [], consent } = session ?? {};
    const isAllowed = consent?.allowed === true && consent.operation === "store_transcript";
    return [
      ...(sortedText(messages) === sortedText(said)
        ? []
        : [`${thread.key}: kept is [${contentsOf(messages)}], and said [${contentsOf(said)}]`]),
      ...(session === undefined || isAllowed ? [] : [`${thread.key}: it is kept without the consent to it`]),
    ];
  },
};

function contentsOf(messages: readonly unknown[]): string {
  return messages.map((message) => (isMap(message) ? String(message.content) : "")).join(" | ");
}
