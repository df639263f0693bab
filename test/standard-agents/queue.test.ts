// What is queued for a thread is stored before anybody is told so, is delivered once and in order, and starts what it has
// to start.
import { expect, it } from "vitest";
import { says } from "../../src/models/scripted/scripted-model.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import { tool } from "../../src/threads/tool.ts";
import { startProcess } from "../another-process.ts";
import { eachDatabase } from "../databases.ts";
import { heldModel, heldTool } from "../held.ts";
import { listed, stored } from "./listed.ts";
import { helperOf, openHelper, pairOf } from "./open-agents.ts";
import { talker } from "./talker.ts";

const look = tool({ name: "look", description: "Looks.", execute: () => "seen" });
const looks = { content: "", tool_calls: [{ name: "look", parameters: {} }] };

async function queueAll(thread: ThreadHandle, texts: readonly string[]): Promise<void> {
  for (const text of texts) await thread.queueMessage(text);
}

eachDatabase((newWorld) => {
  it("31 [Q-2, Q-3] shows all that was queued during a step in the next request, in order", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const thread = await openHelper(world, { model, tools: [look] });

    const sent = thread.send("Go");
    const first = await next();
    await queueAll(thread, ["one", "two", "three"]);
    first.answer(looks);
    const second = await next();
    second.answer("Done.");

    expect(second.shown).toEqual([
      ...["user: Go", "call look", 'result look: "seen"'],
      ...["user: one", "user: two", "user: three"],
    ]);
    expect(await sent).toMatchObject({ final_content: "Done.", run: 1 });
    expect((await thread.runs()).length).toBe(1);
  });

  it("31 [Q-2, Q-3, CTX-15] shows what was queued while a tool ran behind its result", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const { tool: slow, next: called } = heldTool({ name: "slow" });
    const thread = await openHelper(world, { model, tools: [slow] });

    const sent = thread.send("Go");
    (await next()).answer({ content: "", tool_calls: [{ name: "slow", parameters: {} }] });
    const call = await called();
    await queueAll(thread, ["one", "two"]);
    call.answer("ready");
    const second = await next();
    second.answer("Done.");
    await sent;

    expect(second.shown).toEqual([...["user: Go", "call slow", 'result slow: "ready"', "user: one", "user: two"]]);
  });

  it("32 [Q-3] starts a turn for one message that is queued on an idle thread", async () => {
    const { model, asked } = talker("Hi.");
    const thread = await openHelper(await newWorld(), { model });

    await thread.queueMessage("Hello");

    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Hi." });
    expect(asked.map(({ lines }) => lines)).toEqual([["user: Hello"]]);
  });

  it("33 [Q-1, Q-5, Q-9] delivers a message once that was queued just before the process was killed", async () => {
    const world = await newWorld();
    const dying = startProcess(world, new URL("./queueing-runtime.ts", import.meta.url).href, {
      ...{ key: "c", texts: ["one", "two"] },
    });
    expect(await dying.ended).toMatchObject({ signal: "SIGKILL" });

    const { model, asked } = talker("Here.");
    const thread = await openHelper(world, { model });

    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Here." });
    expect(asked.at(-1)?.lines.filter((line) => line.startsWith("user: "))).toEqual(["user: one", "user: two"]);
    expect((await listed(thread)).filter((line) => line.startsWith("user: "))).toEqual(["user: one", "user: two"]);
  });

  for (const when of ["before", "after"]) {
    it(`34 [Q-8] gives a message a turn of its own that is queued ${when} the last words are stored`, async () => {
      const world = await newWorld();
      const { model, asked } = talker("First.", "Second.");
      let isLate = true;
      const thread = await openHelper(
        world,
        { model },
        {
          options: {
            async onPoint(point) {
              if (!isLate || !point.startsWith(`${when} commit`) || !point.endsWith("and settle")) return;
              isLate = false;
              await thread.queueMessage("late");
            },
          },
        },
      );

      expect(await thread.send("Hello")).toMatchObject({ run: 1, final_content: "First." });

      await world.untilLeft(thread.id, 2);
      expect(await thread.wait()).toMatchObject({ run: 2, final_content: "Second." });
      expect(asked[1]?.lines).toEqual(["user: Hello", "assistant: First.", "user: late"]);
      expect(asked).toHaveLength(2);
    });
  }

  it("35 [Q-7, TERM-2] keeps what is queued on a stopped thread until a user speaks, and delivers it first", async () => {
    const world = await newWorld();
    const { model, next, count } = heldModel();
    const thread = await openHelper(world, { model });

    const sent = thread.send("Hello");
    await next();
    await thread.queueMessage("one");
    await Promise.all([thread.stop(), sent]);
    await thread.queueMessage("two");
    await thread.queueMessage({ role: "assistant", content: "three" });
    expect([(await thread.wait())?.status, (await thread.status()).status, count()]).toEqual([
      ...["interrupted", "stopped", 0],
    ]);
    const again = thread.send("Go on");
    const second = await next();
    second.answer("Gone.");

    expect(second.shown).toEqual([
      ...["user: Hello", "system: Stopped.", "user: one", "user: two", "assistant: three", "user: Go on"],
    ]);
    expect(await again).toMatchObject({ final_content: "Gone." });
    expect((await thread.status()).status).toBe("idle");
  });

  it("35 [Q-7, REC-5] stays stopped over a restart, and goes on with the queue when it is told to", async () => {
    const world = await newWorld();
    const held = heldModel();
    const first = await world.open(helperOf({ model: held.model }));
    const thread = await first.threads.open("c", { agent: "helper" });
    const sent = thread.send("Hello");
    await held.next();
    await Promise.all([thread.stop(), sent]);
    await thread.queueMessage("one");
    await first.close();

    const { model, asked } = talker("Gone.");
    const again = await openHelper(world, { model });

    expect([(await again.wait())?.status, asked.length]).toEqual(["interrupted", 0]);
    expect(await again.continue()).toMatchObject({ final_content: "Gone." });
    expect(asked[0]?.lines).toEqual(["user: Hello", "system: Stopped.", "user: one"]);
  });

  it("36 [D11] runs a tool that is queued on an idle thread, stores call and result, and shows them to the model", async () => {
    const { model, asked } = talker("I see.");
    const thread = await openHelper(await newWorld(), { model, tools: [look] });

    await thread.queueTool("look", { where: "up" });

    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "I see." });
    expect(asked.map(({ lines }) => lines)).toEqual([["call look", 'result look: "seen"']]);
    const [call, result, words, ...more] = await stored(thread);
    expect(more).toEqual([]);
    expect(call?.tool_calls).toMatchObject([{ function: { arguments: '{"where":"up"}' } }]);
    expect(result).toMatchObject({ role: "tool", tool_status: "success", tool_call_id: call?.tool_calls?.[0]?.id });
    expect(words).toMatchObject({ role: "assistant", content: "I see." });
  });

  it("36 [D11] survives a restart between the queueing of a tool and its run", async () => {
    const world = await newWorld();
    const { model, asked } = talker("I see.");
    const idle = await world.open(helperOf({ model, tools: [look] }), { runs: false });
    await (await idle.threads.open("c", { agent: "helper" })).queueTool("look");
    await idle.close();

    const thread = await openHelper(world, { model, tools: [look] });

    expect(await thread.wait()).toMatchObject({ status: "completed" });
    expect(asked.map(({ lines }) => lines)).toEqual([["call look", 'result look: "seen"']]);
  });

  it("[TOOL-8, TOOL-3] answers a queued tool that there is not with an error that the model sees", async () => {
    const { model, asked } = talker("Pity.");
    const thread = await openHelper(await newWorld(), { model, tools: [look] });

    await thread.queueTool("nowhere");

    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Pity." });
    expect((await stored(thread))[1]).toMatchObject({ role: "tool", tool_status: "error" });
    expect(asked[0]?.lines).toHaveLength(2);
  });

  it("[Q-4] lets the side act that a queued message is for: a user's is for A, an assistant's for B", async () => {
    const world = await newWorld();
    const a = talker("From A.");
    const b = talker("From B.");
    const { threads } = await world.open(pairOf({ model: a.model }, { model: b.model }, { maxSessionTurns: 1 }));
    const forA = await threads.open("a", { agent: "pair" });
    const forB = await threads.open("b", { agent: "pair" });

    await forA.queueMessage("Begin.");
    await forA.wait();
    await forB.queueMessage({ role: "assistant", content: "Begin." });
    await forB.wait();

    expect(await listed(forA)).toEqual(["user: Begin.", "assistant: From A.", "user: From B."]);
    expect(await listed(forB)).toEqual(["assistant: Begin.", "user: From B.", "assistant: From A."]);
  });

  it("[Q-4] lets the first of several queued messages decide who acts", async () => {
    const world = await newWorld();
    const a = talker("From A.");
    const b = talker("From B.");
    const pair = pairOf({ model: a.model }, { model: b.model }, { maxSessionTurns: 1 });
    const idle = await world.open(pair, { runs: false });
    const thread = await idle.threads.open("c", { agent: "pair" });
    await thread.queueMessage({ role: "assistant", content: "for B" });
    await thread.queueMessage("for A");
    await idle.close();
    const running = await (await world.open(pair)).threads.open("c", { agent: "pair" });
    await running.wait();

    expect(await listed(running)).toEqual([
      ...["assistant: for B", "user: for A", "user: From B.", "assistant: From A."],
    ]);
  });

  it("[Q-6] lists what is queued as pending until it is taken in, under the same id", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const thread = await openHelper(world, { model });

    const sent = thread.send("Hello");
    const first = await next();
    const { id } = await thread.queueMessage("later");
    await thread.queueMessage("hidden", { silent: true });
    const queued = await stored(thread);
    expect(queued.map(({ role, content, status }) => [role, content, status])).toEqual([
      ["user", "Hello", null],
      ["assistant", "", "pending"],
      ["user", "later", "pending"],
    ]);
    expect(queued.at(-1)).toMatchObject({ id, metadata: { queued: true } });
    first.answer("Hi.");
    (await next()).answer("And hi.");
    await sent;
    await thread.wait();

    const taken = (await stored(thread)).find((each) => each.id === id);
    expect(taken).toMatchObject({ content: "later", status: null });
    expect(taken?.metadata).not.toHaveProperty("queued");
    expect(await listed(thread, { includeSilent: true })).toEqual([
      ...["user: Hello", "assistant: Hi.", "user: later", "user: hidden", "assistant: And hi."],
    ]);
  });

  it("[Q-6] takes back a queued message with the files that came with it", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const thread = await openHelper(world, { model });
    const sent = thread.send("Hello");
    const first = await next();
    const state = await thread.state();
    const data = Buffer.from("secret plan").toString("base64");
    const attachments = [{ name: "plan.txt", mimeType: "text/plain", data }];
    const { id } = await state.queueMessage({ content: "with a file", attachments });
    const kept = await state.queueMessage({ content: "kept", attachments });
    expect(await state.getFileStats()).toMatchObject({ files: 2 });

    expect(await state.deleteMessage(id)).toBe(true);

    expect(await state.deleteMessage(id)).toBe(false);
    expect(await state.getFileStats()).toMatchObject({ files: 1 });
    expect(await state.getMessage(id)).toBeNull();
    first.answer("Hi.");
    await sent;
    const second = await next();
    second.answer("Hi again.");
    await thread.wait();
    expect(second.shown.some((line) => line.includes("with a file"))).toBe(false);
    expect(await state.getMessage(kept.id)).toMatchObject({ content: "kept", status: null });
  });

  it("[Q-10] takes all that waits in one turn", async () => {
    const world = await newWorld();
    const { model, asked } = talker("All of it.");
    const idle = await world.open(helperOf({ model }), { runs: false });
    await queueAll(await idle.threads.open("c", { agent: "helper" }), ["one", "two", "three"]);
    await idle.close();

    const thread = await openHelper(world, { model });
    await thread.wait();

    expect(asked.map(({ lines }) => lines)).toEqual([["user: one", "user: two", "user: three"]]);
    expect(await thread.runs()).toHaveLength(1);
  });

  it("[Q-2] loses and doubles nothing of what comes from several senders at once", async () => {
    const { model, asked } = talker(({ lines }: { lines: readonly string[] }) => says(`${lines.length}`));
    const thread = await openHelper(await newWorld(), { model });
    const texts = Array.from({ length: 20 }, (_, index) => `message ${index}`);

    await Promise.all(texts.map((text) => thread.queueMessage(text)));
    await thread.wait();

    const delivered = (await listed(thread)).filter((line) => line.startsWith("user: "));
    expect(delivered.toSorted()).toEqual(texts.map((text) => `user: ${text}`).toSorted());
    expect(asked.at(-1)?.lines.filter((line) => line.startsWith("user: "))).toEqual(delivered);
  });

  it("[D14] begins with the messages it was opened with, and acts on them when the last is a user's", async () => {
    const world = await newWorld();
    const { model, asked } = talker("Go on.");
    const { threads } = await world.open(helperOf({ model }));
    const messages = [{ role: "assistant", content: "How can I help?" }, "Like this."];

    const thread = await threads.open("c", { agent: "helper", messages });
    await thread.wait();
    const again = await threads.open("c", { agent: "helper", messages });
    await again.wait();

    expect(asked.map(({ lines }) => lines)).toEqual([["assistant: How can I help?", "user: Like this."]]);
    expect(await listed(again)).toEqual(["assistant: How can I help?", "user: Like this.", "assistant: Go on."]);
  });

  it("[D14, RUN-7] lets side A of a pair answer the user's message that it was opened with last", async () => {
    const world = await newWorld();
    const pair = pairOf({ model: talker("From A.").model }, { model: talker("From B.").model }, { maxSessionTurns: 1 });
    const { threads } = await world.open(pair);
    const messages = [{ role: "assistant", content: "How can I help?" }, "Like this."];

    const thread = await threads.open("c", { agent: "pair", messages });
    await thread.wait();

    expect(await listed(thread)).toEqual([
      ...["assistant: How can I help?", "user: Like this.", "assistant: From A.", "user: From B."],
    ]);
  });

  it("[Q-4, STOP-8] answers a person and runs what is queued, whoever was spoken to first", async () => {
    const world = await newWorld();
    const { model, asked } = talker("Hi.");
    const helper = helperOf({ model, tools: [look] });
    const idle = await world.open(helper, { runs: false });
    const [spoken, called, quiet] = await Promise.all(
      ["spoken", "called", "quiet"].map((key) => idle.threads.open(key, { agent: "helper" })),
    );
    for (const thread of [spoken, called, quiet]) {
      await thread?.queueMessage({ role: "assistant", content: "Anybody there?" });
    }
    await spoken?.queueMessage("Yes.");
    await called?.queueTool("look");
    await idle.close();

    const { threads } = await world.open(helper);
    const lists = [];
    for (const key of ["spoken", "called", "quiet"]) {
      const thread = await threads.open(key, { agent: "helper" });
      await thread.wait();
      lists.push(await listed(thread));
    }

    expect(lists).toEqual([
      ["assistant: Anybody there?", "user: Yes.", "assistant: Hi."],
      ["assistant: Anybody there? [look]", "success look: seen", "assistant: Hi."],
      // Then it is the person's turn.
      ["assistant: Anybody there?"],
    ]);
    expect(asked).toHaveLength(2);
  });

  it.each([
    [
      "an assistant's",
      [
        { role: "user", content: "Hello?" },
        { role: "assistant", content: "Yes?" },
      ],
    ],
    ["silent", ["Hello?", { content: "Yes?", metadata: { silent: true } }]],
    ["the system's", ["Hello?", { role: "system", content: "Yes?" }]],
  ] as const)("[D14] only stores the messages it was opened with when the last is %s", async (_, messages) => {
    const world = await newWorld();
    const { model, asked } = talker("Go on.");
    const { threads } = await world.open(helperOf({ model }));

    const thread = await threads.open("c", { agent: "helper", messages });

    expect(await thread.wait()).toBeUndefined();
    expect([asked.length, (await thread.status()).run]).toEqual([0, 0]);
    expect((await stored(thread, { includeSilent: true })).map(({ content }) => content)).toEqual([
      ...["Hello?", "Yes?"],
    ]);
    await thread.send("Now.");
    expect(asked[0]?.lines.map((line) => line.replace(/^.*: /, ""))).toEqual(["Hello?", "Yes?", "Now."]);
  });

  it("[D15] keeps a message out of lists that is sent silently, and acts on it", async () => {
    const { model, asked } = talker("Noted.");
    const thread = await openHelper(await newWorld(), { model });

    expect(await thread.send("Between us.", { silent: true })).toMatchObject({ final_content: "Noted." });

    expect(asked[0]?.lines).toEqual(["user: Between us."]);
    expect(await listed(thread)).toEqual(["assistant: Noted."]);
    expect(await listed(thread, { includeSilent: true })).toEqual(["user: Between us.", "assistant: Noted."]);
  });

  it("[D15] is another message under the same key when only one of the two is silent", async () => {
    const { model } = talker("Noted.");
    const thread = await openHelper(await newWorld(), { model });
    await thread.send("Hello", { key: "k", silent: true });

    await expect(thread.send("Hello", { key: "k" })).rejects.toMatchObject({ code: "idempotency_conflict" });
    expect(await thread.send("Hello", { key: "k", silent: true })).toMatchObject({ run: 1 });
  });
});
