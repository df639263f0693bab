// The life of a thread: one run at a time, stopped when somebody says so, terminated for good, and erased with all that
// descends from it.
import { expect, it } from "vitest";
import { effect } from "../../src/threads/definitions/effect.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import { tool } from "../../src/threads/tool.ts";
import { startProcess } from "../another-process.ts";
import { eachDatabase, onPostgres } from "../databases.ts";
import { heldModel, heldTool } from "../held.ts";
import { listed, stored } from "./listed.ts";
import { helperOf, openHelper, openPair } from "./open-agents.ts";
import { talker } from "./talker.ts";
import { actor, creates, finishes, lead, onlyChild, results, staying, worker } from "./team.ts";

const look = tool({ name: "look", description: "Looks.", execute: () => "seen" });
const remind = effect({ name: "remind", description: "Reminds.", handler: () => undefined });
const code = (expected: string) => expect.objectContaining({ code: expected });

/** What every way of giving a thread something to do comes to. */
async function refusals(thread: ThreadHandle): Promise<Readonly<Record<string, unknown>>> {
  const state = await thread.state();
  const ways: Readonly<Record<string, () => Promise<unknown>>> = {
    send: () => thread.send("Hello"),
    queueMessage: () => thread.queueMessage("Hello"),
    queueTool: () => thread.queueTool("look"),
    continue: () => thread.continue(),
    stop: () => thread.stop(),
    "state.queueMessage": () => state.queueMessage("Hello"),
    "state.injectMessage": () => state.injectMessage({ content: "Hello" }),
    "state.queueTool": () => state.queueTool("look"),
    "state.invokeTool": () => state.invokeTool("look"),
    "state.scheduleEffect": () => state.scheduleEffect("remind"),
  };
  const codes = await Promise.all(
    Object.entries(ways).map(async ([name, way]) => [
      name,
      await way().then(
        () => "accepted",
        (thrown) => thrown.code,
      ),
    ]),
  );
  return Object.fromEntries(codes);
}

