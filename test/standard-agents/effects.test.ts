// Effects: what a thread schedules for later happens once, whatever becomes of the process until then, and never beside a
// run of the thread.
import { expect, it } from "vitest";
import { z } from "zod";
import type { HoldfastOptions } from "../../src/holdfast.ts";
import { type EffectDefinition, effect } from "../../src/threads/definitions/effect.ts";
import type { ThreadState } from "../../src/threads/state/thread-state.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import { tool } from "../../src/threads/tool.ts";
import { startProcess } from "../another-process.ts";
import { eachDatabase, type World } from "../databases.ts";
import { collect } from "../following.ts";
import { heldModel } from "../held.ts";
import { stored } from "./listed.ts";
import { helperOf, openHelper, type SideOf } from "./open-agents.ts";
import { talker } from "./talker.ts";

const HOUR = 3_600_000;
const dying = new URL("./effect-runtime.ts", import.meta.url).href;
const code = (expected: string) => expect.objectContaining({ code: expected });

function effectOf(name: string, handler: EffectDefinition["handler"]): EffectDefinition {
  return effect({ name, description: `Does ${name}.`, handler });
}

async function openWith(
  world: World,
  effects: readonly EffectDefinition[],
  given: SideOf = { model: talker("Hi.").model },
  options: Partial<HoldfastOptions> = {},
): Promise<ThreadHandle> {
  return await openHelper(world, given, { options: { effects, ...options } });
}

/** Lets an hour pass for a database on which nobody works. */
async function letAnHourPass(world: World): Promise<void> {
  await world.sql(`update effects set scheduled_at = scheduled_at - ${HOUR * 1_000} returning 1`);
  await world.sql(`update threads set due_at = due_at - ${HOUR * 1_000} returning 1`);
}

/** The effects that are told of on the stream until one has come to its end. */
async function untilEnded(thread: ThreadHandle, id: string): Promise<readonly string[]> {
  const told: string[] = [];
  for await (const event of thread.stream()) {
    if (event.type !== "note") continue;
    const { event: name, data } = event.note.metadata as { event?: string; data?: { id: string; status: string } };
    if (name !== "effect_changed" || data?.id !== id) continue;
    told.push(data.status);
    if (data.status === "completed" || data.status === "failed") return told;
  }
  return told;
}

