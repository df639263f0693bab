// Promise: a run whose steps overlap gives its place up to others that are due, and nothing of it begins once the process is to stop.
import { expect, it, onTestFinished } from "vitest";
import { typedSpec } from "../../src/contracts/workflows/spec.ts";
import type { StepOperations } from "../../src/workflows/durable/run-host.ts";
import { sqliteWorlds } from "../databases.ts";
import { held } from "../held.ts";
import { openDriver } from "./driver-in-test.ts";
import { clockedWorld, happened, runs, until } from "./runs-in-test.ts";

const newBackend = sqliteWorlds();

/** Two items at a time, so that one of them is always at work. */
function each(count: number) {
  const items = Array.from({ length: count }, (_, index) => index);
  return { id: "each", steps: [{ id: "each", type: "foreach", items, concurrency: 2, steps: [runs("work")] }] };
}

it("gives its place up to a run that is due while its steps overlap", async () => {
  const most = 400;
  const { call, next } = held<object, object>();
  const functions = { work: () => call({}), quick: () => ({}) };
  const operations = (): StepOperations => ({
    ...{ has: () => false, isRepeatable: () => false, call: () => undefined },
    firstAnswer: async () => "never_begun",
  });
  const driver = await openDriver(await newBackend(), { operations, functions }, undefined, {
    ...{ concurrency: 1, slice: 5 },
  });
  onTestFinished(() => driver.close());
  await driver.begin(typedSpec(each(most)), {}, { id: "long" });
  let [older, newer] = [await next(), await next()];
  await driver.begin(typedSpec({ id: "short", steps: [runs("quick")] }), {}, { id: "short" });
  const long = driver.run("long");
  let begun = 2;
  for (let path = 0; begun < most; path++) {
    older.answer({});
    const ended = await happened(long, { type: "step.ended", path: `0/${path}/0` });
    const [commit] = ended.id.split(".");
    const isFollowed = (await long.events({ limit: 10_000 })).some(
      ({ id, type }) => type === "step.begun" && id.startsWith(`${commit}.`),
    );
    if (!isFollowed) break;
    [older, newer] = [newer, await next()];
    begun++;
  }
  expect(begun).toBeLessThan(most);
  newer.answer({});
  expect(await driver.ended("short")).toMatchObject({ status: "succeeded" });
  expect((await long.summary()).ended_at).toBeNull();
});

it("begins nothing more once the process is to stop, and the next process goes on behind it", async () => {
  const { call, next, count } = held<object, object>();
  const { open } = await clockedWorld();
  const first = await open({ stepFunctions: { work: () => call({}) }, drainMs: 60_000 });
  const { id } = await first.workflows.start(each(20));
  const [older, newer] = [await next(), await next()];
  const closing = first.close();
  older.answer({});
  await happened(await first.workflows.run(id), { type: "step.ended", path: "0/0/0" });
  newer.answer({});
  await closing;
  expect(count()).toBe(0);

  let done = 0;
  const second = await open({ stepFunctions: { work: () => void done++ } });
  const run = await second.workflows.run(id);
  expect(await run.result()).toMatchObject({ status: "succeeded" });
  expect(await run.summary()).toMatchObject({ has_problem: false });
  expect(done).toBe(18);
});

it("stops to wait for a step that takes longer than the process has, and leaves the others for later", async () => {
  const { call, next } = held<object, object>();
  const { open } = await clockedWorld();
  const work = { idempotent: true, run: () => call({}) };
  const first = await open({ stepFunctions: { work }, drainMs: 1 });
  const { id } = await first.workflows.start(each(4));
  await next();
  await next();
  await first.close();
  const second = await open({ stepFunctions: { work: { ...work, run: () => ({}) } } });
  expect(await (await second.workflows.run(id)).result()).toMatchObject({ status: "succeeded" });
});

it("lets a paused run rest while one of its steps is at work and another would be tried again", async () => {
  const { call, next } = held<object, object>();
  let tries = 0;
  const unsteady = () => {
    tries++;
    throw new Error("not yet");
  };
  const { clock, open } = await clockedWorld();
  const holdfast = await open({ stepFunctions: { long: () => call({}), unsteady } });
  const again = { retry: { max_attempts: 3, backoff: "1s" } };
  const branches = [
    { role: "long", steps: [runs("long")] },
    { role: "unsteady", steps: [runs("unsteady", again)] },
  ];
  const run = await holdfast.workflows.start({ id: "both", steps: [{ id: "both", type: "parallel", branches }] });
  const long = await next();
  await happened(run, { type: "step.retrying" });
  await run.pause();
  await clock.advance(60_000);
  long.answer({});
  await until(async () => (await run.summary()).reason === "paused");
  expect(tries).toBe(1);
  await run.resume();
  await until(async () => tries === 2);
  await run.cancel();
});
