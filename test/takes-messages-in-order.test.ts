// What is left for a thread is taken in, in the order in which it came: nothing is lost, doubled or done side by side.
import { expect, it } from "vitest";
import type { Message } from "../src/contracts/conversation/message.ts";
import type { Model } from "../src/models/model.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { eachDatabase, onPostgres } from "./databases.ts";
import { heldModel, heldTool, inShort } from "./held.ts";

/** Answers with the last thing it was told. */
const echo: Model = (messages) => says(`You said: ${messages.at(-1)?.content}`);
const parrot = agent({ slug: "parrot", model: echo });

async function history(thread: ThreadHandle): Promise<readonly string[]> {
  return inShort((await thread.messages()).map(({ message }) => message));
}

eachDatabase((newWorld) => {
  it("answers a message, and keeps both in order", async () => {
    const world = await newWorld();
    const { threads } = await world.open(parrot);
    const thread = await threads.open("c", { agent: "parrot" });

    const outcome = await thread.send("Hello");

    expect(outcome).toMatchObject({ status: "completed", completed: true, final_content: "You said: Hello", run: 1 });
    expect(await history(thread)).toEqual(["user: Hello", "assistant: You said: Hello"]);
    expect(await thread.status()).toMatchObject({ status: "idle", run: 1, steps: 1 });
  });

  it("runs tools before the model is asked again, each result stored before the next thing begins", async () => {
    const world = await newWorld();
    const { tool, next } = heldTool({ name: "shop/peek" });
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [tool] }));
    const thread = await threads.open("c", { agent: "shop" });

    const sent = thread.send("Look");
    (await asked()).answer(callsTool("shop/peek"));
    const call = await next();
    expect(await history(thread)).toEqual(["user: Look", "call shop/peek"]);
    call.answer({ there: true });
    const second = await asked();
    expect(await history(thread)).toEqual(["user: Look", "call shop/peek", 'result shop/peek: {"there":true}']);
    second.answer("It is there.");

    expect(await sent).toMatchObject({ status: "completed", final_content: "It is there.", turn_count: 2 });
  });

  it("takes a message that is sent twice under one key once, and tells both senders the same", async () => {
    const world = await newWorld();
    const { threads } = await world.open(parrot);
    const thread = await threads.open("c", { agent: "parrot" });

    const [first, second] = await Promise.all([
      thread.send("Hello", { key: "mail-1" }),
      thread.send("Hello", { key: "mail-1" }),
    ]);
    await thread.send("Something else");
    const third = await thread.send("Hello", { key: "mail-1" });

    expect(second).toEqual(first);
    expect(third).toEqual(first);
    expect((await history(thread)).filter((line) => line === "user: Hello")).toHaveLength(1);
  });

  it("refuses another message under a key that was used, and stores nothing of it", async () => {
    const world = await newWorld();
    const { threads } = await world.open(parrot);
    const thread = await threads.open("c", { agent: "parrot" });
    await thread.send("Hello", { key: "mail-1" });
    const before = await world.everything();

    await expect(thread.send("Good bye", { key: "mail-1" })).rejects.toMatchObject({ code: "idempotency_conflict" });

    expect(await world.everything()).toBe(before);
    // Keys of different verbs have nothing to do with each other.
    await thread.queueMessage("Good bye", { key: "mail-1" });
    await thread.wait();
    expect(await history(thread)).toContain("user: Good bye");
  });

  it("shows the model everything that was queued while a step went on, in order", async () => {
    const world = await newWorld();
    const { tool, next } = heldTool({ name: "shop/peek" });
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [tool] }));
    const thread = await threads.open("c", { agent: "shop" });

    const sent = thread.send("Look");
    const first = await asked();
    await thread.queueMessage("one");
    first.answer(callsTool("shop/peek"));
    const call = await next();
    await thread.queueMessage("two");
    await thread.queueMessage("three");
    call.answer("seen");
    const second = await asked();
    second.answer("Done.");

    expect(second.shown).toEqual([
      ...["user: Look", "call shop/peek", 'result shop/peek: "seen"'],
      ...["user: one", "user: two", "user: three"],
    ]);
    expect(await sent).toMatchObject({ final_content: "Done.", run: 1 });
    await thread.wait();
    expect(await thread.runs()).toHaveLength(1);
  });

  it("begins by itself when a message is queued for an idle thread", async () => {
    const world = await newWorld();
    const { threads } = await world.open(parrot);
    const thread = await threads.open("c", { agent: "parrot" });

    await thread.queueMessage("Hello");

    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "You said: Hello" });
  });

  it("shows the model a silent message too, and keeps it marked", async () => {
    const world = await newWorld();
    const { threads } = await world.open(parrot);
    const thread = await threads.open("c", { agent: "parrot" });

    await thread.queueMessage("The user has left", { silent: true });

    expect(await thread.wait()).toMatchObject({ final_content: "You said: The user has left" });
    expect((await thread.messages())[0]?.message.metadata).toEqual({ silent: true });
  });

  it("gives a message that comes while the last answer is being given a turn of its own", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });

    const sent = thread.send("Hello");
    const first = await asked();
    await thread.queueMessage("One more thing");
    first.answer("Hi.");
    expect(await sent).toMatchObject({ final_content: "Hi.", run: 1 });
    const second = await asked();
    second.answer("What is it?");

    expect(second.shown).toEqual(["user: Hello", "assistant: Hi.", "user: One more thing"]);
    expect(await thread.wait()).toMatchObject({ final_content: "What is it?", run: 2 });
  });

  it("takes in a message that comes at any commit of a run, exactly once", async () => {
    const world = await newWorld();
    const points: string[] = [];
    let thread: ThreadHandle | undefined;
    const { threads } = await world.open(parrot, {
      // A message before and after every commit of the first run.
      async onPoint(point) {
        if (!thread || !point.includes("commit") || points.length >= 6) return;
        points.push(point);
        await thread.queueMessage(`at ${points.length}`);
      },
    });
    thread = await threads.open("c", { agent: "parrot" });

    await thread.send("Hello");
    await thread.wait();

    expect(points).toHaveLength(6);
    const told = (await history(thread)).filter((line) => line.startsWith("user: at"));
    expect(told).toEqual(points.map((_, index) => `user: at ${index + 1}`));
  });

  it("takes back what is still queued, once, and never what was taken in", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });

    const sent = thread.send("Hello");
    const first = await asked();
    const kept = await thread.queueMessage("keep");
    const gone = await thread.queueMessage("forget");
    expect(await thread.cancelQueued(gone.id)).toBe(true);
    expect(await thread.cancelQueued(gone.id)).toBe(false);
    first.answer("Hi.");
    await sent;
    const second = await asked();
    expect(second.shown).toEqual(["user: Hello", "assistant: Hi.", "user: keep"]);
    expect(await thread.cancelQueued(kept.id)).toBe(false);
    second.answer("Kept.");
    await thread.wait();

    expect(await thread.cancelQueued("no such entry")).toBe(false);
    expect(await history(thread)).not.toContain("user: forget");
  });

  it("tells a sender whose message was taken back", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "clerk", model }));
    const thread = await threads.open("c", { agent: "clerk" });
    const first = thread.send("Hello");
    const { answer } = await asked();
    const sent = thread.send("I will wait");
    await world.untilLeft(thread.id, 2);
    const [waiting] = await (await world.stores()).inbox.waiting(thread.id);

    expect(await thread.cancelQueued(waiting?.id ?? "")).toBe(true);

    await expect(sent).rejects.toMatchObject({ code: "message_cancelled" });
    answer("Hi.");
    expect(await first).toMatchObject({ final_content: "Hi." });
  });

  it("keeps the outcome of a tool when what was queued behind it is taken back at the last moment", async () => {
    const world = await newWorld();
    const { tool, next } = heldTool({ name: "shop/pay" });
    const model = scriptedModel([callsTool("shop/pay"), (messages) => says(inShort(messages).join("; "))]);
    const queued: string[] = [];
    const cancelled: boolean[] = [];
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [tool] }), {
      // When it was read with the tool's outcome, and is about to be taken in with the same commit.
      async onPoint(point) {
        const [id] = point === "before commit begun call_model" ? queued.splice(0, 1) : [];
        if (id !== undefined) cancelled.push(await thread.cancelQueued(id));
      },
    });
    const thread = await threads.open("c", { agent: "shop" });

    const sent = thread.send("Pay");
    const call = await next();
    const early = await thread.queueMessage("Hurry");
    queued.push((await thread.queueMessage("Please")).id);
    expect(await thread.cancelQueued(early.id)).toBe(true);
    call.answer("paid");

    expect(await sent).toMatchObject({ final_content: 'user: Pay; call shop/pay; result shop/pay: "paid"' });
    expect(cancelled).toEqual([true]);
    expect(await thread.calls()).toMatchObject([{ phase: "settled", outcome: "success" }]);
  });

  it("knows the thread of a key again, and no thread of an unknown id", async () => {
    const world = await newWorld();
    const { threads } = await world.open([parrot, agent({ slug: "other", model: echo })]);
    const opened = await Promise.all([1, 2, 3].map(() => threads.open("c", { agent: "parrot" })));
    const [thread] = opened;

    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
    await expect(threads.open("c", { agent: "other" })).rejects.toMatchObject({ code: "thread_key_taken" });
    await expect(threads.open("d", { agent: "nobody" })).rejects.toMatchObject({ code: "agent_not_found" });
    await expect(threads.open(" ", { agent: "parrot" })).rejects.toMatchObject({ code: "invalid_thread_key" });
    await expect(threads.get("nowhere")).rejects.toMatchObject({ code: "thread_not_found" });
    expect((await threads.get(thread?.id ?? "")).key).toBe("c");
  });

  it("gives a sender that loses patience its time back, while the thread goes on", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });
    const patience = new AbortController();

    const sent = thread.send("Hello", { signal: patience.signal });
    const first = await asked();
    patience.abort();
    await expect(sent).rejects.toMatchObject({ code: "aborted" });
    first.answer("Hi.");

    expect(await thread.wait()).toMatchObject({ final_content: "Hi." });
  });

  it("tells whoever still waits when the runtime is closed, and finishes the work when it is opened again", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const talker = agent({ slug: "talker", model });
    const first = await world.open(talker, { drainMs: 1 });
    const thread = await first.threads.open("c", { agent: "talker" });

    const sent = thread.send("Hello");
    const read = (async () => {
      for await (const _event of thread.stream());
    })();
    await asked();
    const waiting = Promise.allSettled([sent, thread.wait(), read]);
    await first.close();
    expect((await waiting).map((each) => each.status === "rejected" && each.reason)).toMatchObject([
      ...[{ code: "database_closed" }, { code: "database_closed" }, { code: "database_closed" }],
    ]);
    const second = await world.open(talker);
    (await asked()).answer("Hi.");

    expect(await (await second.threads.get(thread.id)).wait()).toMatchObject({ final_content: "Hi." });
  });

  it("tells a sender when the thread got stuck after it took the message in", async () => {
    const world = await newWorld();
    const { threads } = await world.open(parrot, {
      async onPoint(point) {
        if (point === "before effect call_model") throw new Error("This always goes wrong.");
      },
    });
    const thread = await threads.open("c", { agent: "parrot" });

    await expect(thread.send("Hello")).rejects.toMatchObject({ code: "thread_stuck" });

    expect(await thread.status()).toMatchObject({ status: "stuck" });
    expect(world.takeErrors().length).toBeGreaterThan(0);
  });

  it("waits for a model that is asked again later", async () => {
    const world = await newWorld();
    let asked = 0;
    const model: Model = () => {
      if (++asked === 1) throw Object.assign(new Error("Too many requests"), { status: 429 });
      return says("Now.");
    };
    const { threads } = await world.open(agent({ slug: "busy", model, retry: { backoffMs: 50 } }));
    const thread = await threads.open("c", { agent: "busy" });

    await thread.queueMessage("Hello");

    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Now." });
    expect(asked).toBe(2);
  });

  it("ends a run whose model fails for good, and takes the next message", async () => {
    const world = await newWorld();
    const model = scriptedModel([
      (messages) => {
        if (messages.length === 1) throw new Error("I cannot.");
        return says("Now I can.");
      },
    ]);
    const { threads } = await world.open(agent({ slug: "moody", model, retry: { attempts: 1 } }));
    const thread = await threads.open("c", { agent: "moody" });

    expect(await thread.send("Try")).toMatchObject({ status: "failed", completed: false });
    expect(await thread.send("Again")).toMatchObject({ status: "completed", final_content: "Now I can." });
  });

  it("runs many threads at once, as many as it may, and each to its end", async () => {
    const world = await newWorld();
    const { model, next, count } = heldModel();
    const { threads } = await world.open(agent({ slug: "parrot", model }), { concurrency: 8 });
    const opened = await Promise.all(
      Array.from({ length: 40 }, (_, index) => threads.open(`c${index}`, { agent: "parrot" })),
    );

    const sent = Promise.all(opened.map((thread) => thread.send(thread.key)));
    const running: Awaited<ReturnType<typeof next>>[] = [];
    const endOne = () => {
      const call = running.shift();
      call?.answer(`You said: ${call.messages.at(-1)?.content}`);
    };
    for (const _ of opened) {
      if (running.length === 8) endOne();
      running.push(await next());
      expect(running.length + count()).toBeLessThanOrEqual(8);
    }
    while (running.length > 0) endOne();

    expect((await sent).map(({ final_content }) => final_content)).toEqual(opened.map(({ key }) => `You said: ${key}`));
  });

  it("takes twenty messages that come at once: none is lost, none doubled, and no two runs overlap", async () => {
    const world = await newWorld();
    const watched = watch();
    const holdfast = await world.open(watched.agent);
    const thread = await holdfast.threads.open("c", { agent: "parrot" });
    const words = Array.from({ length: 20 }, (_, index) => `message ${index}`);

    const outcomes = await Promise.all(words.map((word) => thread.send(word)));

    expect(outcomes.every(({ completed }) => completed)).toBe(true);
    expect(watched.most()).toBe(1);
    await expectEachOnce(thread, words);
  });
});

