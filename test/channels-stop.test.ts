// Promise: a reply that is being sent is not cut off by a stop, neither of its thread nor of the process.
import { expect, it } from "vitest";
import { channel } from "../src/channels/channel.ts";
import { agent } from "../src/threads/agent.ts";
import { eachDatabase, type World } from "./databases.ts";

/** A channel that takes replies in its own time. */
async function open(world: World, options: { readonly drainMs?: number } = {}) {
  const keys: string[] = [];
  const begun = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<void>();
  const shop = channel({
    ...{ name: "shop", agent: "friend", verify: () => true },
    extract: ({ text }) => ({ messages: [JSON.parse(text())] }),
    async send({ idempotency_key }) {
      begun.resolve();
      await taken.promise;
      keys.push(idempotency_key);
      sent.resolve();
    },
  });
  const friend = agent({ slug: "friend", model: () => ({ content: "Hello yourself.", tool_calls: [] }) });
  const holdfast = await world.open(friend, { channels: [shop], ...options });
  const hears = async () => {
    const body = new TextEncoder().encode(JSON.stringify({ message_id: "m1", text: "Hello", conversation_id: "c1" }));
    expect(await holdfast.channels.receive("shop", { headers: {}, body })).toMatchObject({ status: 202 });
    await begun.promise;
    const [thread] = await holdfast.threads.list();
    if (!thread) throw new Error("There is no thread.");
    return thread.id;
  };
  return { holdfast, keys, hears, take: taken.resolve, sent: sent.promise };
}

eachDatabase((newWorld) => {
  it("is sent to its end when somebody stops the thread", async () => {
    const world = await newWorld();
    const { holdfast, keys, hears, take } = await open(world);
    const id = await hears();
    const thread = await holdfast.threads.get(id);
    const stopped = thread.stop();
    await world.untilLeft(id, 2);
    take();
    expect(await stopped).toMatchObject({ status: "stopped" });
    expect(keys).toEqual([`${id}:1:reply`]);
    expect(await thread.effects.list({})).toMatchObject([{ status: "completed" }]);
  });

  it("is sent to its end when the process is told to stop, and not again by the next one", async () => {
    const world = await newWorld();
    const { holdfast, keys, hears, take } = await open(world);
    const id = await hears();
    const closed = holdfast.close();
    take();
    await closed;
    const next = await open(world);
    const thread = await next.holdfast.threads.get(id);
    expect(await thread.effects.list({})).toMatchObject([{ status: "completed" }]);
    expect([keys, next.keys]).toEqual([[`${id}:1:reply`], []]);
  });

  it("is sent again by the next process when it was not taken in time, under the same key", async () => {
    const world = await newWorld();
    const { holdfast, keys, hears } = await open(world, { drainMs: 1 });
    const id = await hears();
    await holdfast.close();
    const next = await open(world);
    next.take();
    await next.sent;
    expect([keys, next.keys]).toEqual([[], [`${id}:1:reply`]]);
  });
});
