// Promise: reading is the reader's own business. One that sleeps costs nothing and gets everything later; none of them
// slows a run or breaks it.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { calls, callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { createLiveAnswer } from "../src/threads/stream/live-answer.ts";
import type { StreamEvent } from "../src/threads/stream/stream.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";
import { Client, committed, reader } from "./following.ts";
import { heldModel } from "./held.ts";
import { watchedHandle } from "./watched-handle.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => "seen" });

/** A model that says a thousand pieces and calls a tool, over and over, and then comes to an end. */
function talkative(steps: number) {
  const words = "word ".repeat(1_000);
  return scriptedModel([
    ...Array.from({ length: steps }, () => calls(says(words), callsTool("shop/peek"))),
    says("The end."),
  ]);
}

eachDatabase((newWorld) => {
  it("keeps nothing of what is said for a reader that sleeps, however much that is", async () => {
    const world = await newWorld();
    const { threads } = await world.open(agent({ slug: "talker", model: () => "Hi." }));
    const opened = await threads.open("c", { agent: "talker" });
    await opened.send("Hello");
    const { thread, liveTexts } = await watchedHandle(world, opened);
    const sleeping = [reader(thread.stream()), reader(thread.stream())];
    for (const { next } of sleeping) await next();

    const said: WeakRef<object>[] = [];
    const { next_seq } = await thread.status();
    for (let answers = 0; answers < 50; answers++) {
      const place = { step: answers + 1, attempt: answers + 9, commit: next_seq + answers };
      const live = createLiveAnswer({ thread_id: thread.id, ...place }, {});
      said.push(new WeakRef(live.text.segments));
      for (let pieces = 0; pieces < 200; pieces++) {
        live.add({ type: "text", text: `piece ${pieces} ` });
        liveTexts.say(live.text);
      }
      liveTexts.end(thread.id);
    }
    await new Promise(setImmediate);
    collectGarbage();

    // The last answer is there, once for all, for whoever wakes up in time; what came before it has become messages. A
    // few more may be left on the stack.
    expect(said.filter((segments) => segments.deref()).length).toBeLessThan(6);
    for (const { next, close } of sleeping) {
      await next("run.ended");
      await close();
    }
  });

  it("gives a reader that has slept through a run all of it", async () => {
    const world = await newWorld();
    const { threads } = await world.open(agent({ slug: "shop", model: talkative(10), tools: [peek] }), {
      verifies: false,
    });
    const thread = await threads.open("c", { agent: "shop" });
    const sleeper = thread.send("Go").stream()[Symbol.asyncIterator]();
    const client = new Client();
    client.take((await sleeper.next()).value);

    await thread.wait();
    while (!client.hasEnded) client.take((await sleeper.next()).value);

    expect(await sleeper.next()).toMatchObject({ done: true });
    expect(client.answers).toHaveLength(11);
    for (const { words, heard } of client.answers) expect(heard.text).toBe(words);
    expect(client.ids).toEqual((await committed(thread)).map(({ id }) => id).slice(1));
  });

  it("reads nothing for five hundred that sleep, and for one that is awake only what is committed", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }), { verifies: false });
    const opened = await threads.open("c", { agent: "talker" });
    const first = opened.send("Hello");
    (await asked()).answer("Hi.");
    await first;
    const { thread, liveTexts, reads, tell } = await watchedHandle(world, opened, { polls: false });
    const sleeping = Array.from({ length: 500 }, () => reader(thread.stream()));
    for (const { next } of sleeping) await next();

    const before = reads();
    const second = opened.send("Tell me");
    const call = await asked();
    tell();
    await new Promise(setImmediate);
    expect(reads()).toBe(before);
    const awake = reader(thread.stream({ after: "now" }));
    const { next_seq, steps } = await thread.status();
    const live = createLiveAnswer({ thread_id: thread.id, step: steps, attempt: 99, commit: next_seq }, {});
    live.add({ type: "text", text: "Well, " });
    liveTexts.say(live.text);
    await awake.next("text.delta");
    const untilNow = reads();
    for (let pieces = 0; pieces < 1_000; pieces++) {
      live.add({ type: "text", text: `piece ${pieces} ` });
      liveTexts.say(live.text);
      expect(await awake.next("text.delta")).toMatchObject({ text: `piece ${pieces} ` });
    }
    expect(reads()).toBe(untilNow);
    call.answer(live.said);
    await second;
    tell();
    await awake.next("run.ended");
    // The log, and the messages of it.
    expect(reads() - untilNow).toBe(2);
    for (const { next } of sleeping.slice(0, 3))
      for (const run of [1, 2]) expect(await next("run.ended")).toMatchObject({ run });
    await Promise.all([awake, ...sleeping].map(({ close }) => close()));
  });

  it("goes on whatever its readers do", async () => {
    const world = await newWorld();
    const { threads } = await world.open(agent({ slug: "shop", model: talkative(3), tools: [peek] }), {
      verifies: false,
    });
    const thread = await threads.open("c", { agent: "shop" });
    const leaving = new AbortController();
    const doings: ((event: StreamEvent, seen: number) => unknown)[] = [
      () => undefined,
      (_event, seen) => {
        if (seen === 3) throw new Error("A reader throws.");
      },
      (event) => event.type === "text.delta",
      (event) => event.type === "call.begun" && leaving.abort(),
      // Never comes back from its first event.
      () => new Promise(() => undefined),
    ];
    const clients: Client[] = [];
    let failures = 0;
    const read = async (_: unknown, index: number) => {
      const client = new Client();
      const doing = doings[index % doings.length];
      if (doing === doings[0]) clients.push(client);
      let seen = 0;
      for await (const event of thread.stream(doing === doings[3] ? { signal: leaving.signal } : {})) {
        client.take(event);
        if ((await doing?.(event, seen++)) === true || client.hasEnded) break;
      }
    };
    const readers = Array.from({ length: 500 }, read);
    for (const each of readers) each.catch(() => failures++);

    expect(await thread.send("Go")).toMatchObject({ status: "completed", final_content: "The end." });

    await Promise.allSettled(readers.filter((_, index) => index % doings.length !== 4));
    expect(failures).toBe(100);
    expect(clients).toHaveLength(100);
    for (const { answers } of clients) {
      expect(answers).toHaveLength(4);
      for (const { words, heard } of answers) expect(heard.text).toBe(words);
    }
  });
});
