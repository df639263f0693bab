// A thread can be gone on from at any settled step, and its messages changed; nothing that was written is ever lost, and
// whoever changes it past the runtime is found out.
import { expect, it } from "vitest";
import type { Message } from "../src/contracts/conversation/message.ts";
import { calls, callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { firstBrokenEvent } from "../src/threads/export.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { eachDatabase } from "./databases.ts";
import { heldModel, heldTool, inShort } from "./held.ts";

async function history(thread: ThreadHandle): Promise<readonly string[]> {
  return inShort((await thread.messages()).map(({ message }) => message));
}

/** Says what it is shown. */
const mirror = agent({
  slug: "mirror",
  model: (messages: Message[]) => says(`[${messages.map(({ content }) => content).join(" | ")}]`),
});

const peek = tool({ name: "shop/peek", description: "Looks.", execute: (_input, context) => context.idempotencyKey });

eachDatabase((newWorld) => {
  it("forks at the last settled step: the same history, and from there on another", async () => {
    const world = await newWorld();
    const { threads } = await world.open(mirror);
    const thread = await threads.open("c", { agent: "mirror" });
    await thread.send("one");
    const before = await thread.export();

    const fork = await thread.fork("c, otherwise");
    expect(await history(fork)).toEqual(await history(thread));
    expect(await fork.status()).toMatchObject({ status: "idle", key: "c, otherwise", agent: "mirror", run: 0 });
    expect(await fork.send("two")).toMatchObject({ final_content: "[one | [one] | two]" });

    expect(await thread.export()).toEqual(before);
    expect(await history(thread)).toHaveLength(2);
    expect(await thread.send("three")).toMatchObject({ final_content: "[one | [one] | three]" });
    expect(await history(fork)).toHaveLength(4);
  });

  it("forks at an earlier event, at the last settled step that is not after it", async () => {
    const world = await newWorld();
    const model = scriptedModel([callsTool("shop/peek"), says("Seen."), says("More."), says("Other.")]);
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [peek] }));
    const thread = await threads.open("c", { agent: "shop" });
    await thread.send("Look");
    await thread.send("More");
    const { events } = await thread.export();

    for (const { seq } of events) {
      const fork = await thread.fork(`fork ${seq}`, { at: seq });
      const settled = events.findLast((event) => event.settled && event.seq <= seq);
      expect(await fork.status()).toMatchObject({ next_message: settled?.messages_to, steps: settled?.step });
      const lines = await history(fork);
      expect(lines.filter((line) => line.startsWith("call"))).toHaveLength(
        lines.filter((line) => line.startsWith("result")).length,
      );
      expect(firstBrokenEvent(await fork.export())).toBeUndefined();
    }
    const [begun] = events.filter(({ settled }) => !settled);
    expect(begun).toBeDefined();
    // A fork goes on with the answer that comes next in its own history.
    const early = await thread.fork("early", { at: 0 });
    expect(await early.continue()).toMatchObject({ status: "completed", final_content: "Seen." });
  });

  it.each(["edit", "deletion", "settlement"] as const)(
    "leaves a call alone that is open while something else was changed: %s",
    async (change) => {
      const world = await newWorld();
      const { model, next: asked } = heldModel();
      const { tool: pay, next: paying } = heldTool({ name: "shop/pay" });
      const ask = tool({ name: "client/ask", description: "Asks." });
      const holdfast = await world.open(agent({ slug: "shop", model, tools: [pay, ask] }));
      const thread = await holdfast.threads.open("c", { agent: "shop" });
      const first = thread.send("Pay");
      (await asked()).answer(callsTool("shop/pay"));
      await paying();
      await thread.stop();
      await first;
      const [unknown] = await thread.calls();
      if (!unknown) throw new Error("Nothing was called.");
      if (change === "edit") await thread.editMessage(0, "Pay now");
      if (change === "deletion") await thread.deleteMessage(0);
      if (change === "settlement") await holdfast.calls.settle(unknown, "paid");
      await thread.wait();

      const second = thread.send("Ask");
      (await asked()).answer(callsTool("client/ask"));
      const { waiting_for } = await second;
      await holdfast.requests.submit(waiting_for?.request_id ?? "", { result: "blue" });
      const { shown, answer } = await asked();
      answer("Blue, then.");

      expect(shown.slice(-3)).toEqual(["user: Ask", "call client/ask", 'result client/ask: "blue"']);
      expect(shown.filter((line) => line.includes("shop/pay"))).toEqual([
        ...["call shop/pay", `result shop/pay: ${change === "settlement" ? '"paid"' : "outcome_unknown"}`],
      ]);
      expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Blue, then." });
    },
  );

  it("refuses a fork where nothing is settled yet", async () => {
    const world = await newWorld();
    const { tool: pay, next: paying } = heldTool({ name: "shop/pay" });
    const { threads } = await world.open(agent({ slug: "shop", model: scriptedModel([says("Paid.")]), tools: [pay] }));
    const thread = await threads.open("c", { agent: "shop" });

    await expect(thread.fork("too early")).rejects.toMatchObject({ code: "fork_not_settled" });
    await thread.queueTool("shop/pay");
    const call = await paying();
    await expect(thread.fork("too early")).rejects.toMatchObject({ code: "fork_not_settled" });
    expect(await threads.list()).toHaveLength(1);
    call.answer("paid");
    await thread.wait();

    await expect(thread.fork("too early", { at: 0 })).rejects.toMatchObject({ code: "fork_not_settled" });
    const { next_seq } = await thread.status();
    await expect(thread.fork("too late", { at: next_seq })).rejects.toMatchObject({ code: "fork_not_settled" });
    await expect(thread.fork("too early", { at: -1 })).rejects.toMatchObject({ code: "invalid_argument" });
    expect(await history(await thread.fork("now"))).toHaveLength(3);
  });

  it("gives the same fork for the same key, and none for the key of another thread", async () => {
    const world = await newWorld();
    const { threads } = await world.open(mirror);
    const thread = await threads.open("c", { agent: "mirror" });
    const other = await threads.open("d", { agent: "mirror" });
    await thread.send("one");
    await other.send("two");

    const forks = await Promise.all([1, 2, 3].map(() => thread.fork("fork")));
    await thread.send("three");
    forks.push(await thread.fork("fork"));

    expect(new Set(forks.map(({ id }) => id)).size).toBe(1);
    expect(await history(forks[0] as ThreadHandle)).toHaveLength(2);
    await expect(thread.fork("d")).rejects.toMatchObject({ code: "thread_key_taken" });
    await expect(other.fork("fork")).rejects.toMatchObject({ code: "thread_key_taken" });
    await expect(thread.fork("c")).rejects.toMatchObject({ code: "thread_key_taken" });
  });

  it("forks a thread in the middle of its tools at the step before them", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { tool: pay, next: paying } = heldTool({ name: "shop/pay" });
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [pay, peek] }));
    const thread = await threads.open("c", { agent: "shop" });

    const sent = thread.send("Look and pay");
    (await asked()).answer(calls(callsTool("shop/peek"), callsTool("shop/pay")));
    const call = await paying();
    const fork = await thread.fork("fork");
    const queued = await thread.queueTool("shop/peek");
    expect(await history(fork)).toEqual(["user: Look and pay"]);
    const continued = fork.continue();
    const other = await asked();
    expect(other.shown).toEqual(["user: Look and pay"]);
    other.answer("No.");

    expect(await continued).toMatchObject({ status: "completed", final_content: "No." });
    expect(await thread.cancelQueued(queued.id)).toBe(true);
    call.answer("paid");
    (await asked()).answer("Paid.");
    expect(await sent).toMatchObject({ final_content: "Paid." });
    expect(await fork.calls()).toEqual([]);
  });

  it("does not fork a thread's queue, its stop, or what it waits for", async () => {
    const world = await newWorld();
    const ask = tool({ name: "client/ask", description: "Asks the client." });
    const model = scriptedModel([says("One."), callsTool("client/ask"), says("Two.")]);
    const { threads, requests } = await world.open(agent({ slug: "shop", model, tools: [ask] }));
    const thread = await threads.open("c", { agent: "shop" });
    await thread.send("one");
    await thread.send("ask");
    await thread.queueMessage("queued");

    const parked = await thread.fork("while it waits");
    expect(await parked.wait()).toBeUndefined();
    expect(await history(parked)).toEqual(["user: one", "assistant: One.", "user: ask"]);
    expect(await requests.list({ thread: parked.id })).toEqual([]);
    await thread.stop();
    const stopped = await thread.fork("while it is stopped");
    expect(await stopped.status()).toMatchObject({ status: "idle" });
    expect(await stopped.send("Go")).toMatchObject({ status: "completed", final_content: "Two." });
    expect(await history(thread)).not.toContain("user: Go");
  });

  it("runs the tools of a fork under keys of their own", async () => {
    const world = await newWorld();
    const model = scriptedModel([says("Ready."), callsTool("shop/peek"), says("Seen.")]);
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [peek] }));
    const thread = await threads.open("c", { agent: "shop" });
    await thread.send("Hello");
    const forks = [await thread.fork("one"), await thread.fork("two")];

    const keys = new Set<string>();
    for (const each of [thread, ...forks]) {
      await each.send("Look");
      for (const { idempotency_key } of await each.calls()) keys.add(idempotency_key);
    }

    expect(keys.size).toBe(3);
  });

  it("shows models the new version of an edited message, and keeps the old one on record", async () => {
    const world = await newWorld();
    const { threads } = await world.open(mirror);
    const thread = await threads.open("c", { agent: "mirror" });
    await thread.send("My card is 4242");

    await thread.editMessage(0, "My card is hidden", { key: "e" });
    await thread.editMessage(0, "My card is hidden", { key: "e" });
    await thread.editMessage(1, { role: "assistant", content: "Noted." });
    await thread.wait();

    expect(await history(thread)).toEqual(["user: My card is hidden", "assistant: Noted."]);
    expect(await thread.send("And?")).toMatchObject({ final_content: "[My card is hidden | Noted. | And?]" });
    const { messages, events } = await thread.export();
    expect(messages.map(({ kind }) => kind).filter((kind) => kind === "edit")).toHaveLength(2);
    expect(messages[0]?.envelope).toContain("4242");
    expect(events.some(({ notes }) => notes?.includes("message_edited"))).toBe(true);
    expect(firstBrokenEvent(await thread.export())).toBeUndefined();
    // The last version counts.
    await thread.editMessage(0, "My card is gone");
    expect(await thread.send("And now?")).toMatchObject({ final_content: expect.stringMatching(/^\[My card is gone/) });
  });

  it("shows models nothing of a deleted message, and keeps it on record", async () => {
    const world = await newWorld();
    const { threads } = await world.open(mirror);
    const thread = await threads.open("c", { agent: "mirror" });
    await thread.send("A secret");

    await thread.deleteMessage(0);
    await thread.deleteMessage(1);
    await thread.wait();

    expect(await history(thread)).toEqual([]);
    expect(await thread.send("Hello")).toMatchObject({ final_content: "[Hello]" });
    expect((await thread.export()).messages[0]?.envelope).toContain("A secret");
    await expect(thread.deleteMessage(99)).rejects.toMatchObject({ code: "message_not_found" });
    await expect(thread.editMessage(99, "x")).rejects.toMatchObject({ code: "message_not_found" });
  });

  it("shows models neither half of a call of which one half was deleted", async () => {
    const world = await newWorld();
    const { model, next: asked } = heldModel();
    const { threads } = await world.open(agent({ slug: "shop", model, tools: [peek] }));
    const thread = await threads.open("c", { agent: "shop" });
    const sent = thread.send("Look twice");
    (await asked()).answer(calls(callsTool("shop/peek", { n: 1 }), callsTool("shop/peek", { n: 2 })));
    (await asked()).answer("Seen.");
    await sent;
    const rows = await thread.messages();
    const [firstCall] = rows.filter(({ message }) => message.type === "tool_call");
    const results = rows.filter(({ message }) => message.type === "tool_result");

    await thread.deleteMessage(results[1]?.seq ?? -1);
    const again = thread.send("And?");
    const request = await asked();
    request.answer("Once.");
    await again;

    expect(request.shown.map((line) => line.split(":")[0])).toEqual([
      ...["user", "call shop/peek", "result shop/peek", "assistant", "user"],
    ]);
    expect(request.messages[1]?.metadata.tool_call_id).toBe(firstCall?.message.metadata.tool_call_id);
    // Without its call, the other result goes too.
    await thread.deleteMessage(firstCall?.seq ?? -1);
    const last = thread.send("And now?");
    const without = await asked();
    without.answer("Never.");
    await last;
    expect(without.shown).toEqual([
      ...["user: Look twice", "assistant: Seen.", "user: And?", "assistant: Once.", "user: And now?"],
    ]);
  });

  it.each(["early", "late"])(
    "changes messages only between runs, and then without being told again: %s",
    async (when) => {
      const world = await newWorld();
      const { model, next: asked } = heldModel();
      const { threads } = await world.open(agent({ slug: "shop", model, tools: [peek] }));
      const thread = await threads.open("c", { agent: "shop" });

      const sent = thread.send("Hello");
      const first = await asked();
      if (when === "early") await thread.editMessage(0, "Good day");
      first.answer(callsTool("shop/peek"));
      const second = await asked();
      expect(second.shown[0]).toBe("user: Hello");
      if (when === "late") await thread.editMessage(0, "Good day");
      second.answer("Hi.");
      await sent;
      await thread.wait();

      expect((await history(thread))[0]).toBe("user: Good day");
      expect(await thread.runs()).toHaveLength(1);
    },
  );

  it("forks what was edited as it is now", async () => {
    const world = await newWorld();
    const { threads } = await world.open(mirror);
    const thread = await threads.open("c", { agent: "mirror" });
    await thread.send("one");
    await thread.editMessage(0, "1");
    await thread.wait();

    const fork = await thread.fork("fork");

    expect(await fork.send("two")).toMatchObject({ final_content: "[1 | [one] | two]" });
    expect(firstBrokenEvent(await fork.export())).toBeUndefined();
  });

  it("exports everything, in a form that outlives this process", async () => {
    const world = await newWorld();
    const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });
    const model = scriptedModel([callsTool("shop/pay", { cents: 5 }), says("Paid.")]);
    const { threads, requests } = await world.open(agent({ slug: "shop", model, tools: [pay] }));
    const thread = await threads.open("c", { agent: "shop" });
    const { waiting_for } = await thread.send("Pay");
    await requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });
    await thread.wait();

    const exported = await thread.export();
    const stored = async (table: string) => Number((await world.sql(`select count(*) as n from ${table}`))[0]?.n);

    expect(exported).toMatchObject({ schema: "holdfast.thread-export", version: 1, thread: { id: thread.id } });
    for (const table of ["messages", "events", "runs", "calls", "requests"] as const) {
      expect(exported[table]).toHaveLength(await stored(table));
      expect(exported[table].length).toBeGreaterThan(0);
    }
    const read = JSON.parse(JSON.stringify(exported));
    expect(read).toEqual(exported);
    expect(firstBrokenEvent(read)).toBeUndefined();
  });

  it("finds the first event that somebody changed, added or removed past the runtime", async () => {
    const world = await newWorld();
    const { threads } = await world.open(mirror);
    const thread = await threads.open("c", { agent: "mirror" });
    await thread.send("one");
    await thread.send("two");
    const { events } = await thread.export();
    const middle = events.findIndex(({ messages_from, messages_to }) => messages_from <= 1 && messages_to > 1);
    const last = events.length - 1;
    const broken = async () => firstBrokenEvent(await thread.export());
    expect(await broken()).toBeUndefined();

    const damages = [
      // A changed record, note, or order of events.
      {
        table: "events",
        change: `update events set records = replace(records, 'model', 'modem') where seq = 1`,
        at: 1,
      },
      { table: "events", change: `update events set notes = '[]' where seq = ${last}`, at: last },
      { table: "events", change: `update events set run = 7 where seq = ${last}`, at: last },
      // A changed message, and a changed message whose own hash was made to fit.
      {
        table: "messages",
        change: `update messages set envelope = replace(envelope, 'one', 'six') where seq = 1`,
        at: middle,
      },
      { table: "messages", change: `update messages set hash = 'other' where seq = 1`, at: middle },
      { table: "messages", change: `delete from messages where seq = 1`, at: middle },
      // A message that was made to be something else, or to stand for another.
      { table: "messages", change: "update messages set kind = 'deletion', supersedes = 0 where seq = 1", at: middle },
      // A removed event: in the middle, the first, the last.
      { table: "events", change: `delete from events where seq = 1`, at: 2 },
      { table: "events", change: `delete from events where seq = 0`, at: 1 },
      { table: "events", change: `delete from events where seq = ${last}`, at: last },
    ];
    for (const { table, change, at } of damages) {
      await world.sql(`create table kept as select * from ${table}`);
      await world.sql(change);
      expect(await broken(), change).toBe(at);
      await world.sql(`delete from ${table}`);
      await world.sql(`insert into ${table} select * from kept`);
      await world.sql("drop table kept");
      expect(await broken()).toBeUndefined();
    }
  });
});