eachDatabase((newWorld) => {
  it("55 [EFF-2, EFF-4] runs an effect once that fell due while the process was down, at rest, and marks what it says", async () => {
    const world = await newWorld();
    const killed = startProcess(world, dying, { key: "c", delayMs: HOUR, dies: "at once" });
    expect(await killed.ended).toMatchObject({ signal: "SIGKILL" });
    await letAnHourPass(world);

    const seen: unknown[] = [];
    const remind = effectOf("remind", async (state, args) => {
      seen.push([state.execution, args]);
      await state.injectMessage({ role: "assistant", content: "Think of the tea." });
    });
    const { model, asked } = talker("Hi.");
    const thread = await openWith(world, [remind], { model });
    const [{ id = "" } = {}] = await thread.effects.list();

    expect(await untilEnded(thread, id)).toEqual(["processing", "completed"]);

    expect(seen).toEqual([[null, { of: "tea" }]]);
    const said = await stored(thread);
    expect(said).toMatchObject([
      { role: "assistant", content: "Think of the tea.", metadata: { scheduledEffect: { id, name: "remind" } } },
    ]);
    expect(await thread.effects.list()).toMatchObject([{ id, status: "completed", attempts: 1, manualRun: false }]);
    expect([asked.length, await thread.wait()]).toEqual([0, undefined]);
  });

  it("[REC-2, EFF-11] runs an effect again that killed its process, and not one that threw", async () => {
    const world = await newWorld();
    const killed = startProcess(world, dying, { key: "c", delayMs: 0, dies: "in the effect" });
    expect(await killed.ended).toMatchObject({ signal: "SIGKILL" });

    let ran = 0;
    const remind = effectOf("remind", () => {
      ran++;
      throw new Error("No tea.");
    });
    const thread = await openWith(world, [remind]);
    const [{ id = "" } = {}] = await thread.effects.list();
    await untilEnded(thread, id);

    expect(await thread.effects.list()).toMatchObject([{ id, status: "failed", error: "No tea.", attempts: 2 }]);
    await thread.send("Hello");
    expect(ran).toBe(1);
    expect(world.takeErrors()).toEqual([expect.objectContaining({ message: "No tea." })]);
  });

  it("[RUN-1, EFF-4] starts a run with what an effect queues, and the message says where it came from", async () => {
    const world = await newWorld();
    const { model, asked } = talker("Tea it is.");
    const remind = effectOf("remind", (state) => state.queueMessage("Time for tea."));
    const thread = await openWith(world, [remind], { model });

    const id = await (await thread.state()).scheduleEffect("remind");
    await untilEnded(thread, id);

    expect(await thread.wait()).toMatchObject({ final_content: "Tea it is." });
    expect(asked.map(({ lines }) => lines)).toEqual([["user: Time for tea."]]);
    expect((await stored(thread))[0]).toMatchObject({ metadata: { scheduledEffect: { id, name: "remind" } } });
  });

  it("[EFF-1, EFF-3] refuses a name that there is not at once, and arguments that do not fit when it runs", async () => {
    const world = await newWorld();
    let ran = 0;
    const greet = effect({
      name: "greet",
      description: "Greets.",
      args: z.object({ name: z.string() }),
      handler: () => void ran++,
    });
    const thread = await openWith(world, [greet]);
    const state = await thread.state();

    await expect(state.scheduleEffect("nobody")).rejects.toMatchObject({ code: expect.any(String) });
    const id = await state.scheduleEffect("greet", { name: 7 });

    expect(await untilEnded(thread, id)).toEqual(["processing", "failed"]);
    expect([ran, await thread.effects.list()]).toMatchObject([0, [{ error: expect.stringContaining("name") }]]);
  });

  it("[EFF-8] never runs an effect beside a run: it waits for the end of that, and the next run for its own", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const order: string[] = [];
    const slow = effectOf("slow", async () => {
      order.push("effect begins");
      entered.resolve();
      await leave.promise;
      order.push("effect ends");
    });
    const thread = await openWith(world, [slow], { model });

    const sent = thread.send("Hello");
    const first = await next();
    await (await thread.state()).scheduleEffect("slow");
    order.push("model answers");
    first.answer("Hi.");
    await sent;
    await entered.promise;
    await thread.queueMessage("Still there?");
    const second = next().then((asked) => {
      order.push("model is asked");
      asked.answer("Yes.");
    });
    leave.resolve();
    await second;

    expect(await thread.wait()).toMatchObject({ final_content: "Yes." });
    expect(order).toEqual(["model answers", "effect begins", "effect ends", "model is asked"]);
  });

  it("[EFF-8] runs an effect while a run waits for somebody's approval, which then goes on with what it said", async () => {
    const world = await newWorld();
    const pay = tool({ name: "pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" });
    const { model, asked } = talker({ content: "", tool_calls: [{ name: "pay", parameters: {} }] }, "Paid.");
    const remind = effectOf("remind", async (state) => {
      await state.setValue("reminded", true);
      await state.injectMessage({ content: "Do not forget the tip." });
    });
    const { threads, requests } = await world.open(helperOf({ model, tools: [pay] }), { effects: [remind] });
    const thread = await threads.open("c", { agent: "helper" });
    const { waiting_for } = await thread.send("Pay");
    const state = await thread.state();

    const id = await state.scheduleEffect("remind");

    expect(await untilEnded(thread, id)).toEqual(["processing", "completed"]);
    expect([(await thread.status()).status, await state.getValue("reminded")]).toEqual(["waiting", true]);
    await requests.submit(waiting_for?.request_id ?? "", { decision: "accepted" });
    expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Paid." });
    expect(asked[1]?.lines).toContain("user: Do not forget the tip.");
    expect(asked[1]?.lines).toContain('result pay: "paid"');
  });

  it("[EFF-8, Q-7] runs an effect of a stopped thread too, and keeps what that queues until a user speaks", async () => {
    const world = await newWorld();
    const { model, next, count } = heldModel();
    let ran = 0;
    const remind = effectOf("remind", async (state) => {
      ran++;
      await state.queueMessage("Time for tea.");
    });
    const thread = await openWith(world, [remind], { model });
    const sent = thread.send("Hello");
    await next();
    await Promise.all([thread.stop(), sent]);

    const id = await (await thread.state()).scheduleEffect("remind");
    await untilEnded(thread, id);

    expect([ran, (await thread.status()).status, count()]).toEqual([1, "stopped", 0]);
  });

  it("[EFF-2, EFF-5] lets an effect schedule the next one", async () => {
    const world = await newWorld();
    const rang: number[] = [];
    const ring = effectOf("ring", async (state, args) => {
      const { left } = args as { left: number };
      rang.push(left);
      if (left > 0) await state.scheduleEffect("ring", { left: left - 1 });
    });
    const thread = await openWith(world, [ring]);
    const id = await (await thread.state()).scheduleEffect("ring", { left: 3 });
    await untilEnded(thread, id);
    for (;;) {
      const open = (await thread.effects.list()).filter(({ status }) => status !== "completed");
      if (open.length === 0) break;
      await untilEnded(thread, open[0]?.id ?? "");
    }

    expect(rang).toEqual([3, 2, 1, 0]);
    expect(await thread.effects.list()).toHaveLength(4);
  });

  it("[EFF-5, EFF-6, EFF-7] runs one now, cancels one, runs a copy of one that has ended, and refuses what cannot be", async () => {
    const world = await newWorld();
    const rang: unknown[] = [];
    const hold = { until: Promise.resolve() };
    const ring = effectOf("ring", async (_state, args) => {
      rang.push(args);
      await hold.until;
    });
    const thread = await openWith(world, [ring]);
    const state = await thread.state();
    const now = await state.scheduleEffect("ring", { number: 1 }, HOUR);
    const never = await state.scheduleEffect("ring", { number: 2 }, HOUR);
    const removed = await state.scheduleEffect("ring", { number: 3 }, HOUR);
    expect((await state.getScheduledEffects("ring")).map(({ id }) => id).toSorted()).toEqual(
      [now, never, removed].toSorted(),
    );

    expect(await thread.effects.run(now)).toEqual({ action: "ran", id: now });
    await untilEnded(thread, now);
    await thread.effects.cancel(never);
    expect([await state.removeScheduledEffect(removed), await state.removeScheduledEffect(removed)]).toEqual([
      true,
      false,
    ]);
    await expect(thread.effects.cancel(now)).rejects.toEqual(code("effect_not_pending"));
    await expect(thread.effects.cancel("nowhere")).rejects.toEqual(code("effect_not_found"));
    const replay = await thread.effects.run(never);
    if (replay.action !== "replayed") throw new Error("It did not run as a copy.");
    await untilEnded(thread, replay.replayedId);

    expect(rang).toEqual([{ number: 1 }, { number: 2 }]);
    const byId = new Map((await thread.effects.list()).map((each) => [each.id, each]));
    expect(byId.get(now)).toMatchObject({ status: "completed", manualRun: true, manualRunAt: expect.any(Number) });
    expect(byId.get(never)).toMatchObject({ status: "user_canceled", attempts: 0 });
    expect(byId.get(removed)).toMatchObject({ status: "agent_canceled" });
    expect(byId.get(replay.replayedId)).toMatchObject({ status: "completed", replayedFrom: never, manualRun: true });
    expect(await state.getScheduledEffects()).toEqual([]);
  });

  it("[EFF-7] refuses to run one now that is under way", async () => {
    const world = await newWorld();
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const slow = effectOf("slow", async () => {
      entered.resolve();
      await leave.promise;
    });
    const thread = await openWith(world, [slow]);
    const id = await (await thread.state()).scheduleEffect("slow");
    await entered.promise;

    await expect(thread.effects.run(id)).rejects.toEqual(code("effect_not_pending"));
    await expect(thread.effects.cancel(id)).rejects.toEqual(code("effect_not_pending"));
    leave.resolve();
    await untilEnded(thread, id);
  });

  it("[EFF-10] tells whoever follows the thread of every change, without what it was scheduled with", async () => {
    const world = await newWorld();
    const schedule = tool({
      name: "schedule",
      description: "Schedules.",
      execute: (_input, { state }) => state.scheduleEffect("quiet", { secret: "sesame" }),
    });
    const { model } = talker({ content: "", tool_calls: [{ name: "schedule", parameters: {} }] }, "Done.");
    const thread = await openWith(world, [effectOf("quiet", () => undefined)], { model, tools: [schedule] });
    await thread.send("Go");
    const [{ id = "" } = {}] = await thread.effects.list();

    expect(await untilEnded(thread, id)).toEqual(["pending", "processing", "completed"]);
    const events = await collect(thread.stream({ untilRest: true }));
    expect(JSON.stringify(events)).not.toContain("sesame");
    expect(await world.everything()).not.toContain("sesame");
  });

  it("[EFF-2] leaves nothing scheduled by a tool that failed", async () => {
    const world = await newWorld();
    const failing = tool({
      name: "failing",
      description: "Fails.",
      async execute(_input, { state }) {
        await state.scheduleEffect("quiet", {}, HOUR);
        expect(await state.getScheduledEffects()).toHaveLength(1);
        throw new Error("No.");
      },
    });
    const { model } = talker({ content: "", tool_calls: [{ name: "failing", parameters: {} }] }, "Done.");
    const thread = await openWith(world, [effectOf("quiet", () => undefined)], { model, tools: [failing] });

    await thread.send("Go");

    expect(await thread.effects.list()).toEqual([]);
  });

  it("[EFF-4] lets an effect end its own thread, and does nothing after that", async () => {
    const world = await newWorld();
    const end = effectOf("end", async (state: ThreadState) => {
      await state.queueMessage("never read");
      await state.terminate();
    });
    const { model, asked } = talker("Hi.");
    const thread = await openWith(world, [end, effectOf("other", () => undefined)], { model });
    const state = await thread.state();
    await state.scheduleEffect("other", {}, HOUR);
    const id = await state.scheduleEffect("end");
    await untilEnded(thread, id);
    await thread.wait();

    expect((await thread.status()).status).toBe("terminated");
    expect((await thread.effects.list()).map(({ name, status }) => [name, status]).toSorted()).toEqual([
      ["end", "completed"],
      ["other", "user_canceled"],
    ]);
    expect(asked).toEqual([]);
  });

  it("[TERM-8] does not begin what is due on a thread that is terminated while it is at work", async () => {
    const world = await newWorld();
    const { model, next } = heldModel();
    let ran = 0;
    const thread = await openWith(world, [effectOf("late", () => void ran++)], { model });
    await thread.queueMessage("Hello");
    await next();
    await (await thread.state()).scheduleEffect("late");

    await thread.terminate();

    expect([ran, await thread.effects.list()]).toMatchObject([0, [{ status: "user_canceled" }]]);
  });

  it("[TERM-4, TERM-8] lets a tool come to its end that scheduled something just as its thread was terminated", async () => {
    const world = await newWorld();
    const schedule = tool({
      name: "schedule",
      description: "Schedules.",
      execute: (_input, { state }) => state.scheduleEffect("quiet", {}, HOUR),
    });
    const { model } = talker({ content: "", tool_calls: [{ name: "schedule", parameters: {} }] }, "Done.");
    const stopped = Promise.withResolvers<void>();
    let ending: Promise<unknown> | undefined;
    const thread = await openWith(
      world,
      [effectOf("quiet", () => undefined)],
      { model, tools: [schedule] },
      {
        async onPoint(point) {
          if (point === "after terminate") stopped.resolve();
          if (point !== "after effect run_tool" || ending) return;
          ending = thread.terminate();
          await stopped.promise;
        },
      },
    );

    await thread.queueMessage("Go");
    await stopped.promise;
    await ending;

    expect((await thread.status()).status).toBe("terminated");
    expect((await stored(thread)).filter(({ role }) => role === "tool")).toHaveLength(1);
    expect((await thread.effects.list()).filter(({ status }) => status === "pending")).toEqual([]);
  });

  it("[EFF-2] does not keep a runtime from closing when a handler never comes back, and runs it again afterwards", async () => {
    const world = await newWorld();
    const entered = Promise.withResolvers<void>();
    const hanging = effectOf("ring", () => {
      entered.resolve();
      return new Promise(() => undefined);
    });
    const first = await world.open(helperOf({ model: talker("Hi.").model }), { effects: [hanging], drainMs: 1 });
    const state = await (await first.threads.open("c", { agent: "helper" })).state();
    const id = await state.scheduleEffect("ring");
    await entered.promise;

    await first.close();

    const thread = await openWith(world, [effectOf("ring", () => undefined)]);
    await untilEnded(thread, id);
    expect(await thread.effects.list()).toMatchObject([{ id, status: "completed", attempts: 2 }]);
  });
});