onPostgres((newWorld) => {
  it("takes what two processes send at once, in one run at a time", async () => {
    const world = await newWorld();
    const watched = watch();
    const one = await world.open(watched.agent);
    const two = await world.open(watched.agent);
    const here = await one.threads.open("c", { agent: "parrot" });
    const there = await two.threads.open("c", { agent: "parrot" });
    const words = Array.from({ length: 20 }, (_, index) => `message ${index}`);

    const outcomes = await Promise.all(words.map((word, index) => (index % 2 === 0 ? here : there).send(word)));

    expect(outcomes.every(({ completed }) => completed)).toBe(true);
    expect(watched.most()).toBe(1);
    await expectEachOnce(there, words);
    const runs = await here.runs();
    for (const [index, run] of runs.entries()) {
      expect(run.started_at).toBeGreaterThanOrEqual(runs[index - 1]?.ended_at ?? 0);
    }
  });

  it("runs in one process what another has only left behind", async () => {
    const world = await newWorld();
    const sender = await world.open(parrot, { runs: false });
    const thread = await sender.threads.open("c", { agent: "parrot" });
    const sent = thread.send("Hello");
    await world.open(parrot);

    expect(await sent).toMatchObject({ final_content: "You said: Hello" });
  });
});

/** An agent that notices when two of its runs are under way at once. */
function watch() {
  let running = 0;
  let most = 0;
  const model: Model = async (messages: Message[]) => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
    return says(`You said: ${messages.at(-1)?.content}`);
  };
  return { agent: agent({ slug: "parrot", model }), most: () => most };
}

async function expectEachOnce(thread: ThreadHandle, words: readonly string[]): Promise<void> {
  const told = (await history(thread)).filter((line) => line.startsWith("user: "));
  expect(told.toSorted()).toEqual(words.map((word) => `user: ${word}`).toSorted());
}
