// A child may come to its end at any time: whatever its parent is doing then, it is told once.
import { expect, it } from "vitest";
import { calls, callsTool } from "../../src/models/scripted/scripted-model.ts";
import { tool } from "../../src/threads/tool.ts";
import { eachDatabase, type World } from "../databases.ts";
import { heldModel } from "../held.ts";
import { actor, creates, finishes, history, lead, onlyChild, results, staying, worker } from "./team.ts";

const pay = tool({
  name: "pay",
  description: "Pays once somebody has agreed.",
  actionPolicy: "preview",
  execute: () => "paid",
});

/** A parent with a child at work that nobody waits for; both models are held. */
async function atWork(world: World) {
  const boss = heldModel();
  const child = heldModel();
  const holdfast = await world.open([
    lead(boss.model, [staying("worker", { blocking: false }), pay]),
    worker(child.model),
  ]);
  const thread = await holdfast.threads.open("t", { agent: "lead" });
  const sent = thread.send("Go.");
  (await boss.next()).answer(creates());
  const working = await child.next();
  const deciding = await boss.next();
  const only = await onlyChild(holdfast, thread);
  return { holdfast, thread, sent, boss, child, working, deciding, only };
}

const DONE = "Here it is.";

eachDatabase((newWorld) => {
  it("[Q-3] one that ends while the parent's model is asked is told with the next request", async () => {
    const { sent, working, deciding, boss, only, thread } = await atWork(await newWorld());
    working.answer(finishes(DONE));
    await only.thread.wait();
    deciding.answer(callsTool("subagents"));
    const next = await boss.next();
    expect(next.shown.filter((line) => line.includes(DONE))).toHaveLength(1);
    next.answer("Thanks.");
    expect(await sent).toMatchObject({ run: 1, final_content: "Thanks." });
    expect(await thread.wait()).toMatchObject({ run: 1 });
  });

  it("[Q-8] one that ends while the parent says its last words is told in a turn of its own", async () => {
    const { sent, working, deciding, boss, only, thread } = await atWork(await newWorld());
    working.answer(finishes(DONE));
    await only.thread.wait();
    deciding.answer("I am waiting.");
    expect(await sent).toMatchObject({ run: 1, final_content: "I am waiting." });
    const next = await boss.next();
    expect(next.shown.at(-1)).toContain(DONE);
    next.answer("Thanks.");
    expect(await thread.wait()).toMatchObject({ run: 2 });
  });

  it("[Q-7, TERM-2] one that ends while the parent is stopped is kept until a user speaks, and then told first", async () => {
    const { sent, working, boss, only, thread } = await atWork(await newWorld());
    await thread.stop();
    expect(await sent).toMatchObject({ status: "interrupted" });
    working.answer(finishes(DONE));
    await only.thread.wait();
    expect((await thread.status()).status).toBe("stopped");
    expect(boss.count()).toBe(0);
    const again = thread.send("Well?");
    const next = await boss.next();
    expect(next.shown.at(-2)).toContain(DONE);
    expect(next.shown.at(-1)).toBe("user: Well?");
    next.answer("Here.");
    expect(await again).toMatchObject({ status: "completed" });
  });

  it("[Q-3] one that ends while the parent waits for an approval is told after that", async () => {
    const { holdfast, sent, working, deciding, boss, only, thread } = await atWork(await newWorld());
    deciding.answer(callsTool("pay"));
    const { waiting_for } = await sent;
    working.answer(finishes(DONE));
    await only.thread.wait();
    expect((await thread.status()).status).toBe("waiting");
    expect(boss.count()).toBe(0);
    await holdfast.requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });
    const next = await boss.next();
    expect(next.shown.at(-2)).toBe('result pay: "paid"');
    expect(next.shown.at(-1)).toContain(DONE);
    next.answer("Thanks.");
    expect(await thread.wait()).toMatchObject({ run: 1, final_content: "Thanks." });
  });

  it("[TERM-3, TERM-5] one whose parent is terminated ends with it, and tells nobody", async () => {
    const { sent, working, only, thread } = await atWork(await newWorld());
    await thread.terminate();
    await sent.catch(() => undefined);
    expect((await only.thread.status()).status).toBe("terminated");
    working.answer(finishes(DONE));
    await only.thread.terminate();
    expect((await history(thread)).filter(({ content }) => content.includes(DONE))).toEqual([]);
    expect(await thread.children()).toMatchObject([{ status: "terminated" }]);
  });

  it("[COM-7, SUB-15] many that end at once are each told once", async () => {
    const world = await newWorld();
    const names = Array.from({ length: 6 }, (_, index) => `N${index}`);
    const boss = actor(calls(...names.map((name) => creates({ name, message: name }))), "Thanks.");
    const child = actor(({ lines }) => finishes(`Result of ${lines[0]?.slice(-2)}.`));
    const holdfast = await world.open([
      lead(boss.model, [staying("worker", { blocking: false })]),
      worker(child.model),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    await thread.send("Go.");
    for (const { reference } of await thread.children()) await (await holdfast.threads.get(reference)).wait();
    await thread.wait();
    const told = (await history(thread)).filter(({ role, silent }) => role === "user" && silent);
    expect(told.map(({ content }) => /Result of (N\d)/.exec(content)?.[1]).sort()).toEqual(names);
    expect(new Set(told.map(({ subagent_id }) => subagent_id)).size).toBe(6);
    expect((await thread.children()).map(({ status }) => status)).toEqual(names.map(() => "idle"));
  });

  it("[TOOL-1, SUB-13] two that are waited for are created one after the other", async () => {
    const world = await newWorld();
    const child = heldModel();
    const boss = actor(calls(creates(), creates({ name: "Second", message: "Then this." })), "Done.");
    const holdfast = await world.open([lead(boss.model, [staying("worker")]), worker(child.model)]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    const sent = thread.send("Go.");
    const first = await child.next();
    expect(await thread.children()).toHaveLength(1);
    first.answer(finishes("One."));
    const second = await child.next();
    expect(second.shown).toEqual(["user: Then this."]);
    expect((await results(thread))[0]?.content).toContain("One.");
    second.answer(finishes("Two."));
    expect(await sent).toMatchObject({ status: "completed", final_content: "Done." });
    expect((await results(thread)).map(({ tool_status }) => tool_status)).toEqual(["success", "success"]);
    expect((await results(thread))[1]?.content).toContain("Two.");
  });

  it("[SUB-13] a child's own children are waited for all the way up", async () => {
    const world = await newWorld();
    const names = ["worker", "helper", "intern"];
    const make = (name: string, below: string | undefined) =>
      worker(
        actor(...(below ? [creates({ agent: below, name: below, message: `For ${below}.` })] : []), ({ lines }) =>
          finishes(`${name} after ${lines.length} lines`),
        ).model,
        { name, tools: below ? [staying(below)] : [] },
      );
    const agents = names.map((name, index) => make(name, names[index + 1]));
    const holdfast = await world.open([lead(actor(creates(), "Done.").model, [staying("worker")]), ...agents]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    expect(await thread.send("Go.")).toMatchObject({ status: "completed", final_content: "Done." });
    let at = thread;
    for (const name of names) {
      expect((await results(at))[0]).toMatchObject({ tool_status: "success", content: expect.stringContaining(name) });
      at = (await onlyChild(holdfast, at)).thread;
    }
    expect(await holdfast.threads.list()).toHaveLength(4);
    expect(await holdfast.threads.delete(thread.id)).toHaveLength(4);
    expect(await holdfast.threads.list()).toEqual([]);
  });

  it("one that waits for an approval of its own keeps its parent waiting, which costs nothing", async () => {
    const world = await newWorld();
    const boss = actor(creates(), "Done.");
    const holdfast = await world.open([
      lead(boss.model, [staying("worker")]),
      worker(actor(callsTool("pay"), finishes("Paid.")).model, { tools: [pay] }),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    const sent = thread.send("Go.");
    const only = await untilChild(holdfast, thread);
    const { waiting_for } = (await only.thread.wait()) ?? {};
    expect((await thread.status()).status).toBe("waiting");
    expect(boss.shown).toHaveLength(1);
    expect((await onlyChild(holdfast, thread)).status).toBe("running");
    await holdfast.requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });
    expect(await sent).toMatchObject({ status: "completed", final_content: "Done." });
    expect((await results(thread))[0]?.content).toContain("Paid.");
  });

  it("one that a user stops has failed for its parent; what it comes to later is told as a message", async () => {
    const world = await newWorld();
    const boss = heldModel();
    const child = heldModel();
    const holdfast = await world.open([lead(boss.model, [staying("worker")]), worker(child.model)]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    const sent = thread.send("Go.");
    (await boss.next()).answer(creates());
    await child.next();
    const only = await onlyChild(holdfast, thread);
    await only.thread.stop();
    const told = await boss.next();
    expect((await results(thread))[0]).toMatchObject({
      tool_status: "error",
      content: expect.stringContaining("stopped"),
    });
    expect((await onlyChild(holdfast, thread)).status).toBe("failed");
    told.answer("Too bad.");
    await sent;

    const goesOn = only.thread.continue();
    (await child.next()).answer(finishes(DONE));
    await goesOn;
    const later = await boss.next();
    expect(later.shown.at(-1)).toContain(DONE);
    later.answer("At last.");
    expect(await thread.wait()).toMatchObject({ run: 2 });
  });

  it("[TERM-5] one that is terminated while its parent waits is told as an error", async () => {
    const world = await newWorld();
    const child = heldModel();
    const holdfast = await world.open([
      lead(actor(creates(), "Too bad.").model, [staying("worker")]),
      worker(child.model),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    const sent = thread.send("Go.");
    await child.next();
    await (await onlyChild(holdfast, thread)).thread.terminate();
    expect(await sent).toMatchObject({ status: "completed", final_content: "Too bad." });
    expect((await results(thread))[0]).toMatchObject({
      tool_status: "error",
      content: expect.stringContaining("terminated"),
    });
    expect(await thread.children()).toMatchObject([{ status: "terminated" }]);
  });

  it("[D8, TERM-5] one that is gone on with and then terminated is told to whoever waits for it now", async () => {
    const world = await newWorld();
    const child = heldModel();
    const boss = actor(creates(), creates({ message: "And now this." }), "Too bad.");
    const holdfast = await world.open([
      lead(boss.model, [], { subagents: [{ agent: "worker", blocking: true, maxInstances: 1 }] }),
      worker(child.model),
    ]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    const sent = thread.send("Go.");
    (await child.next()).answer(finishes("One."));
    const again = await child.next();
    expect(again.shown.at(-1)).toBe("user: And now this.");
    const only = await onlyChild(holdfast, thread);
    expect(only.status).toBe("running");
    await only.thread.terminate();
    expect(await sent).toMatchObject({ status: "completed", final_content: "Too bad." });
    expect((await results(thread)).map(({ tool_status }) => tool_status)).toEqual(["success", "error"]);
  });

  it("[Q-7] one whose parent is stopped while it waits goes on, and its result is kept for the parent", async () => {
    const world = await newWorld();
    const boss = heldModel();
    const child = heldModel();
    const holdfast = await world.open([lead(boss.model, [staying("worker")]), worker(child.model)]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    const sent = thread.send("Go.");
    (await boss.next()).answer(creates());
    const working = await child.next();
    await thread.stop();
    expect(await sent).toMatchObject({ status: "interrupted" });
    expect((await results(thread))[0]).toMatchObject({ tool_status: "error" });
    working.answer(finishes(DONE));
    await (await onlyChild(holdfast, thread)).thread.wait();
    expect((await thread.status()).status).toBe("stopped");
    const again = thread.send("Well?");
    const next = await boss.next();
    expect(next.shown.filter((line) => line.includes(DONE))).toHaveLength(1);
    next.answer("Here.");
    await again;
  });

  it("a message to a parent that waits for a child is taken in after the child's result", async () => {
    const world = await newWorld();
    const boss = heldModel();
    const child = heldModel();
    const holdfast = await world.open([lead(boss.model, [staying("worker")]), worker(child.model)]);
    const thread = await holdfast.threads.open("t", { agent: "lead" });

    const sent = thread.send("Go.");
    (await boss.next()).answer(creates());
    const working = await child.next();
    const second = thread.send("Hurry.");
    await world.untilLeft(thread.id, 2);
    working.answer(finishes(DONE));
    const next = await boss.next();
    expect(next.shown.at(-2)).toContain(DONE);
    expect(next.shown.at(-1)).toBe("user: Hurry.");
    next.answer("Done.");
    expect([(await sent).run, (await second).run]).toEqual([1, 1]);
  });
});

/** The only child, once there is one: a parent that waits tells nobody. */
async function untilChild(...given: Parameters<typeof onlyChild>) {
  while ((await given[1].children()).length === 0) await new Promise(setImmediate);
  return await onlyChild(...given);
}
