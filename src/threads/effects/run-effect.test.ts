import { describe, expect, it } from "vitest";
import { z } from "zod";
import { hostAtRest } from "../../../test/host-at-rest.ts";
import type { StoredEffect } from "../../backend/state-store.ts";
import { type EffectDefinition, effect } from "../definitions/effect.ts";
import { beginEffect, performEffect } from "./run-effect.ts";

/** A thread for which an effect is due. */
async function scheduled(definition: EffectDefinition, args: object = {}) {
  const world = await hostAtRest({ effects: [definition] });
  const { stores, thread, sealing } = world;
  const given = {
    args: sealing.seal(JSON.stringify(args), thread.id),
    after: 0,
    manual_run: false,
    replayed_from: null,
  };
  const due = { id: "e1", name: definition.name, ...given };
  expect(await stores.writes.apply(thread.id, [{ write: "effect", thread_id: thread.id, effect: due }])).toBe(
    "written",
  );

  async function stored(): Promise<StoredEffect> {
    const found = await stores.state.effect(thread.id, "e1");
    return found ?? expect.fail("The effect is gone.");
  }

  /** Both commits, as far as the writes go. */
  async function run() {
    const found = await stored();
    await stores.writes.apply(thread.id, beginEffect(found).writes);
    const step = await performEffect(world.host, { thread, effect: found });
    await stores.writes.apply(thread.id, step.writes);
    return step;
  }

  return { ...world, stored, run };
}

function greet(handler: EffectDefinition["handler"]) {
  return effect({ name: "greet", description: "Greets.", handler });
}

describe("an effect that is due", () => {
  it("is begun before it runs, and completed with what it wrote", async () => {
    const seen: unknown[] = [];
    const definition = greet(async (state, args) => {
      seen.push(args, state.execution, state.arguments, await stored().then(({ status }) => status));
      await state.setValue("greeted", true);
      state.emit("greeted", { loud: true });
    });
    const { stores, thread, stored, run, reported } = await scheduled(definition, { name: "Ann" });

    const { events } = await run();

    expect(seen).toEqual([{ name: "Ann" }, null, { topic: "rain" }, "processing"]);
    expect(await stored()).toMatchObject({ status: "completed", attempts: 1, error: null });
    expect(await stores.state.value(thread.id, "greeted")).toBe("true");
    expect(events.filter(({ event }) => event !== "kv_changed")).toEqual([
      { event: "greeted", data: { loud: true } },
      { event: "effect_changed", data: { id: "e1", name: "greet", status: "completed", error: null } },
    ]);
    expect(reported).toEqual([]);
    expect(await stores.state.dueEffect(thread.id)).toBeUndefined();
  });

  it("marks what it says as its own", async () => {
    const { run } = await scheduled(greet((state) => state.injectMessage({ role: "assistant", content: "Hello" })));

    const { entries } = await run();

    expect(entries.map(({ body }) => JSON.parse(body))).toMatchObject([
      { message: { content: "Hello", metadata: { scheduledEffect: { id: "e1", name: "greet" } } } },
    ]);
  });

  it("tells that it begins without what it was scheduled with", async () => {
    const { stored } = await scheduled(
      greet(() => undefined),
      { name: "Ann" },
    );

    expect(beginEffect(await stored()).events).toEqual([
      { event: "effect_changed", data: { id: "e1", name: "greet", status: "processing", error: null } },
    ]);
  });
});

describe("an effect that fails", () => {
  it("leaves nothing of what it wrote, and is not run again", async () => {
    const definition = greet(async (state) => {
      await state.setValue("greeted", true);
      state.emit("greeted");
      throw new Error("No voice.");
    });
    const { stores, thread, stored, run, reported } = await scheduled(definition);

    const { entries, events } = await run();

    expect(await stored()).toMatchObject({ status: "failed", error: "No voice.", attempts: 1 });
    expect(await stores.state.value(thread.id, "greeted")).toBeUndefined();
    expect({ entries, events }).toEqual({
      entries: [],
      events: [{ event: "effect_changed", data: { id: "e1", name: "greet", status: "failed", error: "No voice." } }],
    });
    expect(reported).toEqual([expect.objectContaining({ message: "No voice." })]);
    expect(await stores.state.dueEffect(thread.id)).toBeUndefined();
  });

  it("does so when it takes too long, and nothing that it writes afterwards counts", async () => {
    const late = Promise.withResolvers<void>();
    const definition = greet(async (state) => {
      await late.promise;
      await state.setValue("greeted", true);
    });
    const { host, thread, stored } = await scheduled(definition);

    const { writes } = await performEffect(host, { thread, effect: await stored(), timeoutMs: 1 });
    late.resolve();
    await late.promise;

    expect(writes).toEqual([expect.objectContaining({ to: "failed", error: "It did not end within 1 ms." })]);
  });

  it("does so when its arguments are not what it takes, before it runs", async () => {
    let runs = 0;
    const definition = effect({
      name: "greet",
      description: "Greets.",
      args: z.object({ name: z.string() }),
      handler: () => runs++,
    });
    const { stored, run } = await scheduled(definition, { name: 7 });

    await run();

    expect(runs).toBe(0);
    expect(await stored()).toMatchObject({ status: "failed", error: expect.stringContaining("name") });
  });

  it("does so when nobody knows it any more", async () => {
    const { host, thread, stored } = await scheduled(greet(() => undefined));
    const { effects, ...registry } = host.registry;
    const without = { ...host, registry: { ...registry, effects: new Map([...effects].slice(1)) } };

    const { writes } = await performEffect(without, { thread, effect: await stored() });

    expect(writes).toEqual([expect.objectContaining({ to: "failed", error: 'Nobody here knows the effect "greet".' })]);
  });
});

it("runs an effect again that was interrupted, three times, and then gives it up", async () => {
  let runs = 0;
  const { host, stores, thread, stored } = await scheduled(greet(() => void runs++));

  for (let crashes = 0; crashes < 4; crashes++) {
    const effect = await stored();
    await stores.writes.apply(thread.id, beginEffect(effect).writes);
    // What comes of it is never committed.
    await performEffect(host, { thread, effect });
    expect(await stores.state.dueEffect(thread.id)).toMatchObject({ id: "e1", status: "processing" });
  }
  const { writes } = await performEffect(host, { thread, effect: await stored() });

  expect(runs).toBe(4);
  expect(writes).toEqual([
    expect.objectContaining({ to: "failed", error: "It was interrupted 4 times, and is given up." }),
  ]);
});