eachDatabase((newWorld) => {
  it("53 [TERM-3, TERM-4, TERM-6] aborts the model of a thread that is terminated, refuses all work, and stays readable", async () => {
    const world = await newWorld();
    const { model, next, count } = heldModel();
    const options = { effects: [remind] };
    const thread = await openHelper(world, { model, tools: [look] }, { options });
    await thread.queueMessage("Hello");
    const asked = await next();
    asked.say("Well, ");
    await thread.queueMessage("never read");
    const early = await thread.state();

    const terminated = await thread.terminate();

    expect(asked.options.signal?.aborted).toBe(true);
    expect(terminated).toMatchObject({ status: "terminated", terminated_at: expect.any(Number) });
    expect(new Set(Object.values(await refusals(thread)))).toEqual(new Set(["thread_terminated"]));
    // What was handed out before knows it too.
    await expect(early.queueMessage("Hello")).rejects.toEqual(code("thread_terminated"));
    await expect(early.scheduleEffect("remind")).rejects.toEqual(code("thread_terminated"));
    expect(await thread.terminate()).toMatchObject({ terminated_at: terminated.terminated_at });
    const rows = await stored(thread);
    expect(rows[0]).toMatchObject({ role: "user", content: "Hello" });
    expect(rows[1]).toMatchObject({ role: "assistant", content: "Well, ", metadata: { stopped: true } });
    expect((await thread.logs())[0]).toMatchObject({ error_type: "user_interrupted", is_complete: true });
    expect((await thread.state()).terminated).toBe(terminated.terminated_at);
    asked.answer("Too late.");
    expect([count(), (await thread.status()).run]).toEqual([0, 1]);
  });

  it("53 [TERM-3] stays terminated over a restart, with all that it has stored", async () => {
    const world = await newWorld();
    const { model, asked } = talker("Hi.");
    const first = await world.open(helperOf({ model, tools: [look] }), { effects: [remind] });
    const thread = await first.threads.open("c", { agent: "helper" });
    await thread.send("Hello");
    const state = await thread.state();
    await state.writeFile("/notes.txt", "kept");
    await state.setValue("mood", "fine");
    await thread.terminate();
    await first.close();

    const again = await openHelper(world, { model, tools: [look] }, { options: { effects: [remind] } });

    expect(new Set(Object.values(await refusals(again)))).toEqual(new Set(["thread_terminated"]));
    const reread = await again.state();
    expect(Buffer.from((await reread.readFile("/notes.txt")) ?? []).toString()).toBe("kept");
    expect(await reread.getValue("mood")).toBe("fine");
    expect(await listed(again)).toEqual(["user: Hello", "assistant: Hi."]);
    expect(asked).toHaveLength(1);
  });

  it("[TERM-3, TERM-4] gives a tool that terminates its own thread its result, and does nothing after it", async () => {
    const world = await newWorld();
    const refused: unknown[] = [];
    const end = tool({
      name: "end",
      description: "Ends.",
      async execute(_input, { state }) {
        await state.terminate();
        await state.queueMessage("more").catch(({ code: thrown }) => refused.push(thrown));
        return "ended";
      },
    });
    const calls = ["end", "look"].map((name) => ({ name, parameters: {} }));
    const { model, asked } = talker({ content: "", tool_calls: calls });
    const thread = await openHelper(world, { model, tools: [end, look] });

    await thread.send("End it.");
    await thread.wait();

    expect((await thread.status()).status).toBe("terminated");
    expect([refused, asked.length]).toEqual([["thread_terminated"], 1]);
    const rows = (await stored(thread)).filter(({ role }) => role === "tool");
    expect(rows.map(({ name, tool_status }) => [name, tool_status])).toEqual([
      ["end", "success"],
      ["look", "error"],
    ]);
  });

  it("[TERM-5] shows a terminated child as that, tells a parent that waits for it, and ends all below it", async () => {
    const world = await newWorld();
    const grandchild = heldModel();
    const boss = actor(creates(), "The worker is gone.");
    const middle = actor(creates({ agent: "deepest", name: "Second" }), finishes("Done."));
    const agents = [
      lead(boss.model, [staying("worker", { blocking: true })]),
      worker(middle.model, { tools: [staying("deepest", { blocking: true })] }),
      worker(grandchild.model, { name: "deepest" }),
    ];
    const holdfast = await world.open(agents);
    const thread = await holdfast.threads.open("c", { agent: "lead" });
    const sent = thread.send("Go");
    const asked = await grandchild.next();
    const child = await onlyChild(holdfast, thread);
    const deepest = await onlyChild(holdfast, child.thread);

    await child.thread.terminate();

    expect(await sent).toMatchObject({ status: "completed", final_content: "The worker is gone." });
    expect(await results(thread)).toMatchObject([
      { tool_status: "error", content: expect.stringContaining("terminated") },
    ]);
    expect(await thread.children()).toMatchObject([{ status: "terminated" }]);
    await deepest.thread.wait();
    expect(asked.options.signal?.aborted).toBe(true);
    expect((await deepest.thread.status()).status).toBe("terminated");
    await expect(deepest.thread.queueMessage("Hello")).rejects.toEqual(code("thread_terminated"));
    expect((await thread.status()).status).toBe("idle");
    expect(boss.shown).toHaveLength(2);
  });

  it("[TERM-3, TERM-5] ends the children of a thread that is terminated, and tells it nothing any more", async () => {
    const world = await newWorld();
    const held = heldModel();
    const boss = actor(creates(), "Waiting.");
    const agents = [lead(boss.model, [staying("worker", { blocking: false })]), worker(held.model)];
    const holdfast = await world.open(agents);
    const thread = await holdfast.threads.open("c", { agent: "lead" });
    await thread.send("Go");
    const asked = await held.next();
    const child = await onlyChild(holdfast, thread);

    await thread.terminate();
    await child.thread.wait();

    expect(asked.options.signal?.aborted).toBe(true);
    expect((await child.thread.status()).status).toBe("terminated");
    expect(await thread.children()).toMatchObject([{ status: "terminated" }]);
    asked.answer(finishes("Done."));
    expect(boss.shown).toHaveLength(2);
    expect(
      (await stored(thread, { includeSilent: true })).some(({ subagent_id, role }) => subagent_id && role === "user"),
    ).toBe(false);
  });

  it("[TERM-8] does not run what a terminated thread had scheduled", async () => {
    const world = await newWorld();
    let ran = 0;
    const late = effect({ name: "late", description: "Runs late.", handler: () => void ran++ });
    const { model } = talker("Hi.");
    const first = await world.open(helperOf({ model }), { effects: [late] });
    const thread = await first.threads.open("c", { agent: "helper" });
    const state = await thread.state();
    const id = await state.scheduleEffect("late", {}, 3_600_000);
    await thread.terminate();

    expect(await thread.effects.list()).toMatchObject([{ id, status: "user_canceled" }]);
    await expect(thread.effects.run(id)).rejects.toEqual(code("thread_terminated"));
    await world.sql("update effects set status = 'pending', scheduled_at = 0");
    await world.sql("update threads set due_at = 0");
    await first.close();
    const again = await openHelper(world, { model }, { options: { effects: [late] } });
    await again.wait();
    expect(ran).toBe(0);
  });

  it("[TERM-9] erases a thread with all that descend from it, and nothing of them is left", async () => {
    const world = await newWorld();
    const boss = actor(creates({ message: "the magic word" }), "Done.", "Done.");
    const middle = actor(creates({ agent: "deepest", name: "Second" }), finishes("Done."));
    const agents = [
      lead(boss.model, [staying("worker", { blocking: true })]),
      worker(middle.model, { tools: [staying("deepest", { blocking: true })] }),
      worker(actor(finishes("the magic word")).model, { name: "deepest" }),
    ];
    const holdfast = await world.open(agents, { effects: [remind] });
    const thread = await holdfast.threads.open("c", { agent: "lead", env: { TOKEN: "t" } });
    const other = await holdfast.threads.open("other", { agent: "lead" });
    await thread.send("the magic word");
    const child = await onlyChild(holdfast, thread);
    const deepest = await onlyChild(holdfast, child.thread);
    for (const each of [thread, child.thread, deepest.thread]) {
      const state = await each.state();
      await state.writeFile("/notes.txt", `the magic word, of ${each.id}`);
      await state.setValue("kept", "the magic word");
      await state.scheduleEffect("remind", {}, 3_600_000);
    }
    const family = [thread.id, child.reference, deepest.reference];

    expect((await holdfast.threads.delete(thread.id)).toSorted()).toEqual(family.toSorted());

    for (const id of family) await expect(holdfast.threads.get(id)).rejects.toEqual(code("thread_not_found"));
    await expect(thread.send("Hello")).rejects.toEqual(code("thread_not_found"));
    await expect(thread.state()).rejects.toEqual(code("thread_not_found"));
    const everything = await world.everything();
    // But for what proves that they were deleted, and not lost.
    for (const id of family) expect(everything.split(id)).toHaveLength(2);
    const graves = await world.sql("select thread_id, reason from audit_tombstones order by thread_id");
    expect(graves).toMatchObject(family.toSorted().map((thread_id) => ({ thread_id, reason: "deleted" })));
    expect(everything).not.toContain("the magic word");
    expect((await other.status()).status).toBe("idle");
    await expect(holdfast.threads.delete(thread.id)).rejects.toEqual(code("thread_not_found"));
  });

  it("[TERM-9] lets go of what is under way in a thread that is erased", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const { threads } = await world.open(helperOf({ model }));
    const thread = await threads.open("c", { agent: "helper" });
    const sent = thread.send("Hello");
    const told = expect(sent).rejects.toEqual(code("thread_not_found"));
    const asked = await next();

    await threads.delete(thread.id);
    await told;
    asked.answer("Too late.");

    const again = await threads.open("c", { agent: "helper" });
    expect(again.id).not.toBe(thread.id);
    expect(await stored(again)).toEqual([]);
    const second = again.send("Anew");
    (await next()).answer("Hi.");
    expect(await second).toMatchObject({ final_content: "Hi." });
  });

  it("56 [TERM-1, TOOL-11] gives a tool that a stop came before an error, and the next request is whole", async () => {
    const world = await newWorld();
    const { tool: slow, next: called } = heldTool({ name: "slow" });
    const twice = [
      { name: "slow", parameters: {} },
      { name: "look", parameters: {} },
    ];
    const { model, asked } = talker({ content: "", tool_calls: twice }, "Going on.");
    let ran = 0;
    const counted = tool({ name: "look", description: "Looks.", execute: () => ++ran });
    const done = Promise.withResolvers<void>();
    let stopping: Promise<unknown> | undefined;
    const thread = await openHelper(
      world,
      { model, tools: [slow, counted] },
      {
        options: {
          // The stop is stored before what came of the first tool.
          async onPoint(point) {
            if (point === "after put stop") done.resolve();
            if (point !== "after effect run_tool" || stopping) return;
            stopping = thread.stop();
            await done.promise;
          },
        },
      },
    );

    const sent = thread.send("Go");
    (await called()).answer("first done");
    expect(await sent).toMatchObject({ status: "interrupted" });
    await stopping;

    expect(ran).toBe(0);
    const rows = await stored(thread);
    expect(rows.filter(({ role }) => role === "tool").map(({ name, tool_status }) => [name, tool_status])).toEqual([
      ["slow", "success"],
      ["look", "error"],
    ]);
    expect(rows.at(-1)).toMatchObject({ role: "system", metadata: { status_kind: "stopped" } });
    expect(await thread.send("And?")).toMatchObject({ final_content: "Going on." });
    expect(asked[1]?.lines).toEqual([
      ...["user: Go", "call slow", 'result slow: "first done"', "call look", "result look: cancelled"],
      ...["system: Stopped.", "user: And?"],
    ]);
  });

  it("56 [TERM-1, RUN-10] keeps what was said when a stop came, as a message that is marked", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const thread = await openHelper(world, { model });

    const sent = thread.send("Tell me a story");
    const asked = await next();
    asked.say("Once upon ");
    asked.say("a time");
    await Promise.all([thread.stop(), sent]);

    const [, said, note] = await stored(thread);
    expect(said).toMatchObject({ role: "assistant", content: "Once upon a time", status: "completed" });
    expect(said?.metadata).toMatchObject({ stopped: true });
    expect(note).toMatchObject({ role: "system", metadata: { status_kind: "stopped" } });
    expect(await thread.logs()).toMatchObject([{ error_type: "user_interrupted", is_complete: true }]);
    const again = thread.send("Go on");
    const second = await next();
    second.answer("there was a king.");
    await again;
    expect(second.shown).toEqual([
      ...["user: Tell me a story", "assistant: Once upon a time", "system: Stopped.", "user: Go on"],
    ]);
  });

  it("56 [RUN-10, D1] keeps what side B had said when a stop came as side B's own", async () => {
    const world = await newWorld();
    const b = heldModel();
    const a = talker("I write.", "I go on.");
    const thread = await openPair(world, { model: a.model }, { model: b.model });

    const sent = thread.send("Begin");
    (await b.next()).say("I object");
    await Promise.all([thread.stop(), sent]);

    const envelopes = (await thread.messages()).map(({ message }) => message);
    expect(envelopes.filter(({ content }) => content === "I object")).toMatchObject([
      { role: "user", metadata: { side: "b", stopped: true } },
    ]);
    const again = thread.send("Go on");
    const asked = await b.next();
    await Promise.all([thread.stop(), again]);
    expect(a.asked[1]?.lines).toContain("user: I object");
    expect(asked.shown).toContain("assistant: I object");
  });

  it("56 [RUN-10] leaves no answer of a model that had said nothing, and no pending one", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const thread = await openHelper(world, { model });

    const sent = thread.send("Hello");
    await next();
    await Promise.all([thread.stop(), sent]);

    expect(await listed(thread)).toEqual(["user: Hello", "system: Stopped."]);
  });

  it("[REC-1, RUN-12] closes the log of a model call that a crash cut off, and asks again", async () => {
    const world = await newWorld();
    const { model: held, next } = heldModel();
    const first = await world.open(helperOf({ model: held }), { drainMs: 1 });
    const thread = await first.threads.open("c", { agent: "helper" });
    await thread.queueMessage("Hello");
    (await next()).say("Half of ");
    await first.close();

    const { model } = talker("All of it.");
    const again = await openHelper(world, { model });

    expect(await again.wait()).toMatchObject({ status: "completed", final_content: "All of it." });
    const [lost, answered, ...more] = (await again.logs({ order: "asc" })).filter(({ kind }) => kind === null);
    expect(more).toEqual([]);
    expect(lost).toMatchObject({ error_type: "interrupted_incomplete", is_complete: true });
    expect(answered).toMatchObject({ error: null, retry_of_log_id: lost?.id });
    expect(await listed(again)).toEqual(["user: Hello", "assistant: All of it."]);
  });

  it("[REC-6] changes nothing about a thread at rest when a runtime is opened", async () => {
    const world = await newWorld();
    const { model, asked } = talker("Hi.");
    const first = await world.open(helperOf({ model }));
    const thread = await first.threads.open("c", { agent: "helper" });
    await thread.send("Hello");
    const before = await thread.export();
    await first.close();

    const again = await openHelper(world, { model });
    await again.wait();

    expect(await again.export()).toEqual(before);
    expect(asked).toHaveLength(1);
  });
});

