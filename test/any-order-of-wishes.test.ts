// Whatever is asked of a thread, in whatever order and at the same time: it comes to rest with a whole history.
import { expect, it } from "vitest";
import type { Message } from "../src/contracts/conversation/message.ts";
import type { Model } from "../src/models/model.ts";
import { calls, callsTool, says } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { firstBrokenEvent } from "../src/threads/export.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";

/** Numbers between 0 and 1, the same for the same seed. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const turn = () => new Promise(setImmediate);

/** Calls tools now and then, and says something otherwise; some of it takes a while. */
function moody(random: () => number): Model {
  return async (messages, _context, { onDelta }) => {
    expectPaired(messages);
    onDelta?.({ type: "text", text: "Let me " });
    if (random() < 0.5) await turn();
    onDelta?.({ type: "text", text: "see." });
    if (random() < 0.5) await turn();
    const called = ["shop/peek", "shop/queue", "shop/fail"].filter(() => random() < 0.3);
    const salt = random();
    return calls(says("Let me see."), ...called.map((name) => callsTool(name, { salt })));
  };
}

function expectPaired(messages: readonly Message[]): void {
  const idsOf = (type: string) =>
    messages.filter((message) => message.type === type).map(({ metadata }) => metadata.tool_call_id);
  expect(idsOf("tool_result")).toEqual(idsOf("tool_call"));
}

function tools(random: () => number) {
  let queued = 0;
  return [
    tool({ name: "shop/peek", description: "Looks.", execute: async () => (random() < 0.5 ? await turn() : null) }),
    tool({
      name: "shop/queue",
      description: "Queues a message, or a tool.",
      execute: (_input, context) => {
        if (random() < 0.5) context.queueMessage(`tool ${queued++}`);
        else context.queueTool("shop/peek", {});
      },
    }),
    tool({
      name: "shop/fail",
      description: "Fails.",
      execute: () => {
        throw new Error("No.");
      },
    }),
  ];
}

/** Does one thing of many, and says what it has left for the thread. */
async function wish(thread: ThreadHandle, random: () => number, name: string): Promise<string | undefined> {
  const kind = Math.floor(random() * 10);
  if (kind <= 2) {
    const { id } = await thread.queueMessage(name);
    return random() < 0.2 && (await thread.cancelQueued(id)) ? undefined : name;
  }
  if (kind <= 4) {
    // Not waited for: it may have to wait for another user.
    thread.send(name).catch(() => undefined);
    return name;
  }
  if (kind === 5) await thread.queueTool("shop/peek", { name });
  if (kind === 6) await thread.stop();
  if (kind === 7) thread.continue().catch(() => undefined);
  if (kind === 8) for (let times = random() * 4; times > 0; times--) await turn();
  if (kind === 9) {
    const isAnswer = ({ role, type }: Message) => role === "assistant" && type === "text";
    const message = (await thread.messages()).find((each) => isAnswer(each.message));
    if (message) await thread.editMessage(message.seq, { role: "assistant", content: "Edited." });
  }
  return undefined;
}

eachDatabase((newWorld, database) => {
  it.each([1, 2, 3])("comes to rest with a whole history (%i)", async (seed) => {
    const world = await newWorld();
    const random = chance(seed);
    const shop = agent({ slug: "shop", model: moody(random), tools: tools(random), maxTurns: 5 });
    const { threads } = await world.open(shop);
    const thread = await threads.open("c", { agent: "shop" });
    // Where there can be two processes there are two, and either may be the one that runs the thread.
    const other = database === "postgres" ? await (await world.open(shop)).threads.get(thread.id) : thread;

    const wishers = Array.from({ length: 3 }, async (_, wisher) => {
      const left: (string | undefined)[] = [];
      for (let index = 0; index < 15; index++)
        left.push(await wish(wisher === 0 ? other : thread, random, `wisher ${wisher}: ${index}`));
      return left.filter((name) => name !== undefined);
    });
    const left = await Promise.all(wishers);
    await thread.send("That is all.");
    await thread.wait();

    const messages = (await thread.messages()).map(({ message }) => message);
    const told = messages.filter(({ role, type }) => role === "user" && type === "text").map(({ content }) => content);
    expect(told.filter((content) => String(content).startsWith("wisher")).toSorted()).toEqual(left.flat().toSorted());
    expectPaired(messages);
    const exported = await thread.export();
    expect(firstBrokenEvent(exported)).toBeUndefined();
    expect(exported.runs.every(({ ended_at }) => ended_at !== null)).toBe(true);
    expect(exported.calls.every(({ phase }) => phase === "settled" || phase === "unknown")).toBe(true);
    const waiting = await (await world.stores()).inbox.waiting(thread.id);
    expect(waiting).toEqual([]);
  });
});
