// Several processes with different configurations on one database: the schedules are those of the one that was loaded last.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { heldClock } from "../../src/testing/held-clock.ts";
import { onPostgres, type World } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { newFolder, openGateway, plugin, type TestGateway } from "../gateway/gateway-world.ts";

const HOUR = 3_600_000;

const tool = () => plugin("tool", () => "ok", { commands: ["poll", "daily", "beat"] });

/** Runs with every tick of the process whose schedules count. */
const beat = (id: string) => ({ id, every: "100ms", command: "beat", if_running: "queue" });

async function untilBeats({ gateway }: TestGateway, id: string, more: number): Promise<void> {
  const ref = JSON.stringify(["tool", id]);
  const beats = async () =>
    (await gateway.jobs.list({ command: "beat", limit: 10_000 })).filter(
      ({ source_event_id }) => source_event_id === `schedule:${ref}`,
    ).length;
  const before = await beats();
  await eventually(async () => expect(await beats()).toBeGreaterThanOrEqual(before + more));
}

async function runsOf({ gateway }: TestGateway, command: string): Promise<number> {
  return (await gateway.jobs.list({ command, limit: 100 })).length;
}

async function ids({ gateway }: TestGateway): Promise<readonly string[]> {
  return (await gateway.schedules.list()).map(({ schedule_id }) => schedule_id);
}

onPostgres((newWorld) => {
  const open = (world: World, schedules: readonly object[]) =>
    openGateway({
      ...{ world, plugins: [tool()] },
      config: { service: { tick_interval: "100ms", max_workers: 4 }, plugins: { tool: { schedules, parallelism: 4 } } },
    });
  const old = [{ id: "poll", every: "1h" }, { id: "daily", every: "1d", command: "daily" }, beat("old")];
  const fresh = [{ id: "poll", every: "2h" }, beat("fresh")];

  it("a new configuration and an old one run nothing twice, and the old one is followed again when the new one is gone", async () => {
    const world = await newWorld();
    const before = await open(world, old);
    await untilBeats(before, "old", 2);
    const after = await open(world, fresh);
    await untilBeats(after, "fresh", 5);
    await eventually(async () => expect(await ids(before)).toEqual(["fresh", "poll"]));
    await eventually(() => expect(before.logs.map(({ level }) => level)).toEqual(["warn"]));
    await before.gateway.schedules.pause("tool", "poll");
    await after.holdfast.close();
    await untilBeats(before, "old", 5);
    expect(await ids(before)).toEqual(["daily", "old", "poll"]);
    expect(await before.gateway.schedules.list()).toMatchObject([
      {},
      {},
      { status: "paused_manual", when: "every 3600 s" },
    ]);
    expect([await runsOf(before, "poll"), await runsOf(before, "daily")]).toEqual([1, 1]);
    expect(before.logs.map(({ level }) => level)).toEqual(["warn", "info"]);
  });

  it("processes with the same schedules take turns, whatever else they are configured with", async () => {
    const world = await newWorld();
    const before = await open(world, [beat("same"), { id: "poll", every: "1h" }]);
    const after = await open(world, [beat("same"), { id: "poll", every: "1h" }]);
    await untilBeats(before, "same", 5);
    await after.holdfast.close();
    await untilBeats(before, "same", 5);
    expect(await runsOf(before, "poll")).toBe(1);
    expect(before.logs).toEqual([]);
  });

  it("a configuration that one process reloads counts for all of them", async () => {
    const world = await newWorld();
    const file = join(newFolder(), "gateway.yaml");
    const write = (schedules: readonly object[]) =>
      writeFileSync(file, JSON.stringify({ service: { tick_interval: "100ms" }, plugins: { tool: { schedules } } }));
    write(old);
    const [one, two] = await Promise.all([1, 2].map(() => openGateway({ world, plugins: [tool()], file })));
    if (!one || !two) throw new Error("There are two.");
    await untilBeats(one, "old", 2);
    write(fresh);
    await one.gateway.reload();
    await untilBeats(two, "fresh", 5);
    await eventually(async () => expect(await ids(two)).toEqual(["fresh", "poll"]));
    expect([await runsOf(two, "poll"), await runsOf(two, "daily")]).toEqual([1, 1]);
    await two.gateway.reload();
    await untilBeats(two, "fresh", 5);
    expect([await runsOf(two, "poll"), await runsOf(two, "daily")]).toEqual([1, 1]);
  });
});

describe("one process after another with different configurations", () => {
  it("runs nothing at once but what is new", async () => {
    const clock = heldClock();
    const path = join(newFolder(), "holdfast.db");
    const started = async (schedules: readonly object[], runs: readonly string[]) => {
      const own = tool();
      const config = { plugins: { tool: { schedules } } };
      const { gateway, holdfast, untilIdle } = await openGateway({ plugins: [own], config, clock, path });
      const due = () => clock.now() * 1_000;
      await eventually(async () => {
        const listed = await gateway.schedules.list();
        expect(listed).toHaveLength(schedules.length);
        for (const { next_run_at } of listed) expect(next_run_at ?? Number.POSITIVE_INFINITY).toBeGreaterThan(due());
      });
      await untilIdle();
      expect(own.requests.map(({ command }) => command).toSorted()).toEqual(runs);
      await holdfast.close();
    };
    const hourly = { id: "poll", every: "1h" };
    const daily = { id: "daily", every: "1d", command: "daily" };
    const once = { id: "once", at: "2029-12-31T00:00:00Z" };
    await started([hourly, daily, once], ["daily", "poll", "poll"]);
    await clock.advance(HOUR / 2);
    await started([{ ...hourly, every: "2h" }], []);
    await started([hourly, daily, once], []);
    await clock.advance(HOUR);
    await started([hourly, daily, once], ["poll"]);
    await clock.advance(2 * HOUR + HOUR / 60);
    await started([{ ...hourly, every: "2h" }], ["poll"]);
  });
});
