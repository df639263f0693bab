// Whoever says stop gets a thread that has stopped: what was said is kept, every call has its result, and nothing runs
// until a user speaks again.
import { expect, it } from "vitest";
import type { Message } from "../src/contracts/conversation/message.ts";
import type { Holdfast } from "../src/holdfast.ts";
import { calls, callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import type { ThreadHandle } from "../src/threads/thread.ts";
import { tool } from "../src/threads/tool.ts";
import { startProcess } from "./another-process.ts";
import { eachDatabase, onPostgres, type World } from "./databases.ts";
import { script as dyingScript } from "./dying-tool.ts";
import { heldModel, heldTool, inShort } from "./held.ts";

async function history(thread: ThreadHandle): Promise<readonly string[]> {
  return inShort((await thread.messages()).map(({ message }) => message));
}

/** A thread of an agent whose model, and whose tool `shop/pay`, the test holds. */
async function heldThread(world: World) {
  const { model, next: asked, count } = heldModel();
  const { tool: pay, next: paying } = heldTool({ name: "shop/pay" });
  const peek = tool({ name: "shop/peek", description: "Looks.", execute: () => "seen" });
  const holdfast = await world.open(agent({ slug: "shop", model, tools: [pay, peek] }));
  const thread = await holdfast.threads.open("c", { agent: "shop" });
  return { holdfast, thread, asked, paying, waiting: count };
}

/** Every call has one result, which comes after it. */
function expectPaired(messages: readonly Message[]): void {
  const idsOf = (type: string) =>
    messages.filter((message) => message.type === type).map(({ metadata }) => metadata.tool_call_id);
  expect(idsOf("tool_result")).toEqual(idsOf("tool_call"));
}

eachDatabase((newWorld) => {
  it("stops a model in the middle of its answer, and keeps what it has said", async () => {
    const world = await newWorld();
    const { thread, asked } = await heldThread(world);

    const sent = thread.send("Tell me a story");
    const first = await asked();
    first.say("Once upon ");
    first.say("a time");
    const stopped = await thread.stop({ reason: "Enough." });

    expect(stopped.status).toBe("stopped");
    expect(first.options.signal?.aborted).toBe(true);
    expect(await sent).toMatchObject({ status: "interrupted", completed: false });
    const messages = (await thread.messages()).map(({ message }) => message);
    expect(inShort(messages)).toEqual(["user: Tell me a story", "assistant: Once upon a time", "system: Enough."]);
    expect(messages[1]?.metadata).toMatchObject({ stopped: true });
    // What the model still says is for nobody.
    first.say(" there was");
    first.answer("Once upon a time there was a king.");
    expect(await history(thread)).toHaveLength(3);
  });

  it("shows the model what it had said when it is asked again", async () => {
    const world = await newWorld();
    const { thread, asked } = await heldThread(world);

    const sent = thread.send("Tell me a story");
    (await asked()).say("Once upon");
    await Promise.all([thread.stop(), sent]);
    const again = thread.send("Go on");
    const second = await asked();
    second.answer("a time");

    expect(second.shown).toEqual(["user: Tell me a story", "assistant: Once upon", "system: Stopped.", "user: Go on"]);
    expect(await again).toMatchObject({ status: "completed", final_content: "a time" });
  });

  it("leaves no message of a model that had said nothing yet", async () => {
    const world = await newWorld();
    const { thread, asked } = await heldThread(world);

    const sent = thread.send("Hello");
    await asked();
    await Promise.all([thread.stop(), sent]);

    expect(await history(thread)).toEqual(["user: Hello", "system: Stopped."]);
  });

  it("says of a tool that was at work that nobody knows what it did", async () => {
    const world = await newWorld();
    const { thread, asked, paying } = await heldThread(world);

    const sent = thread.send("Pay");
    const first = await asked();
    first.say("I will pay.");
    first.answer(calls(says("I will pay."), callsTool("shop/pay")));
    const call = await paying();
    await thread.stop();

    expect(call.context.signal.aborted).toBe(true);
    expect(await sent).toMatchObject({ status: "interrupted" });
    expect(await history(thread)).toEqual([
      ...["user: Pay", "assistant: I will pay.", "call shop/pay", "result shop/pay: outcome_unknown"],
      "system: Stopped.",
    ]);
    expect(await thread.calls()).toMatchObject([{ tool_name: "shop/pay", phase: "unknown" }]);
  });

  it("takes the result of a tool that ends just as it is stopped, or says that it is unknown: one of the two", async () => {
    const world = await newWorld();
    const { thread, asked, paying } = await heldThread(world);

    const sent = thread.send("Pay");
    (await asked()).answer(callsTool("shop/pay"));
    const call = await paying();
    call.context.signal.addEventListener("abort", () => call.answer("paid"));
    await Promise.all([thread.stop(), sent]);

    const results = (await history(thread)).filter((line) => line.startsWith("result"));
    expect(['result shop/pay: "paid"', "result shop/pay: outcome_unknown"]).toContain(results[0]);
    expect(results).toHaveLength(1);
  });

  it("gives a call that was never begun a result that says so, and the next request is valid", async () => {
    const world = await newWorld();
    const { thread, asked, paying } = await heldThread(world);

    const sent = thread.send("Pay, then look");
    (await asked()).answer(calls(callsTool("shop/pay"), callsTool("shop/peek")));
    await paying();
    await Promise.all([thread.stop(), sent]);
    const again = thread.send("What happened?");
    const second = await asked();
    second.answer("Something.");
    await again;

    expect(second.shown).toEqual([
      "user: Pay, then look",
      ...["call shop/pay", "result shop/pay: outcome_unknown", "call shop/peek", "result shop/peek: cancelled"],
      ...["system: Stopped.", "user: What happened?"],
    ]);
    expectPaired(second.messages);
  });

  it("stops between two tools: the first keeps its result, the second is never begun", async () => {
    const world = await newWorld();
    const ran: string[] = [];
    const note = (name: string) => tool({ name, description: "Notes.", execute: () => ran.push(name) });
    const model = scriptedModel([
      calls(callsTool("shop/one"), callsTool("shop/two"), callsTool("shop/three")),
      (messages) => {
        expectPaired(messages);
        return says(inShort(messages).join("; "));
      },
    ]);
    const tools = ["shop/one", "shop/two", "shop/three"].map(note);
    const stored = Promise.withResolvers<void>();
    let stopping: Promise<unknown> | undefined;
    const { threads } = await world.open(agent({ slug: "shop", model, tools }), {
      // The stop is stored before what came of the first tool.
      async onPoint(point) {
        if (point === "after put stop") stored.resolve();
        if (point !== "after effect run_tool" || stopping) return;
        stopping = thread.stop();
        await stored.promise;
      },
    });
    const thread = await threads.open("c", { agent: "shop" });

    await thread.send("Go");
    await stopping;

    expect(ran).toEqual(["shop/one"]);
    expect(await thread.send("And?")).toMatchObject({
      final_content:
        "user: Go; call shop/one; result shop/one: 1; call shop/two; result shop/two: cancelled; call shop/three; result shop/three: cancelled; system: Stopped.; user: And?",
    });
  });

  it("stops a thread that waits to ask its model again", async () => {
    const world = await newWorld();
    let asked = 0;
    const model = scriptedModel([
      (messages) => {
        if (++asked === 1) throw Object.assign(new Error("Too many requests"), { status: 429 });
        return says(inShort(messages).join("; "));
      },
    ]);
    const { threads } = await world.open(
      agent({ slug: "busy", model, retry: { backoffMs: 3_600_000, mostMs: 3_600_000 } }),
    );
    const thread = await threads.open("c", { agent: "busy" });

    const sent = thread.send("Hello");
    for await (const { type } of thread.stream()) if (type === "step.postponed") break;
    expect((await thread.status()).status).toBe("waiting");
    expect((await thread.stop()).status).toBe("stopped");

    expect(await sent).toMatchObject({ status: "interrupted" });
    expect(await thread.send("And now?")).toMatchObject({
      final_content: "user: Hello; system: Stopped.; user: And now?",
    });
  });

  it("does not wait for a callback that hangs, and begins nothing that it had to allow", async () => {
    const world = await newWorld();
    const asked = Promise.withResolvers<void>();
    let ran = 0;
    const pay = tool({ name: "shop/pay", description: "Pays.", execute: () => ++ran });
    const shop = agent({
      slug: "shop",
      model: scriptedModel([callsTool("shop/pay")]),
      tools: [pay],
      preToolMediator: () => {
        asked.resolve();
        return new Promise(() => undefined);
      },
    });
    const { threads } = await world.open(shop);
    const thread = await threads.open("c", { agent: "shop" });

    const sent = thread.send("Pay");
    await asked.promise;
    await Promise.all([thread.stop(), sent]);

    expect(ran).toBe(0);
    expect(await history(thread)).toEqual([
      ...["user: Pay", "call shop/pay", "result shop/pay: cancelled", "system: Stopped."],
    ]);
  });

  it("cancels what a stopped thread was waiting for, and refuses the late answer", async () => {
    const world = await newWorld();
    const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });
    const ask = tool({ name: "client/ask", description: "Asks the client." });
    const model = scriptedModel([
      callsTool("shop/pay"),
      callsTool("client/ask"),
      (messages) => {
        expectPaired(messages);
        return says("Never mind.");
      },
    ]);
    const { threads, requests } = await world.open(agent({ slug: "shop", model, tools: [pay, ask] }));
    const thread = await threads.open("c", { agent: "shop" });

    for (const [text, late] of [
      ["Pay", { decision: "accepted" }],
      ["Ask", { result: "yes" }],
    ] as const) {
      const { waiting_for } = await thread.send(text);
      const id = waiting_for?.request_id ?? "";
      expect((await thread.stop()).status).toBe("stopped");
      expect(await requests.get(id)).toMatchObject({ status: "cancelled" });
      await expect(requests.submit(id, late)).rejects.toMatchObject({ code: "request_cancelled" });
      await expect(requests.open(id)).rejects.toMatchObject({ code: "request_cancelled" });
    }

    expect(await requests.list({ status: "pending" })).toEqual([]);
    expect(await thread.send("Well?")).toMatchObject({ status: "completed", final_content: "Never mind." });
    expect(await history(thread)).not.toContain('result shop/pay: "paid"');
  });

  it("stops a thread whose call was answered just before, although the next one waits for somebody again", async () => {
    const world = await newWorld();
    const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });
    const ask = tool({ name: "client/ask", description: "Asks the client." });
    const model = scriptedModel([calls(callsTool("client/ask"), callsTool("shop/pay"))]);
    const shop = agent({ slug: "shop", model, tools: [pay, ask] });
    const first = await world.open(shop);
    const { id } = await first.threads.open("c", { agent: "shop" });
    const { waiting_for } = await (await first.threads.get(id)).send("Ask, then pay");
    await first.close();
    // Both are left while nobody runs the thread, so that it is taken up with the two of them.
    const second = await world.open(shop, { runs: false });
    await second.requests.submit(waiting_for?.request_id ?? "", { result: "yes" });
    const stopping = (await second.threads.get(id)).stop();
    stopping.catch(() => undefined);
    await world.untilLeft(id, 3);
    await second.close();

    const thread = await (await world.open(shop)).threads.get(id);

    expect(await thread.wait()).toMatchObject({ status: "interrupted" });
    expect(await history(thread)).toEqual([
      ...["user: Ask, then pay", "call client/ask", 'result client/ask: "yes"'],
      ...["call shop/pay", "tool: Run shop/pay {}", "result shop/pay: cancelled", "system: Stopped."],
    ]);
  });

  it("lets either the answer or the stop win when both come at once, and settles the call once", async () => {
    const world = await newWorld();
    const pay = tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });
    const model = scriptedModel([callsTool("shop/pay"), says("Paid.")]);
    const { threads, requests } = await world.open(agent({ slug: "shop", model, tools: [pay] }));
    const thread = await threads.open("c", { agent: "shop" });

    const { waiting_for } = await thread.send("Pay");
    await Promise.allSettled([requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" }), thread.stop()]);
    await thread.wait();

    expect((await thread.messages()).filter(({ message }) => message.type === "tool_result")).toHaveLength(1);
  });

  it("stops an idle thread too: what is queued then waits for a user", async () => {
    const world = await newWorld();
    const { thread, asked, waiting } = await heldThread(world);

    expect((await thread.stop()).status).toBe("stopped");
    await thread.queueMessage("one");
    await thread.queueTool("shop/peek");
    expect(await thread.wait()).toBeUndefined();
    expect([await thread.status(), waiting()]).toMatchObject([{ status: "stopped", run: 0 }, 0]);
    const sent = thread.send("Go");
    const first = await asked();
    first.answer("Gone.");

    expect(first.shown).toEqual(["user: one", "call shop/peek", 'result shop/peek: "seen"', "user: Go"]);
    expect(await sent).toMatchObject({ status: "completed" });
    expect((await thread.status()).status).toBe("idle");
  });

  it("keeps what was queued before and after a stop, and delivers it first once a user speaks", async () => {
    const world = await newWorld();
    const { thread, asked, waiting } = await heldThread(world);

    const sent = thread.send("Hello");
    await asked();
    await thread.queueMessage("one");
    const before = thread.send("two");
    const refused = expect(before).rejects.toMatchObject({ code: "thread_stopped" });
    await world.untilLeft(thread.id, 3);
    await Promise.all([thread.stop(), sent]);
    await thread.queueMessage("three");
    await thread.queueMessage({ role: "assistant", content: "four" });
    expect([(await thread.status()).status, waiting()]).toEqual(["stopped", 0]);
    // Its sender need not wait until a user resumes the thread; one who looks only after that gets the outcome of the next run.
    await refused;
    const again = thread.send("Go on");
    const second = await asked();
    second.answer("Going on.");

    expect(second.shown).toEqual([
      ...["user: Hello", "system: Stopped."],
      ...["user: one", "user: two", "user: three", "assistant: four", "user: Go on"],
    ]);
    expect(await again).toMatchObject({ final_content: "Going on.", run: 2 });
  });

  it("stays stopped over a restart, and for everything but a user", async () => {
    const world = await newWorld();
    const { model, next: asked, count } = heldModel();
    const shop = agent({ slug: "shop", model });
    const first = await world.open(shop);
    const thread = await first.threads.open("c", { agent: "shop" });
    const sent = thread.send("Hello");
    await asked();
    const queued = thread.send("one");
    queued.catch(() => undefined);
    await world.untilLeft(thread.id, 2);
    await Promise.all([thread.stop(), sent]);
    await first.close();

    const second = await world.open(shop);
    const same = await second.threads.get(thread.id);
    await same.editMessage(0, "Good day");
    await same.wait();
    expect([(await same.status()).status, count()]).toEqual(["stopped", 0]);
    const continued = same.continue();
    const request = await asked();
    request.answer("Hi.");

    expect(request.shown).toEqual(["user: Good day", "system: Stopped.", "user: one"]);
    expect(await continued).toMatchObject({ status: "completed", final_content: "Hi." });
  });

  it("asks the model once more when a stopped thread with an empty queue is continued", async () => {
    const world = await newWorld();
    const { thread, asked } = await heldThread(world);

    const sent = thread.send("Hello");
    await asked();
    await Promise.all([thread.stop(), sent]);
    const continued = thread.continue({ key: "k" });
    (await asked()).answer("Hi.");

    expect(await continued).toMatchObject({ status: "completed", final_content: "Hi.", run: 2 });
    expect(await thread.continue({ key: "k" })).toEqual(await continued);
    expect(await history(thread)).toEqual(["user: Hello", "system: Stopped.", "assistant: Hi."]);
  });

  it("goes on at once when a user speaks right after the stop, and the stop has still stopped the run", async () => {
    const world = await newWorld();
    const { thread, asked } = await heldThread(world);

    const sent = thread.send("Hello");
    const first = await asked();
    const stopping = thread.stop();
    await world.untilLeft(thread.id, 2);
    const again = thread.send("On second thought");
    const second = await asked();
    // The second run is under way: the stop has been done, and does not wait for it.
    await stopping;
    second.answer("Yes?");

    expect(first.options.signal?.aborted).toBe(true);
    expect(await sent).toMatchObject({ status: "interrupted", run: 1 });
    expect(await again).toMatchObject({ status: "completed", run: 2 });
  });

  it("stops once, however often and under whatever key it is told to", async () => {
    const world = await newWorld();
    const { thread, asked } = await heldThread(world);

    const sent = thread.send("Hello");
    await asked();
    await Promise.all([thread.stop({ key: "s" }), thread.stop({ key: "s" }), thread.stop(), sent]);
    expect(await history(thread)).toEqual(["user: Hello", "system: Stopped."]);
    await expect(thread.stop({ key: "s", reason: "Other." })).rejects.toMatchObject({ code: "idempotency_conflict" });

    const again = thread.send("Hello again");
    const second = await asked();
    // The same stop, told again, was done long ago.
    await thread.stop({ key: "s" });
    second.answer("Hi.");
    expect(await again).toMatchObject({ status: "completed" });
  });

  it("ends a terminated thread for good, and leaves it readable", async () => {
    const world = await newWorld();
    const { holdfast, thread, asked } = await heldThread(world);

    const sent = thread.send("Hello");
    const first = await asked();
    first.say("I was about");
    const late = thread.send("Never taken in");
    late.catch(() => undefined);
    await world.untilLeft(thread.id, 2);
    const terminated = await thread.terminate();

    expect(terminated).toMatchObject({ status: "terminated" });
    expect(first.options.signal?.aborted).toBe(true);
    expect(await sent).toMatchObject({ status: "interrupted" });
    await expect(late).rejects.toMatchObject({ code: "thread_terminated" });
    const refused = { code: "thread_terminated" };
    await expect(thread.send("Hello?")).rejects.toMatchObject(refused);
    await expect(thread.queueMessage("Hello?")).rejects.toMatchObject(refused);
    await expect(thread.queueTool("shop/peek")).rejects.toMatchObject(refused);
    await expect(thread.continue()).rejects.toMatchObject(refused);
    await expect(thread.stop()).rejects.toMatchObject(refused);
    await expect(thread.editMessage(0, "Hi")).rejects.toMatchObject(refused);
    expect(await history(thread)).toEqual(["user: Hello", "assistant: I was about", "system: Terminated."]);
    expect((await thread.export()).runs).toHaveLength(1);
    expect(await thread.wait()).toMatchObject({ status: "interrupted" });
    expect(await thread.terminate()).toEqual(terminated);
    expect(await holdfast.threads.list({ status: "terminated" })).toEqual([terminated]);
  });

  it("terminates a thread that is idle, stopped, or waits for somebody", async () => {
    const world = await newWorld();
    const ask = tool({ name: "client/ask", description: "Asks the client." });
    const model = scriptedModel([callsTool("client/ask")]);
    const { threads, requests } = await world.open(agent({ slug: "shop", model, tools: [ask] }));
    const [idle, stopped, parked] = await Promise.all(
      ["idle", "stopped", "parked"].map((key) => threads.open(key, { agent: "shop" })),
    );
    await stopped?.stop({ key: "terminate" });
    const waiting = await parked?.send("Ask");

    for (const thread of [idle, stopped, parked]) {
      expect(await thread?.terminate()).toMatchObject({ status: "terminated" });
    }

    await expect(requests.submit(waiting?.waiting_for?.request_id ?? "", { result: 1 })).rejects.toMatchObject({
      code: "request_cancelled",
    });
  });

  it("terminates a thread that got stuck", async () => {
    const world = await newWorld();
    const { thread } = await heldThread(world);
    await world.sql("update threads set stuck_at = 1");
    await thread.queueMessage("Hello?");
    expect((await thread.status()).status).toBe("stuck");

    expect((await thread.terminate()).status).toBe("terminated");

    await expect(thread.send("Hello?")).rejects.toMatchObject({ code: "thread_terminated" });
    expect(await history(thread)).toEqual([]);
  });

  it.each(["stop", "terminate"] as const)(
    "is not passed over when it comes while a commit is overtaken: %s",
    async (wish) => {
      const world = await newWorld();
      const { model, next: asked, count } = heldModel();
      const { tool: pay, next: paying } = heldTool({ name: "shop/pay" });
      let overtakes = false;
      const isStored = Promise.withResolvers<void>();
      const holdfast = await world.open(agent({ slug: "shop", model, tools: [pay] }), {
        async onPoint(point) {
          if (point === "after put stop" || point === "after terminate") isStored.resolve();
          if (!overtakes || point !== "before commit begun call_model") return;
          overtakes = false;
          // What the commit takes in is taken back before it, and with it comes the wish.
          expect(await thread.cancelQueued(queued.id)).toBe(true);
          ended = thread[wish]();
          await isStored.promise;
        },
      });
      const thread = await holdfast.threads.open("c", { agent: "shop" });
      let ended: ReturnType<ThreadHandle["stop"]> | undefined;
      const sent = thread.send("Pay");
      (await asked()).answer(callsTool("shop/pay"));
      const call = await paying();
      const queued = await thread.queueMessage("And hurry");
      overtakes = true;
      call.answer("paid");

      expect(await sent).toMatchObject({ status: "interrupted" });
      expect((await ended)?.status).toBe(wish === "stop" ? "stopped" : "terminated");
      expect(count()).toBe(0);
      const reason = wish === "stop" ? "Stopped." : "Terminated.";
      expect(await history(thread)).toEqual([
        ...["user: Pay", "call shop/pay", 'result shop/pay: "paid"', `system: ${reason}`],
      ]);
    },
  );

  it("says of a tool that has run before, and is stopped before it runs again, that nobody knows what it did", async () => {
    const world = await newWorld();
    const { ended } = startProcess(world, import.meta.resolve("./dying-tool.ts"), { slugs: ["clerk"] });
    expect(await ended).toMatchObject({ signal: "SIGKILL" });
    let runs = 0;
    const charge = tool({ name: "shop/charge", description: "Charges.", idempotent: true, execute: () => ++runs });
    const opened = Promise.withResolvers<Holdfast>();
    const stopping = Promise.withResolvers<{ readonly thread: ThreadHandle; readonly stopped: Promise<unknown> }>();
    const isStored = Promise.withResolvers<void>();
    const clerk = agent({ slug: "clerk", model: scriptedModel(dyingScript), tools: [charge] });
    const holdfast = await world.open(clerk, {
      async onPoint(point) {
        if (point === "after put stop") isStored.resolve();
        if (point !== "before commit begun again") return;
        const thread = await (await opened.promise).threads.open("clerk", { agent: "clerk" });
        stopping.resolve({ thread, stopped: thread.stop() });
        await isStored.promise;
      },
    });
    opened.resolve(holdfast);

    const { thread, stopped } = await stopping.promise;
    expect(await stopped).toMatchObject({ status: "stopped" });

    expect(runs).toBe(0);
    expect(await history(thread)).toEqual([
      ...["user: Charge.", "call shop/charge", "result shop/charge: outcome_unknown", "system: Stopped."],
    ]);
    expect(await thread.calls()).toMatchObject([{ phase: "unknown", outcome: "outcome_unknown" }]);
  });

  it("does not find a thread that is not there", async () => {
    const world = await newWorld();
    const { thread } = await heldThread(world);
    await world.sql("delete from threads");

    const gone = { code: "thread_not_found" };
    await expect(thread.send("Hello")).rejects.toMatchObject(gone);
    await expect(thread.stop()).rejects.toMatchObject(gone);
    await expect(thread.terminate()).rejects.toMatchObject(gone);
    await expect(thread.status()).rejects.toMatchObject(gone);
    await expect(thread.export()).rejects.toMatchObject(gone);
  });
});