onPostgres((newWorld) => {
  it("54 [CONC-1] runs one thread in one run at a time, however many processes are told of it at once", async () => {
    const world = await newWorld();
    const program = new URL("./sending-runtime.ts", import.meta.url).href;
    const words = Array.from({ length: 10 }, (_, index) => `message ${index}`);
    const processes = [words.slice(0, 5), words.slice(5)].map((texts) =>
      startProcess(world, program, { key: "c", gate: "gate", texts }),
    );
    for (const each of processes) expect(await each.says()).toBe("ready");
    const { threads } = await world.open(helperOf({ model: () => "Never." }), { runs: false });
    await (await threads.open("gate", { agent: "helper" })).queueMessage("Go");
    for (const each of processes) expect(await each.says()).toBe("done");

    const thread = await threads.open("c", { agent: "helper" });
    const delivered = (await listed(thread)).filter((line) => line.startsWith("user: "));
    expect(delivered.toSorted()).toEqual(words.map((word) => `user: ${word}`).toSorted());
    const runs = await thread.runs();
    for (const [index, run] of runs.entries()) {
      expect(run.started_at).toBeGreaterThanOrEqual(runs[index - 1]?.ended_at ?? 0);
      expect(run.ended_at).toBeGreaterThanOrEqual(run.started_at);
    }
    const logs = await thread.logs({ order: "asc", limit: 1_000 });
    expect(logs.every(({ is_complete, error }) => is_complete && error === null)).toBe(true);
    for (const [index, log] of logs.entries()) {
      const before = logs[index - 1];
      if (before) expect(log.created_at).toBeGreaterThan(before.created_at);
    }
  });
});
