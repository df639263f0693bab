// Messages are erased: what a user said, and a call with its result. What was erased stands nowhere any more, in no version
// and in no copy, and what was not stands where it stood.
import { NO_SALT } from "../../../src/contracts/audit/erasure.ts";
import type { Message } from "../../../src/contracts/conversation/message.ts";
import { HoldfastError } from "../../../src/contracts/error.ts";
import { callsTool, says, scriptedModel } from "../../../src/models/scripted/scripted-model.ts";
import { agent } from "../../../src/threads/agent.ts";
import type { ThreadHandle } from "../../../src/threads/thread.ts";
import { ann, here } from "../acting.ts";
import { checkAudit } from "../check-audit.ts";
import { ship } from "../effect-tools.ts";
import type { Scenario, Site } from "../scenario.ts";
import { tablesWith } from "../tables-with.ts";

const script = [
  (messages: readonly Message[]) => callsTool("shop/ship", { order: parcelOf(String(messages.at(-1)?.content)) }),
  says("It is on its way."),
  says("It is forgotten."),
];

export const erasure: Scenario = {
  name: "erasure",
  agents: (world) => [agent({ slug: "confessor", model: scriptedModel(script), tools: [ship(world)] })],
  async play({ holdfast, key }) {
    const thread = await holdfast.threads.open(key("main"), {
      ...{ agent: "confessor", principal: ann, ...here(key("main")) },
      consent: { store_transcript: true },
    });
    await unlessErased(thread.send(numberOf(thread), { key: "say" }));
    await unlessErased(thread.editMessage(0, `${numberOf(thread)}, I said`, { key: "edit" }));
    await thread.eraseMessage(0, { key: "erase what was said" });
    await thread.eraseMessage(CALL, { key: "erase the call" });
    await thread.wait();
    await thread.send("Is it forgotten?", { key: "ask" });
  },
  endings: {
    main: {
      agent: "confessor",
      status: "idle",
      transcript: ["assistant: It is on its way.", "user: Is it forgotten?", "assistant: It is forgotten."],
      calls: { "shop/ship": 1 },
    },
  },
  async check(thread, _effects, { database }) {
    const words = [numberOf(thread), parcelOf(numberOf(thread))];
    const left = await Promise.all(words.map(async (word) => await tablesWith(database, word)));
    return left.flat().length === 0 ? [] : [`${thread.key}: what was erased stands in ${left.flat()}`];
  },
  async always(thread, site) {
    return [
      ...(await wholeOrGone(thread, site, 0, numberOf(thread))),
      ...(await wholeOrGone(thread, site, CALL, parcelOf(numberOf(thread)))),
      ...(await checkAudit(site.holdfast, thread.id)),
    ];
  },
};

/** The number of the message with the call. */
const CALL = 1;

/** A word that only this thread has. */
function numberOf({ key }: Pick<ThreadHandle, "key">): string {
  return `My number is the one of ${key}`;
}

function parcelOf(said: string): string {
  return said.replace("My number is", "A parcel for");
}

/** All of a message is there, or nothing of it anywhere. */
async function wholeOrGone(thread: ThreadHandle, { database, holdfast }: Site, seq: number, word: string) {
  const { messages, runs } = await thread.export();
  const row = messages.find((message) => message.seq === seq);
  if (!row) return [];
  const tables = await tablesWith(database, word);
  if (row.salt === NO_SALT) {
    return tables.length === 0 ? [] : [`${thread.key}: message ${seq} is erased, and stands in ${tables}`];
  }
  const isKept = runs.some(({ run, ended_at }) => run === row.run && ended_at !== null);
  const session = await holdfast.sessions.get(thread.id);
  const isWhole = JSON.stringify(await thread.messages()).includes(word);
  const isSession = !isKept || JSON.stringify(session?.messages).includes(word);
  return isWhole && isSession ? [] : [`${thread.key}: of message ${seq} there is only what stands in ${tables}`];
}

/** What was erased is neither sent again under its key nor changed. */
async function unlessErased(sent: Promise<unknown>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!(error instanceof HoldfastError && refusals.has(error.code))) throw error;
  }
}

const refusals: ReadonlySet<string> = new Set(["idempotency_conflict", "message_not_found"]);
