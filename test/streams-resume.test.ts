// A reader that comes back with the last id it has seen misses nothing and sees nothing twice; text in flight goes on
// where it was, and no reader slows a run.
import { expect, it } from "vitest";
import { calls, callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { createLiveAnswer } from "../src/threads/stream/live-answer.ts";
import type { LiveEvent, StreamEvent } from "../src/threads/stream/stream.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase, onPostgres } from "./databases.ts";
import { collect, committed, isCommitted, reader } from "./following.ts";
import { heldModel, inShort } from "./held.ts";
import { watchedHandle } from "./watched-handle.ts";

const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => "seen" });
const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });

/** Text of an answer comes after what was committed before the model was asked for it, and before the answer. */
function expectTextInPlace(events: readonly StreamEvent[]): void {
  let step = 0;
  for (const event of events) {
    if (event.type === "text.delta") expect(event.step).toBe(step);
    else if (isCommitted(event)) step = event.step;
  }
}

eachDatabase((newWorld) => {
  it("tells of everything that was committed, under ids that only grow", async () => {
    const world = await newWorld();
    const model = scriptedModel([calls(says("Let me look."), callsTool("shop/peek")), says("It is there.")]);
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [peek] }));
    const thread = await threads.open("c", { agent: "shop" });

    await thread.send("Look");
    const events = await committed(thread);

    const places = events.map(({ id }) => id.split(".").map(Number));
    expect(places).toEqual(places.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d));
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    const told = events.filter(({ type }) => type !== "note").map(({ type }) => type);
    expect(told.filter((type) => type !== "message.added")).toEqual([
      ...["run.started", "step.started", "call.begun", "call.settled", "step.started", "run.ended"],
    ]);
    const messages = events.flatMap((event) => (event.type === "message.added" ? [event.message] : []));
    expect(inShort(messages)).toEqual(inShort((await thread.messages()).map(({ message }) => message)));
  });

  it("gives whoever comes back after any event exactly the rest", async () => {
    const world = await newWorld();
    const model = scriptedModel([callsTool("shop/peek"), callsTool("shop/pay"), says("Paid."), says("Yes.")]);
    const { threads, requests } = await world.open(agent({ slug: "shop", model, tools: [peek, pay] }));
    const thread = await threads.open("c", { agent: "shop" });
    const { waiting_for } = await thread.send("Look and pay");
    await requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });
    await thread.wait();
    await thread.send("Sure?");
    await thread.editMessage(0, "Look only");
    await thread.wait();

    const events = await committed(thread);
    const ended = new AbortController();

    expect(events.map(({ type }) => type)).toContain("message.superseded");
    for (const [index, { id }] of events.entries()) {
      const rest: StreamEvent[] = [];
      if (index < events.length - 1) {
        for await (const event of thread.stream({ after: id, signal: ended.signal })) {
          rest.push(event);
          if (rest.length === events.length - 1 - index) break;
        }
      }
      expect(rest).toEqual(events.slice(index + 1));
    }
    await expect(collect(thread.stream({ after: "yesterday" }))).rejects.toMatchObject({
      code: "invalid_stream_position",
    });
  });

  it("tells of text as it is said, before the message that it becomes", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });

    const reading = collect(thread.stream({ untilRest: true }));
    const sent = thread.send("Tell me");
    const first = await asked();
    const words = ["Once ", "upon ", "a ", "time."];
    for (const word of words) {
      first.say(word);
      await new Promise(setImmediate);
    }
    first.answer(words.join(""));
    await sent;
    const events = await reading;

    const deltas = events.filter((event) => event.type === "text.delta");
    expect(deltas.map(({ text }) => text).join("")).toBe("Once upon a time.");
    let offset = 0;
    for (const delta of deltas) {
      expect(delta).toMatchObject({ step: 0, offset });
      offset += delta.text.length;
    }
    const answered = events.findIndex((event) => event.type === "message.added" && event.message.role === "assistant");
    expect(events.findLastIndex(({ type }) => type === "text.delta")).toBeLessThan(answered);
    expect(events.at(-1)?.type).not.toBe("text.delta");
  });

  it("streams every answer of a run in its place, however fast it comes", async () => {
    const world = await newWorld();
    const words = "One two three four five six seven eight nine ten.";
    const model = scriptedModel([calls(says(words), callsTool("shop/peek")), says(words), says(words)]);
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [peek] }));
    const thread = await threads.open("c", { agent: "shop" });
    const ended = new AbortController();
    const events: StreamEvent[] = [];
    const reading = (async () => {
      for await (const event of thread.stream({ signal: ended.signal })) events.push(event);
    })();

    await thread.send("Go");
    await thread.send("Again");
    const last = (await committed(thread)).at(-1)?.id;
    while (!events.some((event) => isCommitted(event) && event.id === last)) await new Promise(setImmediate);
    ended.abort();
    await reading;

    expectTextInPlace(events);
    expect(events.filter(({ type }) => type === "text.delta").length).toBeGreaterThan(0);
  });

  it("gives a reader that joins in the middle of an answer the text so far", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });

    const sent = thread.send("Tell me");
    const first = await asked();
    first.say("Once upon ");
    first.say("a time");
    const late = reader(thread.stream());
    expect(await late.next("text.delta")).toMatchObject({ step: 0, offset: 0, text: "Once upon a time" });
    first.say(" there was");
    expect(await late.next("text.delta")).toMatchObject({ step: 0, offset: 16, text: " there was" });
    first.answer("Once upon a time there was");
    await sent;
    await late.next("run.ended");
    await late.close();
  });

  it("gives a reader that was slow the rest of the text, before the message that it has become", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });

    const slow = reader(thread.stream());
    const sent = thread.send("Tell me");
    const first = await asked();
    first.say("Once upon ");
    await slow.next("text.delta");
    first.say("a time");
    first.answer("Once upon a time");
    await sent;

    expect(await slow.next("text.delta", "message.added")).toMatchObject({ offset: 10, text: "a time" });
    expect(await slow.next("text.delta", "message.added")).toMatchObject({ message: { content: "Once upon a time" } });
    await slow.close();
  });

  it("goes on within the text for a reader that says where it was", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });

    const sent = thread.send("Tell me");
    const first = await asked();
    first.say("Once upon ");
    const before = reader(thread.stream());
    const started = await before.next("step.started");
    const seen = await before.next("text.delta");
    await before.close();
    first.say("a time");
    if (!isCommitted(started) || seen.type !== "text.delta") throw new Error("Something else was told.");
    const { step, attempt, text } = seen;
    const after = reader(thread.stream({ after: started.id, live: { step, attempt, offset: text.length } }));
    expect(await after.next("text.delta")).toEqual({ type: "text.delta", step, attempt, offset: 10, text: "a time" });
    first.answer("Once upon a time");
    await sent;
    await after.close();
  });

  it("says that an answer is begun anew, so that what was said before is forgotten", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model, retry: { backoffMs: 1 } }));
    const thread = await threads.open("c", { agent: "talker" });

    const reading = reader(thread.stream());
    const sent = thread.send("Tell me");
    const first = await asked();
    first.say("Once upon");
    const before = (await reading.next("text.delta")) as LiveEvent;
    first.fail(Object.assign(new Error("Overloaded"), { status: 529 }));
    const second = await asked();
    second.say("There was");
    const restarted = (await reading.next("step.restarted", "text.delta")) as LiveEvent;
    expect(restarted).toMatchObject({ type: "step.restarted", step: 0 });
    expect(restarted.attempt).toBeGreaterThan(before.attempt);
    expect(await reading.next("text.delta")).toMatchObject({ offset: 0, text: "There was" });
    second.answer("There was a king.");

    expect(await sent).toMatchObject({ final_content: "There was a king." });
    await reading.close();
  });

  it("tells of a whole answer also when it follows at once upon one that was stopped", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    let stopping: Promise<unknown> | undefined;
    const { threads } = await world.open(agent({ slug: "talker", model }), {
      // The next message is there before the run has ended, so that it is taken in without laying the thread down.
      async onPoint(point) {
        if (stopping && point === "after effect call_model") await world.untilLeft(thread.id, 3);
      },
    });
    const thread = await threads.open("c", { agent: "talker" });

    const reading = reader(thread.stream());
    const sent = thread.send("Tell me");
    (await asked()).say("Once upon a time");
    await reading.next("text.delta");
    stopping = thread.stop();
    await world.untilLeft(thread.id, 2);
    const again = thread.send("Something else");
    const second = await asked();
    second.say("There was");
    await reading.next("run.started");
    expect(await reading.next("text.delta")).toMatchObject({ offset: 0, text: "There was" });
    second.answer("There was a king.");

    await Promise.all([sent, stopping, again]);
    await reading.close();
  });

  it("tells nothing of an answer again that was committed while its reader was away", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });

    const sent = thread.send("Tell me");
    const first = await asked();
    first.say("Once upon ");
    const before = reader(thread.stream());
    const started = await before.next("step.started");
    const seen = await before.next("text.delta");
    await before.close();
    first.answer("Once upon a time");
    await sent;
    if (!isCommitted(started) || seen.type !== "text.delta") throw new Error("Something else was told.");
    const { step, attempt, text } = seen;
    const live = { step, attempt, offset: text.length };
    const rest = await collect(thread.stream({ after: started.id, live, untilRest: true }));

    expect(rest.map(({ type }) => type)).toEqual(["message.added", "run.ended"]);
    // What comes next is another answer, and not this one begun anew.
    const following = reader(thread.stream({ after: started.id, live }));
    const again = thread.send("And then?");
    (await asked()).say("They lived");
    expect(await following.next("text.delta", "step.restarted")).toMatchObject({
      type: "text.delta",
      step: 1,
      offset: 0,
    });
    await following.close();
    await thread.stop();
    await again;
  });

  it("tells nothing of what was written down of an answer that is committed by now", async () => {
    const world = await newWorld();
    const { threads } = await world.open(agent({ slug: "parrot", model: () => says("Yes.") }));
    const opened = await threads.open("c", { agent: "parrot" });
    await opened.send("Is that so?");
    const { thread, liveTexts } = await watchedHandle(world, opened);
    const following = reader(thread.stream());
    await following.next("run.ended");
    const { next_seq } = await thread.status();
    function say(commit: number, step: number, text: string): void {
      const live = createLiveAnswer({ thread_id: thread.id, step, attempt: commit + 9, commit }, {});
      live.add({ type: "text", text });
      liveTexts.say(live.text);
    }

    const next = following.next();
    // Left behind by a process that died.
    say(next_seq - 1, 0, "No");
    await Promise.race([next, thread.export()]);
    say(next_seq, 1, "Perhaps");

    expect(await next).toMatchObject({ type: "text.delta", step: 1, text: "Perhaps" });
    await following.close();
  });

  it("tells what was said of a stopped answer before the message that is kept of it, and never after", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });

    const slow = reader(thread.stream());
    const sent = thread.send("Tell me");
    const first = await asked();
    first.say("Once upon ");
    await slow.next("text.delta");
    first.say("a time");
    await Promise.all([thread.stop(), sent]);
    first.say(", and so on");

    expect(await slow.next("text.delta", "message.added")).toMatchObject({ offset: 10, text: "a time" });
    expect(await slow.next()).toMatchObject({ type: "message.added", message: { content: "Once upon a time" } });
    await slow.next("run.ended");
    const again = thread.send("Go on");
    (await asked()).answer("No.");
    await again;
    const told = [await slow.next("text.delta", "step.restarted"), await slow.next("text.delta", "message.added")];
    expect(told).toMatchObject([{ text: "No.", offset: 0 }, { message: { content: "No." } }]);
    await slow.close();
  });

  it("tells the words of an answer also when the model gave them all at once", async () => {
    const world = await newWorld();
    const { threads } = await world.open(agent({ slug: "parrot", model: () => says("Yes.") }));
    const thread = await threads.open("c", { agent: "parrot" });
    await thread.send("Is that so?");
    const following = reader(thread.stream());
    await following.next("run.ended");

    const sent = thread.send("And that?");
    const told = [await following.next("text.delta"), await following.next()];

    expect(told).toMatchObject([
      { type: "text.delta", step: 1, offset: 0, text: "Yes." },
      { type: "message.added", message: { content: "Yes." } },
    ]);
    await sent;
    await following.close();
    // What was over before somebody came is told by its messages alone.
    expect((await collect(thread.stream({ untilRest: true }))).every(isCommitted)).toBe(true);
  });

  it("begins now for whoever has no use for what was before", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });

    const sent = thread.send("Tell me");
    const first = await asked();
    first.say("Once upon ");
    const now = reader(thread.stream({ after: "now" }));
    expect(await now.next()).toMatchObject({ type: "text.delta", offset: 0, text: "Once upon " });
    first.answer("Once upon a time");
    expect(await now.next()).toMatchObject({ type: "text.delta", offset: 10, text: "a time" });
    expect(await now.next()).toMatchObject({ type: "message.added", message: { content: "Once upon a time" } });
    await sent;
    await now.close();
  });

  it("refuses a place in the text that is none", async () => {
    const world = await newWorld();
    const { threads } = await world.open(agent({ slug: "parrot", model: () => says("Yes.") }));
    const thread = await threads.open("c", { agent: "parrot" });

    const live = { step: 0, attempt: 1, offset: -1 };
    await expect(collect(thread.stream({ live }))).rejects.toMatchObject({ code: "invalid_stream_position" });
  });

  it("ends at rest: when a run has ended, or waits for somebody", async () => {
    const world = await newWorld();
    const model = scriptedModel([callsTool("shop/pay"), says("Paid.")]);
    const { threads, requests } = await world.open(agent({ slug: "shop", model, tools: [pay] }));
    const thread = await threads.open("c", { agent: "shop" });

    const reading = committed(thread);
    const { waiting_for } = await thread.send("Pay");
    const first = await reading;
    expect(first.map(({ type }) => type)).toContain("request.created");
    expect(first.map(({ type }) => type)).not.toContain("run.ended");
    const more = committed(thread, { after: first.at(-1)?.id ?? "" });
    await requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });

    expect((await more).map(({ type }) => type)).toContain("run.ended");
    // Also for whoever comes when everything is over, and when something was changed since.
    await thread.editMessage(0, "Pay less");
    await thread.wait();
    expect((await committed(thread)).map(({ type }) => type)).toContain("run.ended");
  });

  it("goes on after an answer that was submitted and that nobody has looked at yet", async () => {
    const world = await newWorld();
    const model = scriptedModel([callsTool("shop/pay"), says("Paid.")]);
    let isSubmitted = false;
    const release = Promise.withResolvers<void>();
    const { threads, requests } = await world.open(agent({ slug: "shop", model, tools: [pay] }), {
      // Nothing is done for the thread until the reader has come to where it waits.
      onPoint: async (point) => void (point === "after claim" && isSubmitted && (await release.promise)),
    });
    const thread = await threads.open("c", { agent: "shop" });
    const { waiting_for } = await thread.send("Pay");
    isSubmitted = true;
    await requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });

    const reading = reader(thread.stream({ untilRest: true }));
    await reading.next("request.created");
    const ended = reading.next("run.ended");
    // A stream that ends here does so before this.
    await Promise.race([ended, thread.export()]);
    release.resolve();

    expect(await ended).toMatchObject({ type: "run.ended" });
  });

  it("ends with an error when the thread gets stuck, and for whoever comes afterwards", async () => {
    const world = await newWorld();
    const { threads } = await world.open(agent({ slug: "shop", model: scriptedModel([says("Hi.")]) }));
    const thread = await threads.open("c", { agent: "shop" });
    const stuck = { code: "thread_stuck" };
    const reading = expect(committed(thread)).rejects.toMatchObject(stuck);
    await world.sql("update threads set claims = 3 returning 1");

    await thread.queueMessage("Hello?");

    await reading;
    await expect(committed(thread)).rejects.toMatchObject(stuck);
  });

  it("follows from one run into the next that is already due", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });

    const reading = committed(thread);
    const sent = thread.send("Hello");
    const first = await asked();
    await thread.queueMessage("And?");
    first.answer("Hi.");
    (await asked()).answer("That is all.");
    await sent;

    expect((await reading).filter(({ type }) => type === "run.ended")).toHaveLength(2);
  });

  it("ends when its reader has had enough, at any time", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });
    const idle = new AbortController();
    const busy = new AbortController();

    const waiting = collect(thread.stream({ signal: idle.signal }));
    idle.abort();
    expect(await waiting).toEqual([]);
    expect(await collect(thread.stream({ signal: idle.signal }))).toEqual([]);
    const reading = collect(thread.stream({ signal: busy.signal }));
    const sent = thread.send("Hello");
    const first = await asked();
    busy.abort();
    expect((await reading).some(({ type }) => type === "run.ended")).toBe(false);
    first.answer("Hi.");

    expect(await sent).toMatchObject({ status: "completed" });
  });

  it("slows nobody when a reader does not read", async () => {
    const world = await newWorld();
    const model = scriptedModel(Array.from({ length: 6 }, (_, index) => says(`Answer ${index}. `.repeat(500))));
    const { threads } = await world.open(agent({ slug: "talker", model }));
    const thread = await threads.open("c", { agent: "talker" });
    const idle = thread.stream()[Symbol.asyncIterator]();

    const sent = thread.send("Hello");
    await idle.next();
    await sent;
    for (let index = 1; index < 5; index++) expect(await thread.send("Go on")).toMatchObject({ completed: true });

    // What was committed is still there for it; what was said meanwhile has become messages.
    const last = (await committed(thread)).at(-1)?.id;
    const rest: StreamEvent[] = [];
    for (let isRead = false; !isRead; ) {
      const { value } = await idle.next();
      rest.push(value);
      isRead = value.id === last;
    }
    const next = thread.send("And now");
    rest.push((await idle.next()).value);
    await next;
    await idle.return?.();
    expect(rest.filter(({ type }) => type === "message.added")).toHaveLength(10);
    expectTextInPlace(rest);
    expect(rest.at(-1)).toMatchObject({ type: "run.started", run: 6 });
  });

  it("reads long threads in pages, and misses nothing at their edges", async () => {
    const world = await newWorld();
    const parrot = agent({ slug: "parrot", model: () => says("Yes.") });
    const { threads } = await world.open(parrot, { verifies: false });
    const thread = await threads.open("c", { agent: "parrot" });
    for (let index = 0; index < 110; index++) await thread.queueMessage(`message ${index}`, { key: `${index}` });
    await thread.wait();
    for (let index = 0; index < 105; index++) await thread.send("Again");

    const events = await committed(thread);
    const added = events.filter(({ type }) => type === "message.added");

    expect(added).toHaveLength((await thread.messages()).length);
    expect((await thread.status()).next_seq).toBeGreaterThan(200);
  });

  it("does not find a thread that is not there", async () => {
    const world = await newWorld();
    const { threads } = await world.open(agent({ slug: "parrot", model: () => says("Yes.") }));
    const thread = await threads.open("c", { agent: "parrot" });
    await world.sql("delete from threads");

    await expect(collect(thread.stream())).rejects.toMatchObject({ code: "thread_not_found" });
  });
});

