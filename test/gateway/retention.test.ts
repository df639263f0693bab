// What is kept, and for how long: ended jobs, their log, the event stream, and the keys of duplicates.
import { expect, it } from "vitest";
import { heldClock } from "../../src/testing/held-clock.ts";
import { eventually } from "../eventually.ts";
import { api, openGateway, plugin } from "./gateway-world.ts";

const HOUR = 3_600_000;

it("a tree whose jobs have ended is removed after a day, its log later, and no tree that still has a job", async () => {
  const clock = heldClock();
  const slow = plugin("slow", (_, call) => {
    if (call === 0) throw new Error("Not yet.");
    return "ok";
  });
  const { gateway, untilIdle } = await openGateway({
    plugins: [plugin("tool"), slow],
    ...{ clock, config: { plugins: { slow: { retry: { backoff_base: "26h" } } } } },
  });
  const [ended = ""] = (await gateway.call("tool", "handle", { payload: {} }, api)).job_ids;
  const [waiting = ""] = (await gateway.call("slow", "handle", { payload: {} }, api)).job_ids;
  await eventually(async () => expect((await gateway.jobs.get(waiting)).attempt).toBe(2));
  await clock.advance(23 * HOUR);
  expect((await gateway.jobs.list({ limit: 9 })).map(({ id }) => id).toSorted()).toEqual([ended, waiting].toSorted());
  await clock.advance(2 * HOUR);
  expect((await gateway.jobs.list({ limit: 9 })).map(({ id }) => id)).toEqual([waiting]);
  expect((await gateway.jobs.details(ended)).attempts).toMatchObject([{ outcome: "succeeded" }]);
  await clock.advance(8 * HOUR);
  await untilIdle();
  await clock.advance(31 * 24 * HOUR);
  expect(await gateway.jobs.list({ limit: 9 })).toEqual([]);
  expect((await gateway.jobs.details(ended)).attempts).toEqual([]);
});

it("the log of a job outlives the queue: with what it was asked, what it answered, and its history", async () => {
  const clock = heldClock();
  const { gateway, untilIdle } = await openGateway({ plugins: [plugin("tool")], clock });
  const { job_ids } = await gateway.call("tool", "handle", { payload: { text: "asked" } }, api);
  const [id = ""] = job_ids;
  await untilIdle();
  const before = { job: await gateway.jobs.get(id), details: await gateway.jobs.details(id) };
  expect(before.job).toMatchObject({
    status: "succeeded",
    payload: { payload: { text: "asked" } },
    result: "tool is done",
  });
  await clock.advance(25 * HOUR);
  expect(await gateway.jobs.list({ limit: 9 })).toEqual([]);
  expect(await gateway.jobs.get(id)).toEqual(before.job);
  expect(await gateway.jobs.details(id)).toEqual(before.details);
  expect((await gateway.jobs.log({ limit: 9 })).map(({ result }) => result)).toEqual(["tool is done"]);
  expect(await gateway.jobs.tree(id)).toHaveLength(1);
  await expect(gateway.jobs.cancel(id, "test")).rejects.toMatchObject({ code: "job_ended" });
  await clock.advance(30 * 24 * HOUR);
  expect(await gateway.jobs.log({ limit: 9 })).toEqual([]);
  await expect(gateway.jobs.get(id)).rejects.toMatchObject({ code: "job_not_found" });
});

it("a log of any length is removed in one tick, so many jobs at a time", async () => {
  const clock = heldClock();
  const { gateway, untilIdle } = await openGateway({
    plugins: [plugin("tool")],
    ...{ clock, config: { service: { job_log_retention: "24h" } } },
  });
  const calls = 1_100;
  for (let each = 0; each < calls; each++) await gateway.call("tool", "handle", { payload: {} }, api);
  await untilIdle();
  await clock.advance(25 * HOUR);
  expect(await gateway.jobs.log({ limit: 9 })).toEqual([]);
});

it("a key is free again once its window is over", async () => {
  const clock = heldClock();
  const tool = plugin("tool");
  const { gateway, untilIdle } = await openGateway({
    plugins: [tool],
    clock,
    config: { service: { dedupe_ttl: "1h" } },
  });
  const call = async () => {
    const { job_ids } = await gateway.call("tool", "handle", { payload: {}, dedupe_key: "once" }, api);
    await untilIdle();
    return job_ids.length;
  };
  expect([await call(), await call()]).toEqual([1, 0]);
  await clock.advance(HOUR - 1_000);
  expect(await call()).toBe(0);
  await clock.advance(1_001);
  expect([await call(), await call()]).toEqual([1, 0]);
});

it("the event stream is pruned after a week, and its ids go on rising", async () => {
  const clock = heldClock();
  const { gateway, untilIdle, stream } = await openGateway({ plugins: [plugin("tool")], clock });
  await gateway.call("tool", "handle", { payload: {} }, api);
  await untilIdle();
  const last = await gateway.events.last();
  expect(last).toBeGreaterThan(0);
  await clock.advance(8 * 24 * HOUR);
  expect(await stream()).toEqual([]);
  await gateway.call("tool", "handle", { payload: {} }, api);
  await untilIdle();
  const [first] = await gateway.events.read(0, 1);
  expect(first?.id).toBe(last + 1);
});

it("a hook keeps what it carries along, also after the job was removed that it is about", async () => {
  const clock = heldClock();
  const watcher = plugin("watcher", (_, call) => {
    if (call === 0) throw new Error("Not yet.");
    return "ok";
  });
  const steps = [{ uses: "watcher", baggage: { about: "payload.plugin" } }];
  const { gateway, untilIdle } = await openGateway({
    plugins: [plugin("tool"), watcher],
    clock,
    config: {
      plugins: { tool: { notify_on_complete: true }, watcher: { retry: { backoff_base: "26h" } } },
      pipelines: [{ name: "hook", "on-hook": "job.completed", steps }],
    },
  });
  await gateway.call("tool", "handle", { payload: {} }, api);
  await eventually(async () => {
    expect(await gateway.jobs.list({ plugin: "watcher", limit: 9 })).toMatchObject([{ status: "queued", attempt: 2 }]);
  });
  await clock.advance(25 * HOUR);
  expect((await gateway.jobs.list({ limit: 9 })).map(({ plugin: name }) => name)).toEqual(["watcher"]);
  await clock.advance(8 * HOUR);
  await untilIdle();
  expect(watcher.requests.map(({ context }) => context?.about)).toEqual(["tool", "tool"]);
});
