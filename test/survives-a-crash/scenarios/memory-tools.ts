// An agent remembers, recalls and forgets for a user who has agreed to that, and nothing for one who has not.
import { sortedText } from "../../../src/contracts/canonical-json.ts";
import { isMap } from "../../../src/contracts/json.ts";
import { callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import { memoryTools } from "../../../src/threads/memory/memory-tools.ts";
import type { ThreadHandle } from "../../../src/threads/thread.ts";
import { ann, here } from "../acting.ts";
import { rowsWith } from "../database.ts";
import type { Scenario } from "../scenario.ts";

const texts: Readonly<Record<string, string>> = { tone: "Formal.", city: "Bremen." };

const remembers = (name: string) => callsTool("memory/remember", { name, content: texts[name] ?? "" });

const script = [
  remembers("tone"),
  remembers("city"),
  callsTool("memory/recall"),
  says("I will remember."),
  callsTool("memory/forget", { name: "city" }),
  callsTool("memory/recall"),
  says("I have forgotten it."),
];

export const remembering: Scenario = {
  name: "memory tools",
  agents: () => [
    agent({ slug: "diarist", model: scriptedModel(script), tools: [...memoryTools({ layers: ["principal"] })] }),
    agent({ slug: "shy", model: scriptedModel([remembers("tone"), says("As you wish.")]), tools: [...memoryTools()] }),
  ],
  async play({ holdfast, key }) {
    const open = (name: string, slug: string, isAgreed: boolean) =>
      holdfast.threads.open(key(name), {
        ...{ agent: slug, principal: ann, ...here(key(name)) },
        consent: { store_memory: isAgreed, use_memory: isAgreed },
      });
    const agreed = await open("agreed", "diarist", true);
    await agreed.send("Formal, please, and I live in Bremen.", { key: "remember" });
    await agreed.send("Forget the city.", { key: "forget" });
    const silent = await open("silent", "shy", false);
    await silent.send("Formal, please.", { key: "remember" });
  },
  endings: {
    agreed: {
      agent: "diarist",
      status: "idle",
      transcript: [
        "user: Formal, please, and I live in Bremen.",
        "call memory/remember",
        "result memory/remember: success",
        "call memory/remember",
        "result memory/remember: success",
        "call memory/recall",
        "result memory/recall: success",
        "assistant: I will remember.",
        "user: Forget the city.",
        "call memory/forget",
        "result memory/forget: success",
        "call memory/recall",
        "result memory/recall: success",
        "assistant: I have forgotten it.",
      ],
      calls: { "memory/remember": 2, "memory/recall": 2, "memory/forget": 1 },
    },
    silent: {
      agent: "shy",
      status: "idle",
      transcript: [
        "user: Formal, please.",
        "call memory/remember",
        "result memory/remember: consent_denied",
        "assistant: As you wish.",
      ],
    },
  },
  /** A memory is there with the result that says so, and with what allowed it. */
  async always(thread, { database }) {
    const { kept, recalled } = await told(thread);
    const rows = await rowsWith(database, "memories", { workspace_id: thread.key });
    const found = Object.fromEntries(rows.map(({ filename, content }) => [String(filename), content]));
    const isAllowed = ({ consent }: (typeof rows)[number]) => {
      const { allowed, operation } = JSON.parse(String(consent)) ?? {};
      return allowed === true && operation === "store_memory";
    };
    return [
      ...(sortedText(found) === sortedText(kept)
        ? []
        : [`${thread.key}: remembered is ${sortedText(found)}, and told ${sortedText(kept)}`]),
      ...(rows.every(isAllowed) ? [] : [`${thread.key}: a memory stands without the consent to it`]),
      ...recalled,
    ];
  },
};

/** What must be remembered by what the calls came to, and what one of them has recalled that was not. */
async function told(thread: ThreadHandle) {
  const kept: Record<string, string> = {};
  const recalled: string[] = [];
  for (const { message } of await thread.messages()) {
    const { result } = message.payload;
    if (message.type !== "tool_result" || !isMap(result)) continue;
    const { remembered, forgotten, memories } = result;
    if (typeof remembered === "string") kept[remembered] = texts[remembered] ?? "";
    if (typeof forgotten === "string") delete kept[forgotten];
    if (!Array.isArray(memories)) continue;
    const found = Object.fromEntries(memories.map(({ name, content }) => [name, content]));
    if (sortedText(found) !== sortedText(kept)) recalled.push(`${thread.key}: it recalled ${sortedText(found)}`);
  }
  return { kept, recalled };
}