onPostgres((newWorld) => {
  it("tells a reader in another process of what is committed and of what is being said", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const talker = agent({ slug: "talker", model });
    const here = await world.open(talker);
    const there = await world.open(talker, { runs: false });
    const thread = await here.threads.open("c", { agent: "talker" });
    const reading = reader((await there.threads.get(thread.id)).stream());

    const sent = thread.send("Tell me");
    const first = await asked();
    await reading.next("step.started");
    first.say("Once upon a time");
    expect(await reading.text(16)).toBe("Once upon a time");
    first.say(" there was a king.");
    expect(await reading.next("text.delta")).toMatchObject({ offset: 16, text: " there was a king." });
    first.answer("Once upon a time there was a king.");
    await sent;
    await reading.next("run.ended");
    await reading.close();

    expect(await world.sql("select * from live_text")).toEqual([]);
  });

  it("tells a reader in another process all the words of an answer, however fast it came", async () => {
    const world = await newWorld();
    const looks = [calls(says("Let me look."), callsTool("shop/peek")), says("It is there.")];
    const shop = agent({ slug: "shop", model: scriptedModel([says("Hi."), ...looks]), tools: [peek] });
    const here = await world.open(shop);
    const there = await world.open(shop, { runs: false });
    const thread = await here.threads.open("c", { agent: "shop" });
    await thread.send("Hello");
    const following = reader((await there.threads.get(thread.id)).stream());
    await following.next("run.ended");

    await thread.send("Look");

    const told: StreamEvent[] = [];
    while (told.at(-1)?.type !== "run.ended") told.push(await following.next());
    const said = told.flatMap((event) => {
      if (event.type === "text.delta") return [event.text];
      return event.type === "message.added" && event.message.type === "text" ? [event.message.content] : [];
    });
    expect(said).toEqual(["Look", "Let me look.", "Let me look.", "It is there.", "It is there."]);
    await following.close();
  });

  it("tells whoever joins in another process at once what was said so far", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const talker = agent({ slug: "talker", model });
    const here = await world.open(talker);
    const there = await world.open(talker, { runs: false });
    const thread = await here.threads.open("c", { agent: "talker" });
    const sent = thread.send("Tell me");
    const first = await asked();
    first.say("Once upon 🦀");
    const early = reader((await there.threads.get(thread.id)).stream());
    const seen = await early.next("text.delta");
    await early.close();
    if (seen.type !== "text.delta") throw new Error("Something else was told.");

    // In the middle of the words; the rest comes with the answer, before anything could be written down.
    const live = { step: seen.step, attempt: seen.attempt, offset: 5 };
    const back = reader((await there.threads.get(thread.id)).stream({ after: "now", live }));
    expect(await back.next()).toMatchObject({ type: "text.delta", offset: 5, text: "upon 🦀" });
    first.say(" a time");
    first.answer("Once upon 🦀 a time");
    await sent;
    expect(await back.next()).toMatchObject({ type: "text.delta", offset: 12, text: " a time" });
    expect(await back.next()).toMatchObject({ type: "message.added" });
    await back.close();
  });

  it("tells a reader in another process when an answer is begun anew", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const talker = agent({ slug: "talker", model, retry: { backoffMs: 1 } });
    const here = await world.open(talker);
    const there = await world.open(talker, { runs: false });
    const thread = await here.threads.open("c", { agent: "talker" });
    const reading = reader((await there.threads.get(thread.id)).stream());

    const sent = thread.send("Tell me");
    const first = await asked();
    first.say("Once upon");
    await reading.next("text.delta");
    first.fail(Object.assign(new Error("Overloaded"), { status: 529 }));
    const second = await asked();
    second.say("There");
    expect(await reading.next("step.restarted", "text.delta")).toMatchObject({ type: "step.restarted" });
    expect(await reading.next("text.delta")).toMatchObject({ offset: 0, text: "There" });
    second.answer("There was.");
    await sent;
    await reading.close();
  });
});
