// Schedules whose definition changes, or that leave the configuration and are there again: none of it makes a run due.
import { describe, expect, it } from "vitest";
import type { Entry } from "../../src/gateway/schedule/entry.ts";
import { type SchedulerWorld, scheduleOf, schedulerWorld } from "./scheduler-world.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const every = (hours: number, jitter_ms = 0) => ({ when: { every_ms: hours * HOUR, jitter_ms } });
const at = (time: string) => ({ when: { at: time } });

/** Queues beside what is outstanding, so that every run is a job. */
const named = (parts: Parameters<typeof scheduleOf>[1]) => scheduleOf("a", { if_running: "queue", ...parts });

async function runs({ jobs }: SchedulerWorld): Promise<number> {
  return (await jobs.list({ limit: 100 })).length;
}

async function stored({ schedules, clock }: SchedulerWorld) {
  const found = await schedules.get("tool", "a");
  const next = found?.next_run_at ?? null;
  // The database's clock stands still but for microseconds.
  return { status: found?.status, next: next === null ? null : Math.round((next / 1_000 - clock.now()) / MINUTE) / 60 };
}

describe("a definition that changes", () => {
  it.each<[string, Entry, number, Entry, { status: string; next: number | null }]>([
    ["to a longer interval", named(every(1)), 0.5, named(every(2)), { status: "active", next: 1.5 }],
    ["to a shorter interval", named(every(24)), 3, named(every(4)), { status: "active", next: 1 }],
    ["to an interval that is over", named(every(24)), 3, named(every(1)), { status: "active", next: 1 }],
    ["to an interval later than before", named(every(24)), 22, named(every(12)), { status: "active", next: 2 }],
    ["in its command", named(every(1)), 0.5, named({ ...every(1), command: "other" }), { status: "active", next: 0.5 }],
    ["to a calendar", named(every(24)), 3, named({ when: { cron: "0 12 * * *" } }), { status: "active", next: 9 }],
    ["to a time", named(every(24)), 3, named(at("2030-01-01T05:00:00Z")), { status: "active", next: 2 }],
    [
      "to a time that is over",
      named(every(24)),
      3,
      named(at("2030-01-01T02:00:00Z")),
      { status: "exhausted", next: null },
    ],
    ["to a while", named(every(24)), 3, named({ when: { after_ms: HOUR } }), { status: "active", next: 1 }],
  ])("%s makes no run due", async (_what, before, hours, changed, expected) => {
    const world = await schedulerWorld();
    await world.look([before]);
    await world.clock.advance(hours * HOUR);
    await world.look([changed]);
    expect(await runs(world)).toBe(1);
    expect(await stored(world)).toEqual(expected);
    await world.look([changed]);
    expect(await stored(world)).toEqual(expected);
  });

  it("back and forth, once for each tick, lets no more runs through than the shorter interval", async () => {
    const world = await schedulerWorld();
    for (let minute = 0; minute < 240; minute++) {
      for (const entry of [named(every(1)), named(every(2))]) await world.look([entry]);
      await world.clock.advance(MINUTE);
    }
    expect([2, 3, 4]).toContain(await runs(world));
  });

  it("takes back no run that was due", async () => {
    const world = await schedulerWorld();
    await world.look([named(every(24))]);
    await world.clock.advance(24 * HOUR + MINUTE);
    await world.look([named({ ...every(24), command: "other" })]);
    expect(await runs(world)).toBe(2);
  });

  it.each([
    ["at a time", named(at("2030-01-01T01:00:00Z")), named({ ...at("2030-01-01T01:00:00Z"), command: "other" })],
    ["after a while", named({ when: { after_ms: HOUR } }), named({ when: { after_ms: HOUR }, command: "other" })],
  ])("runs a schedule that has run once, %s, no second time", async (_what, before, changed) => {
    const world = await schedulerWorld();
    await world.look([before]);
    await world.clock.advance(HOUR);
    await world.look([before]);
    await world.look([changed]);
    await world.clock.advance(24 * HOUR);
    await world.look([changed]);
    expect(await runs(world)).toBe(1);
    expect(await stored(world)).toEqual({ status: "exhausted", next: null });
  });

  it("to a later time runs a schedule again that has run at another one", async () => {
    const world = await schedulerWorld();
    await world.look([named(at("2029-12-31T23:00:00Z"))]);
    expect(await stored(world)).toEqual({ status: "exhausted", next: null });
    await world.look([named(at("2030-01-01T02:00:00Z"))]);
    expect(await stored(world)).toEqual({ status: "active", next: 2 });
    await world.clock.advance(2 * HOUR);
    await world.look([named(at("2030-01-01T02:00:00Z"))]);
    expect(await runs(world)).toBe(2);
  });

  it("leaves a schedule paused", async () => {
    const world = await schedulerWorld();
    await world.look([named(every(1))]);
    await world.schedules.setStatus("tool", "a", "paused_manual", null);
    await world.look([named(every(2))]);
    expect(await stored(world)).toMatchObject({ status: "paused_manual" });
  });
});

