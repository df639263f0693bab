// Promise: of two wishes that meet, one counts, and the run comes to an end that fits it. What is asked of a run survives the process
// that carries it on.
import { expect, it } from "vitest";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import * as principals from "../../src/contracts/trust/principal.ts";
import { createHoldfast } from "../../src/holdfast.ts";
import { heldClock } from "../../src/testing/held-clock.ts";
import type { RunHandle } from "../../src/workflows/durable/run-handle.ts";
import { eachDatabase } from "../databases.ts";
import { held } from "../held.ts";
import { openMortal } from "../mortal-runtime.ts";

const WAIT = { id: "wait", type: "wait", event: "go" };
const APPROVAL = { id: "yes", type: "wait", approval: { summary: "May it?" }, timeout: "1h" };
const step = (id: string, more = {}) => ({ id, type: "function", function: id, ...more });

async function stands(run: Pick<RunHandle, "summary">, status: string): Promise<void> {
  while ((await run.summary()).status !== status) await new Promise(setImmediate);
}

eachDatabase((newWorld) => {
  it("takes the wish to stop that comes in with the event that is waited for", async () => {
    const world = await newWorld();
    const done: string[] = [];
    const holdfast = await world.open([], { stepFunctions: { a: () => void done.push("a") } });
    const run = await holdfast.workflows.start({ id: "w", steps: [WAIT, step("a")] });
    await stands(run, "suspended");
    await Promise.all([run.send("go"), run.requestCancel()]);
    const record = await run.result();
    expect(["cancelled", "succeeded"]).toContain(record.status);
    expect(done).toEqual(record.status === "succeeded" ? ["a"] : []);
    expect(await run.requestCancel()).toBe(false);
    await expect(run.send("go")).rejects.toMatchObject({ code: "workflow_run_ended" });
  });

  it("cancels while a step is at work: what it came to is undone, and nothing follows", async () => {
    const world = await newWorld();
    const done: string[] = [];
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const holdfast = await world.open([], {
      stepFunctions: {
        a: async () => {
          begun.resolve();
          await goOn.promise;
          done.push("a");
          return { a: 1 };
        },
        undo: (input: unknown) => void done.push(`undo ${JSON.stringify(input)}`),
        b: () => void done.push("b"),
      },
    });
    const undo = { type: "function", function: "undo", input: "$" + "{vars.output}" };
    const run = await holdfast.workflows.start({ id: "w", steps: [step("a", { undo }), step("b")] });
    await begun.promise;
    expect(await run.requestCancel("changed our minds")).toBe(true);
    goOn.resolve();
    expect(await run.result()).toMatchObject({
      status: "cancelled",
      error: { code: "cancel_requested" },
      metadata: { _rollback: [{ id: "a", status: "succeeded" }] },
    });
    expect(done).toEqual(["a", 'undo {"a":1}']);
  });

  it("fires the signal of a step that is at work when the run is cancelled", async () => {
    const world = await newWorld();
    const begun = Promise.withResolvers<void>();
    const holdfast = await world.open([], {
      stepFunctions: {
        a: (_: unknown, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(new Error("stopped")));
            begun.resolve();
          }),
      },
    });
    const run = await holdfast.workflows.start({ id: "w", steps: [step("a")] });
    await begun.promise;
    expect(await run.cancel()).toMatchObject({ status: "cancelled" });
  });

  it("undoes what a run below had done when the one above is cancelled", async () => {
    const world = await newWorld();
    const done: string[] = [];
    const inner = { id: "inner", steps: [step("a", { undo: { type: "function", function: "undo" } }), WAIT] };
    const outer = { id: "outer", steps: [{ id: "nest", type: "workflow", workflow: "inner" }] };
    const holdfast = await world.open([], {
      workflows: [inner, outer],
      stepFunctions: { a: () => void done.push("a"), undo: () => void done.push("undo") },
    });
    const run = await holdfast.workflows.start("outer");
    for (;;) {
      if ((await holdfast.workflows.runs({ parent: run.id, status: "suspended" })).length > 0) break;
      await new Promise(setImmediate);
    }
    expect(await run.cancel()).toMatchObject({ status: "cancelled" });
    expect(await holdfast.workflows.runs({ parent: run.id })).toMatchObject([{ status: "cancelled" }]);
    expect(done).toEqual(["a", "undo"]);
  });

  it("cancels a run below by itself: the step above fails, and nothing is tried again", async () => {
    const world = await newWorld();
    const outer = {
      id: "outer",
      steps: [{ id: "nest", type: "workflow", workflow: "inner", retry: { max_attempts: 3, backoff: "0s" } }],
    };
    const holdfast = await world.open([], { workflows: [{ id: "inner", steps: [WAIT] }, outer] });
    const run = await holdfast.workflows.start("outer");
    const inner = await below(run.id);
    await inner.cancel();
    expect(await run.result()).toMatchObject({ status: "failed", error: { data: { status: "cancelled" } } });
    expect(await holdfast.workflows.runs({ parent: run.id })).toHaveLength(1);
    await expect(inner.retry()).rejects.toMatchObject({ code: "workflow_run_not_failed" });

    async function below(parent: string) {
      for (;;) {
        const [found] = await holdfast.workflows.runs({ parent, status: "suspended" });
        if (found) return await holdfast.workflows.run(found.run_id);
        await new Promise(setImmediate);
      }
    }
  });

  it("lets a paused run take events and answers once it goes on", async () => {
    const world = await newWorld();
    const done: string[] = [];
    const holdfast = await world.open([], { stepFunctions: { a: () => void done.push("a") } });
    const run = await holdfast.workflows.start({ id: "w", steps: [WAIT, step("a"), APPROVAL] });
    await stands(run, "suspended");
    await run.pause();
    while ((await run.summary()).reason !== "paused") await new Promise(setImmediate);
    await run.send("go");
    await world.untilLeft(run.id, 3);
    expect(done).toEqual([]);
    await run.resume();
    while ((await run.summary()).reason !== "waiting_for_approval") await new Promise(setImmediate);
    expect(done).toEqual(["a"]);
    await run.pause();
    while ((await run.summary()).reason !== "paused") await new Promise(setImmediate);
    // A pause does not keep a run from being stopped.
    expect(await run.cancel()).toMatchObject({ status: "cancelled" });
    expect(await holdfast.requests.list({ thread: run.id, status: "pending" })).toEqual([]);
  });

  it("holds back what comes next when it is paused while a step is at work", async () => {
    const world = await newWorld();
    const done: string[] = [];
    const calls = held<object, null>();
    const holdfast = await world.open([], {
      stepFunctions: { a: () => calls.call({}), b: () => void done.push("b") },
    });
    const run = await holdfast.workflows.start({ id: "w", steps: [step("a"), step("b")] });
    const call = await calls.next();
    await run.pause();
    await world.untilLeft(run.id, 2);
    call.answer(null);
    while ((await run.summary()).reason !== "paused") await new Promise(setImmediate);
    expect(done).toEqual([]);
    await run.resume();
    expect(await run.result()).toMatchObject({ status: "succeeded" });
    expect(done).toEqual(["b"]);
  });

  const wishes = {
    cancel: async (run: RunHandle) => void (await run.requestCancel()),
    pause: async (run: RunHandle) => await run.pause(),
    event: async (run: RunHandle) => await run.send("go", { n: 1 }),
  };

  it.each(Object.keys(wishes) as (keyof typeof wishes)[])(
    "keeps the wish when its process ends right behind it: %s",
    async (kind) => {
      const world = await newWorld();
      const entry = { cancel: "stop", pause: "pause", event: "event" }[kind];
      const mortal = await openMortal(world, [], (point) => point === `after ${entry} of a run`, { leaseMs: 500 });
      const run = await mortal.workflows.start({ id: "w", steps: [WAIT] });
      await stands(run, "suspended");
      void wishes[kind](run);
      await mortal.died;
      const holdfast = await world.open([]);
      const again = await holdfast.workflows.run(run.id);
      if (kind === "pause") {
        while ((await again.summary()).reason !== "paused") await new Promise(setImmediate);
        await again.resume();
        await again.send("go");
      }
      expect((await again.result()).status).toBe(kind === "cancel" ? "cancelled" : "succeeded");
    },
  );

  it("starts once under a key, and no other run under it", async () => {
    const world = await newWorld();
    const holdfast = await world.open([], { stepFunctions: { a: () => null } });
    const spec = { id: "w", steps: [step("a")] };
    const starts = await Promise.all([1, 2, 3].map(() => holdfast.workflows.start(spec, { n: 1 }, { key: "k" })));
    expect(new Set(starts.map(({ id }) => id)).size).toBe(1);
    expect(starts.map(({ outcome }) => outcome).sort()).toEqual(["repeated", "repeated", "started"]);
    const again = { code: "workflow_key_taken" };
    await expect(holdfast.workflows.start(spec, { n: 2 }, { key: "k" })).rejects.toMatchObject(again);
    await expect(holdfast.workflows.start({ ...spec, id: "v" }, { n: 1 }, { key: "k" })).rejects.toMatchObject(again);
    await expect(holdfast.workflows.start(spec, { n: 1 }, { key: "k", tags: ["t"] })).rejects.toMatchObject(again);
    expect(await holdfast.workflows.runs()).toHaveLength(1);
    // Another caller has keys of its own.
    const principal = { ...principals.userSession(7, "clerk") };
    expect(await holdfast.workflows.start(spec, { n: 1 }, { key: "k", principal })).toMatchObject({
      outcome: "started",
    });
  });
});

it("fails what is not decided, sent or answered in time, by the clock of the database", async () => {
  const clock = heldClock();
  const holdfast = await createHoldfast({ backend: sqlite(":memory:", { clock }), agents: [], verifies: true });
  const steps = [
    { id: "event", type: "wait", event: "go", timeout: "1h" },
    { id: "result", type: "wait", request: { description: "Count." }, timeout: "1h" },
    APPROVAL,
  ];
  const runs = await Promise.all(
    steps.map((each) => holdfast.workflows.start({ id: each.id, steps: [each] }, {}, { tags: [each.id] })),
  );
  for (const run of runs) await stands(run, "suspended");
  await clock.advance(59 * 60_000);
  for (const run of runs) expect(await run.summary()).toMatchObject({ status: "suspended" });
  await clock.advance(2 * 60_000);
  const codes = await Promise.all(runs.map(async (run) => (await run.result()).error));
  expect(codes).toMatchObject([
    { code: "workflow_wait_timed_out" },
    { code: "workflow_wait_timed_out" },
    { code: "approval_expired" },
  ]);
  expect(await holdfast.requests.list({ status: "pending" })).toEqual([]);
  await holdfast.close();
});
