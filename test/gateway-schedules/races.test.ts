// Several processes that look at one schedule at the same time: one run is queued, and the others change nothing.
import { expect, it } from "vitest";
import { aRoot, scheduleOf, schedulerWorld } from "./scheduler-world.ts";

const HOUR = 3_600_000;

it("a run that replaces the last one is not cancelled by a process that came too late", async () => {
  const { clock, deps, look, jobs, schedules } = await schedulerWorld();
  const entries = [scheduleOf("a", { if_running: "cancel" })];
  await look(entries);
  await clock.advance(HOUR);
  const listsFirst = {
    ...schedules,
    async list() {
      const listed = await schedules.list();
      await look(entries);
      return listed;
    },
  };
  await look(entries, { ...deps, schedules: listsFirst });
  const found = await jobs.list({ limit: 9 });
  expect(found.map(({ status, reason }) => [status, reason])).toEqual([
    ["queued", null],
    ["dead", "cancelled"],
  ]);
});

it("runs that replace the last one cancel what was outstanding, and nothing of another schedule", async () => {
  const { clock, look, cancelled } = await schedulerWorld();
  const entries = [scheduleOf("a", { if_running: "cancel" }), scheduleOf("b", { if_running: "queue" })];
  await look(entries);
  expect(cancelled).toEqual([]);
  await clock.advance(HOUR);
  await look(entries);
  expect(cancelled).toEqual([expect.stringContaining("tool a ")]);
});

it("a breaker is half open together with the job that tries, whichever process queues it", async () => {
  const { clock, deps, look, jobs, schedules } = await schedulerWorld();
  const entries = [scheduleOf("a", { if_running: "queue" })];
  await look(entries);
  const opened_at = clock.now() * 1_000;
  await schedules.putBreaker({ plugin: "tool", command: "poll", state: "open", failures: 3, opened_at }, undefined);
  await clock.advance(HOUR);
  const firesLast = {
    ...schedules,
    async fire(fire: Parameters<typeof schedules.fire>[0]) {
      await look(entries);
      return await schedules.fire(fire);
    },
  };
  await look(entries, { ...deps, schedules: firesLast });
  expect(await jobs.list({ limit: 9 })).toHaveLength(2);
  expect(await schedules.breakers()).toMatchObject([{ state: "half_open" }]);
});

it("a schedule leaves a run out while its last job is outstanding, however many other jobs its command has", async () => {
  const { clock, look, jobs } = await schedulerWorld();
  const entries = [scheduleOf("a"), scheduleOf("b", { if_running: "queue" })];
  await look(entries);
  await jobs.enqueue(Array.from({ length: 100 }, (_, index) => aRoot(`other ${index}`, { submitted_by: "api" })));
  await clock.advance(HOUR);
  await look(entries);
  const scheduled = await jobs.list({ submitted_by: "gateway", limit: 9 });
  expect(scheduled.map(({ source_event_id }) => source_event_id).toSorted()).toEqual([
    ...['schedule:["tool","a"]', 'schedule:["tool","b"]', 'schedule:["tool","b"]'],
  ]);
});
