// biome-ignore-all lint/suspicious/noTemplateCurlyInString: bindings of workflows
// Promise: what is read of a run, page by page or as it happens, is what happened in it, and names the steps that it is about.
import { expect, it } from "vitest";
import { held } from "../held.ts";
import { clockedWorld, DAY, fails, runs, SECOND, suspended, until } from "./runs-in-test.ts";

const undo = { undo: runs("undo") };

it("names what is undone after the steps that are undone, also for a program that has followed from the beginning", async () => {
  const { call, next } = held<object, object>();
  const { open } = await clockedWorld();
  const stepFunctions = { one: () => ({}), two: () => call({}), three: () => ({}), undo: () => ({}), fails };
  const holdfast = await open({ stepFunctions });
  const run = await holdfast.workflows.start({
    id: "trip",
    steps: [runs("one", undo), runs("two", undo), runs("three", undo), runs("fails")],
  });
  const { answer } = await next();
  const following = run.follow();
  const first = await following.next();
  expect(first.value).toMatchObject({ type: "run.started" });
  answer({});
  const undone: unknown[] = [];
  for await (const { type, path, step } of following) {
    if (type === "step.ended" && path?.startsWith("undo/")) undone.push(step);
  }
  expect(undone).toEqual(["three", "two", "one"]);
  const read = (await run.events()).filter(({ type, path }) => type === "step.ended" && path?.startsWith("undo/"));
  expect(read.map(({ step }) => step)).toEqual(undone);
});

it.each([1, 2, 3])("is read to its end in pages of %d", async (limit) => {
  const { open } = await clockedWorld();
  const holdfast = await open({ stepFunctions: { one: () => ({}), two: () => ({}) } });
  const run = await holdfast.workflows.start({ id: "steps", steps: [runs("one"), runs("two")] });
  await run.result();
  const ids: string[] = [];
  for (;;) {
    const after = ids.at(-1);
    const page = await run.events({ limit, ...(after !== undefined && { after }) });
    if (page.length === 0) break;
    ids.push(...page.map(({ id }) => id));
  }
  expect(ids).toEqual((await run.events()).map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
});

it("says that a run is stuck to those who follow it or wait for it", async () => {
  const { clock, open, takeErrors } = await clockedWorld();
  const holdfast = await open({
    onPoint: async (point) => {
      if (point.startsWith("before commit")) throw new Error("the disk is full");
    },
  });
  const run = await holdfast.workflows.start({ id: "naps", steps: [{ id: "nap", type: "sleep", for: "1h" }] });
  const followed = (async () => {
    for await (const _ of run.follow());
  })();
  const ends = [run.result(), followed].map((each) => each.then(() => "ended").catch(({ code }) => code));
  const all = Promise.all(ends);
  let isOver = false;
  void all.then(() => {
    isOver = true;
  });
  await until(async () => {
    await clock.advance(10 * SECOND);
    return isOver;
  });
  expect(await all).toEqual(["workflow_run_stuck", "workflow_run_stuck"]);
  expect(takeErrors().length).toBeGreaterThan(0);
});

it("says when a step began whose bindings could not be expanded", async () => {
  const { clock, open } = await clockedWorld();
  const { workflows } = await open({ stepFunctions: { f: () => ({}) } });
  const run = await workflows.start(
    { id: "large", steps: [runs("f", { input: "${inputs.text}${inputs.text}" })] },
    { text: "x".repeat(9_000_000) },
  );
  expect(await run.result()).toMatchObject({
    status: "failed",
    steps: [{ id: "f", status: "failed", started_at: clock.now() / SECOND }],
  });
});

it("does not wait any longer for what the attempt before has waited for", async () => {
  const { clock, open } = await clockedWorld();
  const holdfast = await open();
  const run = await holdfast.workflows.start({
    id: "waits",
    steps: [{ id: "paid", type: "wait", event: "paid", payload: { required: ["cents"] }, timeout: "1d" }],
  });
  await suspended(run, "waiting_for_event");
  await clock.advance(DAY);
  expect(await run.result()).toMatchObject({ status: "failed", error: { code: "workflow_wait_timed_out" } });
  await run.retry();
  await suspended(run, "waiting_for_event");
  const { steps, metadata } = await run.record();
  expect(steps).toMatchObject([{ id: "paid", status: "pending", suspend: { event: "paid" } }]);
  expect(steps).toEqual([expect.not.objectContaining({ error: expect.anything() })]);
  expect(metadata).toMatchObject({ _suspension: { step_id: "paid" } });
});

it("undoes steps in the order in which they ended, from behind, whichever process saw them end", async () => {
  const { open } = await clockedWorld();
  const done: unknown[] = [];
  const stepFunctions = { book: () => ({}), cancel: (room: unknown) => void done.push(room), fails };
  const book = (room: string) =>
    runs("book", { id: room, undo: { type: "function", function: "cancel", input: room } });
  const go = { id: "go", type: "wait", event: "go" };
  const steps = [book("a"), book("b"), go, book("c"), { ...go, id: "again" }, book("d"), runs("fails")];
  const first = await open({ stepFunctions });
  const { id } = await first.workflows.start({ id: "trip", steps });
  await suspended(await first.workflows.run(id));
  await first.close();
  const second = await open({ stepFunctions });
  const there = await second.workflows.run(id);
  await there.send("go");
  await until(async () => (await there.events()).some(({ type, step }) => type === "step.waiting" && step === "again"));
  await suspended(there);
  await second.close();
  const third = await open({ stepFunctions });
  const run = await third.workflows.run(id);
  await run.send("go");
  await run.result();
  expect(done).toEqual(["d", "c", "b", "a"]);
});
