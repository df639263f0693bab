// Effects that never come back, come in crowds or come again and again: the thread, its messages and its runtime go on.
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { createHoldfast } from "../../src/holdfast.ts";
import { heldClock } from "../../src/testing/held-clock.ts";
import { type EffectDefinition, effect } from "../../src/threads/definitions/effect.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import { eachDatabase, type World } from "../databases.ts";
import { heldModel } from "../held.ts";
import { helperOf } from "./open-agents.ts";
import { talker } from "./talker.ts";

const DAY = 86_400_000;

function effectOf(name: string, handler: EffectDefinition["handler"]): EffectDefinition {
  return effect({ name, description: `Does ${name}.`, handler });
}

/** An effect that is at work and will never come back. */
async function hanging(world: World) {
  const entered = Promise.withResolvers<void>();
  const hangs = effectOf("hangs", async (state) => {
    await state.setValue("begun", true);
    entered.resolve();
    await new Promise(() => undefined);
  });
  // Whoever closes it must not wait for that effect either.
  const options = { effects: [hangs], drainMs: 600_000 };
  const holdfast = await world.open(helperOf({ model: talker("Hi.").model }), options);
  const thread = await holdfast.threads.open("c", { agent: "helper" });
  const id = await (await thread.state()).scheduleEffect("hangs");
  await entered.promise;
  return { holdfast, thread, id };
}

/** Whether all that was scheduled has come to an end. */
async function untilOver(thread: ThreadHandle, count: number): Promise<void> {
  const isOver = async () => {
    const all = await thread.effects.list({ limit: 500 });
    return all.length === count && all.every(({ status }) => status === "completed" || status === "failed");
  };
  while (!(await isOver())) await new Promise(setImmediate);
}

eachDatabase((newWorld) => {
  describe("a handler that never comes back", () => {
    it("[EFF-8, TERM-1] is cut off by a stop: it has failed, and has written nothing", async () => {
      const world = await newWorld();
      const { holdfast, thread, id } = await hanging(world);

      expect(await thread.stop()).toMatchObject({ status: "stopped" });

      const error = expect.stringContaining("stopped");
      expect(await thread.effects.list()).toMatchObject([{ id, status: "failed", error, attempts: 1 }]);
      expect(await (await thread.state()).getValue("begun")).toBeUndefined();
      expect(await thread.send("Hello")).toMatchObject({ final_content: "Hi." });
      await holdfast.close();
      expect(world.takeErrors()).toEqual([expect.objectContaining({ message: error })]);
    });

    it("[TERM-3, TERM-8] is cut off by the end of its thread, and has failed", async () => {
      const world = await newWorld();
      const { holdfast, thread, id } = await hanging(world);

      expect(await thread.terminate()).toMatchObject({ status: "terminated" });

      const error = "The thread was terminated.";
      expect(await thread.effects.list()).toMatchObject([{ id, status: "failed", error, attempts: 1 }]);
      expect(await (await thread.state()).getValue("begun")).toBeUndefined();
      await holdfast.close();
      expect(world.takeErrors().length).toBeLessThanOrEqual(1);
    });
  });

  it("[EFF-2] runs sixty that are due at once, each of them once", async () => {
    const world = await newWorld();
    const ran: unknown[] = [];
    const count = effectOf("count", (_state, args) => void ran.push((args as { number: number }).number));
    const { model, next } = heldModel();
    const { threads } = await world.open(helperOf({ model }), { effects: [count] });
    const thread = await threads.open("c", { agent: "helper" });
    const sent = thread.send("Hello");
    const asked = await next();
    const state = await thread.state();
    const numbers = Array.from({ length: 60 }, (_, index) => index);
    // A run keeps them back, so that all of them are due when it ends.
    for (const number of numbers) await state.scheduleEffect("count", { number });
    asked.answer("Hi.");
    await sent;

    await untilOver(thread, 60);

    expect(ran.toSorted((one, other) => Number(one) - Number(other))).toEqual(numbers);
    expect((await thread.effects.list()).every(({ status }) => status === "completed")).toBe(true);
  });

  it("[EFF-5, EFF-8] takes a message in between the turns of an effect that schedules itself again at once", async () => {
    const world = await newWorld();
    let isOver = false;
    const again = effectOf("again", async (state) => {
      if (!isOver) await state.scheduleEffect("again");
    });
    const { threads } = await world.open(helperOf({ model: talker("Hi.").model }), { effects: [again] });
    const thread = await threads.open("c", { agent: "helper" });
    await (await thread.state()).scheduleEffect("again");

    expect(await thread.send("Hello")).toMatchObject({ status: "completed", final_content: "Hi." });

    isOver = true;
  });

  it("[EFF-8] runs what is due between the runs of a thread to which somebody writes without a pause", async () => {
    const world = await newWorld();
    const order: string[] = [];
    const due = effectOf("due", () => void order.push("effect"));
    const { model } = talker(async () => {
      order.push("model");
      const isFirst = order.length === 1;
      if (isFirst) await (await thread.state()).scheduleEffect("due");
      if (!order.includes("effect") && order.length < 20) await thread.queueMessage("And now?");
      return "Hi.";
    });
    const { threads } = await world.open(helperOf({ model }), { effects: [due] });
    const thread: ThreadHandle = await threads.open("c", { agent: "helper" });

    await thread.send("Hello");
    await untilOver(thread, 1);
    await thread.wait();

    expect(order).toEqual(["model", "effect", "model"]);
  });
});

it("[EFF-9] forgets what has failed after a day, and what was done after thirty", async () => {
  const clock = heldClock();
  const backend = sqlite(":memory:", { clock });
  const fails = effectOf("fails", () => {
    throw new Error("No.");
  });
  const agents = [helperOf({ model: talker("Hi.").model })];
  const effects = [fails, effectOf("works", () => undefined)];
  const holdfast = await createHoldfast({ backend, agents, effects, onError: () => undefined });
  const thread = await holdfast.threads.open("c", { agent: "helper" });
  const state = await thread.state();
  const names = async () => (await thread.effects.list()).map(({ name }) => name).toSorted();
  await state.scheduleEffect("fails");
  await state.scheduleEffect("works");
  await untilOver(thread, 2);

  await clock.advance(DAY - 1);
  await state.scheduleEffect("works");
  await untilOver(thread, 3);
  expect(await names()).toEqual(["fails", "works", "works"]);

  await clock.advance(2);
  await state.scheduleEffect("works");
  await untilOver(thread, 3);
  expect(await names()).toEqual(["works", "works", "works"]);

  await clock.advance(29 * DAY);
  await state.scheduleEffect("works");
  await untilOver(thread, 3);
  expect(await names()).toEqual(["works", "works", "works"]);
  await holdfast.close();
});
