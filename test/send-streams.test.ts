// Promise: a send and its stream are two readings of one run. The stream has the events from the one that adds the message
// to the one with which the run ends or waits for somebody, and starts nothing.
import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { createHooks } from "../src/contracts/hooks.ts";
import { calls, callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import type { StreamEvent } from "../src/threads/stream/stream.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, onPostgres } from "./databases.ts";
import { collect, committed, isCommitted, reader } from "./following.ts";
import { heldModel, heldTool } from "./held.ts";
import { watchedHandle } from "./watched-handle.ts";

const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => "seen" });
const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });

/** The words of all answers, as deltas tell them. */
function wordsIn(events: readonly StreamEvent[]): string {
  return events.map((event) => (event.type === "text.delta" ? event.text : "")).join("");
}

/** Ids of what was committed. */
function idsIn(events: readonly StreamEvent[]): string[] {
  return events.filter(isCommitted).map(({ id }) => id);
}

eachDatabase((newWorld) => {
  it("tells the run from the message to its end, once, and the promise says what it came to", async () => {
    const world = await newWorld();
    const model = scriptedModel([
      calls(says("Let me look."), callsTool("shop/peek")),
      says("It is there."),
      says("Hi."),
    ]);
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [peek] }));
    const thread = await threads.open("c", { agent: "shop" });

    const sent = thread.send("Look");
    const events = await collect(sent.stream());

    expect(events[0]).toMatchObject({ type: "message.added", message: { role: "user", content: "Look" } });
    expect(events.at(-1)).toMatchObject({ type: "run.ended", run: 1 });
    expect(await sent).toMatchObject({ status: "completed", final_content: "It is there.", run: 1 });
    expect(wordsIn(events)).toBe("Let me look.It is there.");
    // What the thread's own stream tells, without what comes before the message.
    const all = await committed(thread);
    expect(all.map(({ type }) => type).slice(0, 2)).toEqual(["run.started", "message.added"]);
    expect(idsIn(events)).toEqual(idsIn(all).slice(1));
    expect(await thread.runs()).toHaveLength(1);
    const next = await collect(thread.send("Hello").stream());
    expect(next[0]).toMatchObject({ type: "message.added", message: { content: "Hello" }, run: 2 });
    expect(next.every((event) => !isCommitted(event) || event.run === 2)).toBe(true);
  });

  it("tells the same to whoever reads late, and to every reader", async () => {
    const world = await newWorld();
    const model = scriptedModel([callsTool("shop/peek"), says("It is there."), says("And here.")]);
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [peek] }));
    const thread = await threads.open("c", { agent: "shop" });

    const sent = thread.send("Look", { key: "look" });
    const streams = [sent.stream(), sent.stream()];
    const [first = [], second = []] = await Promise.all(streams.map(collect));
    await thread.send("Again");
    const late = await collect(sent.stream());
    const repeated = await collect(thread.send("Look", { key: "look" }).stream());

    for (const events of [second, late, repeated]) {
      expect(idsIn(events)).toEqual(idsIn(first));
      expect(wordsIn(events)).toBe("It is there.");
    }
    expect(await thread.runs()).toHaveLength(2);
  });

  it("begins with its own message, also when an equal one was taken in before", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { tool: look, next: looking } = heldTool({ name: "shop/look" });
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [look] }));
    const thread = await threads.open("c", { agent: "shop" });

    const first = thread.send("Go on");
    const streamed = collect(first.stream());
    (await asked()).answer(callsTool("shop/look"));
    const call = await looking();
    const second = thread.send("Go on");
    const joined = collect(second.stream());
    await world.untilLeft(thread.id, 2);
    const third = thread.queueMessage("Go on");
    await third;
    call.answer("seen");
    (await asked()).answer("Here you are.");

    const [all, rest] = await Promise.all([streamed, joined]);
    const seqs = (events: readonly StreamEvent[]) =>
      events.flatMap((event) => (event.type === "message.added" ? [`${event.seq} ${event.message.role}`] : []));
    expect(seqs(all)).toEqual(["0 user", "1 assistant", "2 user", "3 user", "4 user", "5 assistant"]);
    expect(seqs(rest)).toEqual(["3 user", "4 user", "5 assistant"]);
    expect(wordsIn(rest)).toBe("Here you are.");
    expect([await first, await second].map(({ run }) => run)).toEqual([1, 1]);
  });

  it("tells words, thoughts and arguments as they come, and hides what transcripts hide", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [peek] }));
    const thread = await threads.open("c", { agent: "shop" });

    const events = reader(thread.send("Look").stream());
    const { options, answer } = await asked();
    const call = { type: "tool_input", id: "call-1", name: "shop/peek" } as const;
    options.onDelta?.({ type: "reasoning", text: "A door." });
    expect(await events.next("reasoning.delta")).toMatchObject({ step: 0, offset: 0, text: "A door." });
    options.onDelta?.({ type: "text", text: "I look." });
    expect(await events.next("text.delta")).toMatchObject({ offset: 7, text: "I look." });
    options.onDelta?.({ ...call, text: '{"door":1,"to' });
    const named = { tool_call_id: "call-1", tool_name: "shop/peek" };
    expect(await events.next("tool_input.delta")).toMatchObject({ ...named, offset: 14, text: '{"door":1,"to' });
    options.onDelta?.({ ...call, text: 'ken":"rosebud"}' });
    expect(await events.next("tool_input.delta")).toMatchObject({ offset: 27, text: 'ken":"[redacted]"}' });
    expect(await world.everything()).not.toContain("rosebud");
    answer(calls(says("I look."), callsTool("shop/peek", { door: 1, token: "rosebud" }, { id: "call-1" })));
    (await asked()).answer("Nobody.");
    await events.next("run.ended");
    await events.close();
  });

  it("tells no arguments where a filter decides what may be shown of them", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const hooks = createHooks();
    hooks.filter("toolAuditParameters", () => ({}));
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [peek], hooks }));
    const thread = await threads.open("c", { agent: "shop" });

    const reading = collect(thread.send("Look").stream());
    const { options, answer } = await asked();
    options.onDelta?.({ type: "tool_input", id: "call-1", name: "shop/peek", text: '{"door":1}' });
    options.onDelta?.({ type: "text", text: "Done." });
    answer("Done.");

    expect((await reading).map(({ type }) => type)).not.toContain("tool_input.delta");
  });

  it("ends where the run waits for somebody, and goes on from the message for whoever sends it again", async () => {
    const world = await newWorld();
    const model = scriptedModel([callsTool("shop/pay"), says("Paid.")]);
    const { threads, requests } = await world.open(agent({ slug: "shop", model, tools: [pay] }));
    const thread = await threads.open("c", { agent: "shop" });

    const sent = thread.send("Pay", { key: "pay" });
    const events = await collect(sent.stream());
    const { waiting_for } = await sent;
    expect(events.at(-1)).toMatchObject({ type: "request.created", request_id: waiting_for?.request_id });
    await requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });
    await thread.wait();

    // Read late, it still ends where the promise does.
    expect(await collect(sent.stream())).toEqual(events);
    const again = await collect(thread.send("Pay", { key: "pay" }).stream());
    expect(again[0]).toEqual(events[0]);
    expect(again.at(-1)).toMatchObject({ type: "run.ended" });
  });

  it("has nothing to tell of a message that is not taken in before somebody has answered", async () => {
    const world = await newWorld();
    const model = scriptedModel([callsTool("shop/pay"), says("Paid."), says("Yes.")]);
    const { threads, requests } = await world.open(agent({ slug: "shop", model, tools: [pay] }));
    const thread = await threads.open("c", { agent: "shop" });
    const { waiting_for } = await thread.send("Pay");

    const sent = thread.send("And hurry");
    expect(await collect(sent.stream())).toEqual([]);
    expect(await sent).toMatchObject({ status: "approval_required", waiting_for });
    await requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });
    await thread.wait();

    const events = await collect(sent.stream());
    expect(events[0]).toMatchObject({ type: "message.added", message: { content: "And hurry" } });
    expect(events.at(-1)).toMatchObject({ type: "run.ended" });
  });

  it("ends with the run also when that fails or is stopped", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });

    const failing = collect(thread.send("Tell me").stream());
    (await asked()).fail(new Error("No."));
    expect((await failing).at(-1)).toMatchObject({ type: "run.ended" });
    const stopped = collect(thread.send("Tell me").stream());
    (await asked()).say("Once upon");
    await thread.stop();
    const events = await stopped;
    expect(wordsIn(events)).toBe("Once upon");
    expect(events.at(-1)).toMatchObject({ type: "run.ended" });
  });

  it("throws what the send throws, and nobody else has to hear of it", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });
    const unhandled: unknown[] = [];
    const notice = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", notice);
    const thrownBy = (promise: Promise<unknown>) =>
      promise.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    const bothOf = async (sent: ReturnType<typeof thread.send>, code: string) => {
      const [inStream, inPromise] = await Promise.all([thrownBy(collect(sent.stream())), thrownBy(sent)]);
      expect(inStream).toMatchObject({ code });
      expect(inStream).toBe(inPromise);
      // Also for whoever comes afterwards.
      expect(await thrownBy(collect(sent.stream()))).toBe(inPromise);
    };

    const first = thread.send("Hello", { key: "k" });
    const call = await asked();
    await bothOf(thread.send("Something else", { key: "k" }), "idempotency_conflict");
    await bothOf(thread.send({ content: 7 as never }), "invalid_ai_message_envelope");
    const abort = new AbortController();
    const given = bothOf(thread.send("Hello?", { signal: abort.signal }), "aborted");
    await world.untilLeft(thread.id, 2);
    abort.abort();
    await given;
    const cancelled = bothOf(thread.send("Never mind"), "message_cancelled");
    await world.untilLeft(thread.id, 3);
    const waiting = await (await world.stores()).inbox.waiting(thread.id);
    await thread.cancelQueued(waiting.at(-1)?.id ?? "");
    await cancelled;
    // A stream that nobody reads swallows nothing that somebody else waits for, and lets nothing escape.
    thread.send("Something else", { key: "k" }).stream();
    const closing = thread.terminate();
    call.answer("Hi.");
    await Promise.all([first, closing]);
    await bothOf(thread.send("Still there?"), "thread_terminated");
    await new Promise((resolve) => setImmediate(resolve));

    process.off("unhandledRejection", notice);
    expect(unhandled).toEqual([]);
  });

  it("throws what the send throws when the thread gets stuck", async () => {
    const world = await newWorld();
    const { threads } = await world.open(agent({ slug: "shop", model: scriptedModel([says("Hi.")]) }));
    const thread = await threads.open("c", { agent: "shop" });
    await world.sql("update threads set claims = 3 returning 1");

    const sent = thread.send("Hello?");
    const reading = collect(sent.stream()).catch((thrown: unknown) => thrown);
    const thrown = await sent.catch((error: unknown) => error);

    expect(thrown).toMatchObject({ code: "thread_stuck" });
    expect(await reading).toBe(thrown);
  });

  it("ends when its reader has had enough, and the send goes on", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });
    const enough = new AbortController();

    const sent = thread.send("Tell me");
    const reading = collect(sent.stream({ signal: enough.signal }));
    const leaving = reader(sent.stream());
    const call = await asked();
    await leaving.next("step.started");
    await leaving.close();
    enough.abort();
    expect((await reading).map(({ type }) => type)).not.toContain("run.ended");
    expect(await collect(sent.stream({ signal: enough.signal }))).toEqual([]);
    call.answer("Hi.");

    expect(await sent).toMatchObject({ status: "completed" });
    expect(getEventListeners(enough.signal, "abort")).toEqual([]);
  });

  it("listens only while somebody reads", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const opened = await threads.open("c", { agent: "talker" });
    const { thread, listening } = await watchedHandle(world, opened);

    const sent = thread.send("Tell me");
    sent.stream();
    sent.stream()[Symbol.asyncIterator]();
    const call = await asked();
    // The send itself waits for the run's end.
    expect(listening()).toEqual({ watching: 1, listening: 0 });
    const reading = reader(sent.stream());
    await reading.next("step.started");
    expect(listening()).toEqual({ watching: 2, listening: 1 });
    await reading.close();
    expect(listening()).toEqual({ watching: 1, listening: 0 });
    call.answer("Hi.");
    await sent;
    await collect(sent.stream());
    await expect(throwing(sent.stream())).rejects.toThrow("enough");

    expect(listening()).toEqual({ watching: 0, listening: 0 });
  });
});

onPostgres((newWorld) => {
  it("is told by a process that does not run the thread", async () => {
    const world = await newWorld();
    const model = scriptedModel([calls(says("Let me look."), callsTool("shop/peek")), says("It is there.")]);
    const shop = agent({ slug: "shop", model, tools: [peek] });
    await world.open(shop);
    const there = await world.open(shop, { runs: false });
    const thread = await there.threads.open("c", { agent: "shop" });

    const sent = thread.send("Look");
    const events = await collect(sent.stream());

    expect(events[0]).toMatchObject({ type: "message.added", message: { content: "Look" } });
    expect(events.at(-1)).toMatchObject({ type: "run.ended" });
    expect(wordsIn(events)).toBe("Let me look.It is there.");
    expect(await sent).toMatchObject({ final_content: "It is there." });
  });
});

async function throwing(events: AsyncIterable<StreamEvent>): Promise<void> {
  for await (const _event of events) throw new Error("enough");
}