onPostgres((newWorld) => {
  it("stops what another process is doing", async () => {
    const world = await newWorld();
    const { thread, asked } = await heldThread(world);
    const other = await world.open(agent({ slug: "shop", model: heldModel().model }), { runs: false });
    const there = await other.threads.get(thread.id);

    const sent = thread.send("Hello");
    const first = await asked();
    first.say("I was");
    expect((await there.stop()).status).toBe("stopped");

    expect(first.options.signal?.aborted).toBe(true);
    expect(await sent).toMatchObject({ status: "interrupted" });
    expect(await history(there)).toEqual(["user: Hello", "assistant: I was", "system: Stopped."]);
  });

  it("terminates what another process is doing", async () => {
    const world = await newWorld();
    const { thread, asked, paying } = await heldThread(world);
    const other = await world.open(agent({ slug: "shop", model: heldModel().model }), { runs: false });
    const there = await other.threads.get(thread.id);

    const sent = thread.send("Pay");
    (await asked()).answer(callsTool("shop/pay"));
    const call = await paying();
    expect((await there.terminate()).status).toBe("terminated");

    expect(call.context.signal.aborted).toBe(true);
    expect(await sent).toMatchObject({ status: "interrupted" });
    await expect(thread.send("Hello?")).rejects.toMatchObject({ code: "thread_terminated" });
  });
});