describe("a schedule that leaves the configuration and is there again", () => {
  it("in between each tick runs as if it had been there", async () => {
    const world = await schedulerWorld();
    for (let minute = 0; minute < 120; minute++) {
      for (const entries of [[named(every(1))], []]) await world.look(entries);
      await world.clock.advance(MINUTE);
    }
    expect(await runs(world)).toBe(2);
  });

  it("is due at once where its interval is over, and once, whatever it has missed", async () => {
    const world = await schedulerWorld();
    const entry = named({ ...every(1), catch_up: "run_all" });
    await world.look([entry]);
    await world.look([]);
    await world.clock.advance(5 * HOUR);
    await world.look([entry]);
    expect(await runs(world)).toBe(2);
  });

  it("waits for the next match of its calendar", async () => {
    const world = await schedulerWorld();
    const noon = named({ when: { cron: "0 12 * * *" } });
    await world.look([noon]);
    await world.look([]);
    await world.clock.advance(13 * HOUR);
    await world.look([noon]);
    expect(await stored(world)).toEqual({ status: "active", next: 23 });
    expect(await runs(world)).toBe(0);
  });

  it.each([
    ["has run once", named({ when: { after_ms: HOUR } }), "exhausted"],
    ["was paused", named(every(1)), "paused_manual"],
  ])("is as it was where it %s", async (_what, entry, status) => {
    const world = await schedulerWorld();
    await world.look([entry]);
    await world.clock.advance(HOUR);
    await world.look([entry]);
    if (status === "paused_manual") await world.schedules.setStatus("tool", "a", status, null);
    const before = await runs(world);
    await world.look([]);
    await world.look([entry]);
    await world.clock.advance(2 * HOUR);
    await world.look([entry]);
    expect(await stored(world)).toMatchObject({ status });
    expect(await runs(world)).toBe(before);
  });

  it("is a new one once it was forgotten", async () => {
    const world = await schedulerWorld();
    const entry = named({ when: { after_ms: HOUR } });
    await world.look([entry]);
    await world.clock.advance(HOUR);
    await world.look([entry]);
    await world.look([]);
    await world.schedules.forget(0);
    await world.look([entry]);
    expect(await stored(world)).toEqual({ status: "active", next: 1 });
  });
});

describe("a schedule that cannot run, although its configuration is valid,", () => {
  const problem = 'The plugin tool declares no command "poll".';

  it.each([
    ["is due where its interval is over", named(every(1)), 1, { status: "active", next: 1 }],
    ["waits for its next match", named({ when: { cron: "0 1 * * *" } }), 0, { status: "active", next: 22 }],
  ])("runs nothing until it can, and then %s", async (_what, entry, runsThen, expected) => {
    const world = await schedulerWorld();
    await world.look([{ ...entry, problem }]);
    await world.clock.advance(3 * HOUR);
    await world.look([{ ...entry, problem }]);
    expect(await world.schedules.list()).toMatchObject([{ status: "paused_invalid", reason: problem }]);
    await world.schedules.setStatus("tool", "a", "active", null);
    await world.look([{ ...entry, problem }]);
    expect(await world.schedules.list()).toMatchObject([{ status: "paused_invalid", reason: problem }]);
    expect(await runs(world)).toBe(0);
    await world.look([entry]);
    expect(await runs(world)).toBe(runsThen);
    expect(await stored(world)).toEqual(expected);
    expect(await world.schedules.list()).toMatchObject([{ reason: null }]);
  });

  it("stays paused where it was paused by hand", async () => {
    const world = await schedulerWorld();
    await world.look([named(every(1))]);
    await world.schedules.setStatus("tool", "a", "paused_manual", null);
    await world.look([{ ...named(every(1)), problem }]);
    expect(await stored(world)).toMatchObject({ status: "paused_manual" });
  });
});
