// A long thread stays as quick as a short one: old messages become a summary, which stands in for them from then on.
import { expect, it } from "vitest";
import type { Message } from "../src/contracts/conversation/message.ts";
import type { Model } from "../src/models/model.ts";
import { calls, callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { type AgentDefinition, agent } from "../src/threads/agent.ts";
import { firstBrokenEvent } from "../src/threads/export.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";
import { inShort } from "./held.ts";

const compaction = { max_messages: 6, recent_messages: 2 };
const SUMMARY = "system: Earlier conversation summary:\n\n";

/** A model that numbers its answers and keeps what it was shown; asked for a summary, it counts the messages. */
function keeper(answer?: Model) {
  const shown: (readonly string[])[] = [];
  const summarized: (readonly string[])[] = [];
  const model: Model = (messages, context, options) => {
    if (options.step === undefined) {
      summarized.push(inShort(messages.slice(0, -1)));
      return says(`${messages.length - 1} messages.`);
    }
    shown.push(inShort(messages));
    return answer ? answer(messages, context, options) : says(`Answer ${options.step}.`);
  };
  return { model, shown, summarized };
}

function forgetful(definition: Partial<AgentDefinition> & Pick<AgentDefinition, "model">) {
  return agent({ slug: "keeper", compaction, ...definition });
}

async function tell(thread: ThreadHandle, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await thread.send(`message ${index}`);
}

/** Every call that is shown comes with its result, and every result with its call. */
function expectPaired(messages: readonly Message[]): void {
  const idsOf = (type: string) =>
    messages.filter((message) => message.type === type).map(({ metadata }) => metadata.tool_call_id);
  expect(idsOf("tool_result")).toEqual(idsOf("tool_call"));
}

eachDatabase((newWorld) => {
  it("shows the model a summary and what came last, once a thread has grown long", async () => {
    const world = await newWorld();
    const { model, shown, summarized } = keeper();
    const { threads } = await world.open(forgetful({ model }));
    const thread = await threads.open("c", { agent: "keeper" });

    await tell(thread, 4);

    expect(summarized).toEqual([
      ["user: message 0", "assistant: Answer 0.", "user: message 1", "assistant: Answer 1.", "user: message 2"],
    ]);
    expect(shown.at(-1)).toEqual([`${SUMMARY}5 messages.`, ...["assistant: Answer 2.", "user: message 3"]]);
    // Nothing of it is gone, and readers are shown the messages themselves.
    expect(await thread.messages()).toHaveLength(8);
    const { messages, events } = await thread.export();
    expect(messages.filter(({ kind }) => kind === "summary")).toHaveLength(1);
    expect(events.filter(({ records }) => records.includes('"compacted"'))).toHaveLength(1);
    expect(firstBrokenEvent(await thread.export())).toBeUndefined();
  });

  it("summarizes the summary again as the thread goes on, and loads only what the model is shown", async () => {
    const world = await newWorld();
    const { model, shown, summarized } = keeper();
    const { threads } = await world.open(forgetful({ model }));
    const thread = await threads.open("c", { agent: "keeper" });

    await tell(thread, 20);
    const loaded = await (await world.stores()).threads.load(thread.id);

    expect(summarized.length).toBeGreaterThan(3);
    expect(summarized.slice(1).every(([first]) => first?.startsWith(SUMMARY))).toBe(true);
    expect(Math.max(...shown.map((request) => request.length))).toBeLessThanOrEqual(6);
    expect(await thread.messages()).toHaveLength(40);
    expect(loaded?.messages.length).toBeLessThanOrEqual(7);
    expect(loaded?.messages[0]?.kind).toBe("summary");
  });

  it("shows the same after a restart", async () => {
    const world = await newWorld();
    const before = keeper();
    const first = await world.open(forgetful({ model: before.model }));
    const thread = await first.threads.open("c", { agent: "keeper" });
    await tell(thread, 4);
    await first.close();

    const after = keeper();
    const second = await world.open(forgetful({ model: after.model }));
    await (await second.threads.get(thread.id)).send("Again");

    expect(after.summarized).toEqual([]);
    expect(after.shown).toEqual([[...(before.shown.at(-1) ?? []), "assistant: Answer 3.", "user: Again"]]);
  });

  it("keeps the transcript as it is when a summary fails, and says so", async () => {
    const world = await newWorld();
    const { model, shown } = keeper();
    let attempts = 0;
    const summarizer = () => {
      attempts++;
      throw new Error("No words.");
    };
    const { threads } = await world.open(forgetful({ model, summarizer, retry: { attempts: 1 } }));
    const thread = await threads.open("c", { agent: "keeper" });

    await tell(thread, 4);

    expect(attempts).toBeGreaterThan(0);
    expect(shown.at(-1)).toHaveLength(7);
    expect(shown.at(-1)?.[0]).toBe("user: message 0");
    const { messages, events } = await thread.export();
    expect(messages.every(({ kind }) => kind === "message")).toBe(true);
    expect(events.some(({ notes }) => notes?.includes("compaction_failed"))).toBe(true);
    const told: string[] = [];
    for await (const { type } of thread.stream({ untilRest: true })) told.push(type);
    expect(told).toContain("compaction.failed");
  });

  it("asks a summarizer again that fails for a moment", async () => {
    const world = await newWorld();
    const { model, shown } = keeper();
    let attempts = 0;
    const summarizer = () => {
      if (++attempts === 1) throw Object.assign(new Error("Overloaded"), { status: 529 });
      return "It went on.";
    };
    const { threads } = await world.open(forgetful({ model, summarizer, retry: { backoffMs: 1 } }));
    const thread = await threads.open("c", { agent: "keeper" });

    await tell(thread, 4);

    expect(attempts).toBe(2);
    expect(shown.at(-1)?.[0]).toBe(`${SUMMARY}It went on.`);
  });

  it("does not take an earlier answer for that of a run that compacted and then came to nothing", async () => {
    const world = await newWorld();
    const { model } = keeper((_messages, _context, { step = 0 }) => {
      if (step === 3) throw new Error("I cannot.");
      return says(`Answer ${step}.`);
    });
    const { threads } = await world.open(forgetful({ model, retry: { attempts: 1 } }));
    const thread = await threads.open("c", { agent: "keeper" });
    await tell(thread, 3);

    expect(await thread.send("message 3")).toMatchObject({ status: "failed", final_content: "" });
    expect((await thread.export()).messages.some(({ kind }) => kind === "summary")).toBe(true);
  });

  it("never parts a call from its result", async () => {
    const world = await newWorld();
    const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => "seen" });
    const look = calls(callsTool("shop/peek", { n: 1 }), callsTool("shop/peek", { n: 2 }));
    const script = scriptedModel(Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? look : says("Seen."))));
    const { model, summarized } = keeper((messages, context, options) => {
      expectPaired(messages);
      return script(messages, context, options);
    });
    const { threads } = await world.open(
      forgetful({ model, tools: [peek], compaction: { max_messages: 7, recent_messages: 3 } }),
    );
    const thread = await threads.open("c", { agent: "keeper" });

    for (let index = 0; index < 8; index++) {
      expect(await thread.send(`Look ${index}`)).toMatchObject({ status: "completed", final_content: "Seen." });
    }

    expect(summarized.length).toBeGreaterThan(1);
    for (const head of summarized) {
      const count = (word: string) => head.filter((line) => line.startsWith(word)).length;
      expect(count("call")).toBe(count("result"));
    }
  });

  it("forks what was compacted, and what was not yet", async () => {
    const world = await newWorld();
    const { model, shown } = keeper();
    const { threads } = await world.open(forgetful({ model }));
    const thread = await threads.open("c", { agent: "keeper" });
    await tell(thread, 4);
    const { events } = await thread.export();
    const compacted = events.find(({ summary_seq }) => summary_seq !== null)?.seq ?? 0;

    const after = await thread.fork("after");
    await after.send("Go on");
    expect(shown.at(-1)).toEqual([
      `${SUMMARY}5 messages.`,
      ...["assistant: Answer 2.", "user: message 3", "assistant: Answer 3.", "user: Go on"],
    ]);
    const before = await thread.fork("before", { at: compacted - 1 });
    expect(await before.messages()).toHaveLength(7);
    await before.continue();
    expect(shown.at(-1)).toEqual([`${SUMMARY}5 messages.`, "assistant: Answer 2.", "user: message 3"]);
    for (const each of [after, before]) expect(firstBrokenEvent(await each.export())).toBeUndefined();
  });

  it("edits what a summary stands for without touching the summary, and what follows it as ever", async () => {
    const world = await newWorld();
    const { model, shown } = keeper();
    const { threads } = await world.open(forgetful({ model }));
    const thread = await threads.open("c", { agent: "keeper" });
    await tell(thread, 4);
    const rows = await thread.messages();
    const last = rows.find(({ message }) => message.content === "message 3");

    await thread.editMessage(0, "changed");
    await thread.editMessage(last?.seq ?? -1, "changed too");
    await thread.send("Go on");

    expect(shown.at(-1)).toEqual([
      `${SUMMARY}5 messages.`,
      ...["assistant: Answer 2.", "user: changed too", "assistant: Answer 3.", "user: Go on"],
    ]);
    expect((await thread.messages())[0]?.message.content).toBe("changed");
  });

  it("stops while a summary is being written, with the transcript as it was", async () => {
    const world = await newWorld();
    const { model, shown } = keeper();
    const asked = Promise.withResolvers<void>();
    let isHeld = true;
    const summarizer = () => {
      asked.resolve();
      return isHeld ? new Promise(() => undefined) : "It went on.";
    };
    const { threads } = await world.open(forgetful({ model, summarizer }));
    const thread = await threads.open("c", { agent: "keeper" });
    await tell(thread, 3);

    const sent = thread.send("message 3");
    await asked.promise;
    await thread.stop();
    isHeld = false;
    expect(await sent).toMatchObject({ status: "interrupted" });
    await thread.send("Go on");

    expect((await thread.messages()).map(({ message }) => message.content)).toContain("message 3");
    expect(shown.at(-1)?.[0]).toBe(`${SUMMARY}It went on.`);
    expect(shown.at(-1)?.at(-1)).toBe("user: Go on");
  });
});
