// Schedules: commands that are queued by the clock, which the test holds.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type HeldClock, heldClock } from "../../src/testing/held-clock.ts";
import { onPostgres } from "../databases.ts";
import { eventually } from "../eventually.ts";
import {
  api,
  eventPayload,
  heldPlugin,
  inShort,
  newFolder,
  openGateway,
  plugin,
  type RecordingPlugin,
  type TestGateway,
} from "../gateway/gateway-world.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A schedule counts from microseconds after the moment at which the clock stands. */
const A_LITTLE = 1;

const commands = ["poll", "handle"];

type World = TestGateway & { readonly clock: HeldClock; readonly tool: RecordingPlugin };

const poller = () => plugin("tool", () => "ok", { commands });

/** A gateway with a plugin "tool" that has these schedules, and no other job. */
async function scheduled(
  tool: RecordingPlugin,
  schedules: readonly object[],
  { settings = {}, clock = heldClock(), ...spec }: { settings?: object; clock?: HeldClock; path?: string } = {},
): Promise<World> {
  const config = { plugins: { tool: { schedules, ...settings } } };
  return { ...(await openGateway({ ...spec, plugins: [tool], config, clock })), clock, tool };
}

/** Waits until the plugin has run so often and every job has ended, and until the scheduler has heard of that. */
async function untilRuns({ gateway, untilIdle, tool }: World, count: number): Promise<void> {
  await eventually(() => expect(tool.requests).toHaveLength(count));
  await untilIdle();
  await eventually(async () => {
    const [last] = await gateway.jobs.list({ submitted_by: "gateway", limit: 1 });
    const [schedule] = await gateway.schedules.list();
    expect(schedule?.last_success_at ?? 0).toBeGreaterThanOrEqual(last?.completed_at ?? 0);
  });
}

/** What the event stream says of runs that were left out. */
async function skipped(world: World): Promise<readonly string[]> {
  const entries = (await world.stream()).filter(({ type }) => type === "scheduler.skipped");
  return entries.map(({ data }) => `${data.plugin}.${data.command} ${data.schedule_id} ${data.reason}`);
}

describe("a schedule with an interval", () => {
  it("runs at once, and then an interval after each success", async () => {
    const tool = poller();
    const world = await scheduled(tool, [{ every: "10m", payload: { n: 1 } }]);
    await untilRuns(world, 1);
    await world.clock.advance(9 * MINUTE);
    await untilRuns(world, 1);
    await world.clock.advance(MINUTE + A_LITTLE);
    await untilRuns(world, 2);
    await world.clock.advance(10 * MINUTE + A_LITTLE);
    await untilRuns(world, 3);
    expect(tool.requests).toMatchObject(Array(3).fill({ command: "poll", payload: { n: 1 } }));
    const entries = (await world.stream()).filter(({ type }) => type === "scheduler.scheduled");
    expect(entries).toMatchObject(Array(3).fill({ data: { plugin: "tool", command: "poll", schedule_id: "default" } }));
  });

  it("that is shorter than the time between two ticks runs at every tick", async () => {
    const world = await scheduled(poller(), [{ every: "10s" }]);
    for (const runs of [1, 2, 3]) {
      await untilRuns(world, runs);
      await world.clock.advance(MINUTE);
    }
    await untilRuns(world, 4);
  });

  it("leaves a run out while the last one is outstanding", async () => {
    const tool = heldPlugin("tool", { commands });
    const world = await scheduled(tool, [{ every: "10m" }]);
    const first = await tool.next();
    await world.clock.advance(10 * MINUTE + A_LITTLE);
    await world.clock.advance(10 * MINUTE + A_LITTLE);
    expect(await world.gateway.jobs.list({ limit: 9 })).toHaveLength(1);
    expect(await skipped(world)).toEqual(Array(2).fill("tool.poll default if_running"));
    first.answer("ok");
    await untilRuns(world, 1);
    await world.clock.advance(10 * MINUTE + A_LITTLE);
    (await tool.next()).answer("ok");
    await untilRuns(world, 2);
  });

  it("queues runs behind the last one where it says so, as many as may be outstanding", async () => {
    const tool = heldPlugin("tool", { commands });
    const settings = { max_outstanding_polls: 2 };
    const world = await scheduled(tool, [{ every: "10m", if_running: "queue" }], { settings });
    const first = await tool.next();
    for (let count = 0; count < 3; count++) await world.clock.advance(10 * MINUTE + A_LITTLE);
    expect(inShort(await world.gateway.jobs.list({ limit: 9 })).toSorted()).toEqual([
      ...["tool.poll queued", "tool.poll running"],
    ]);
    expect(await skipped(world)).toEqual(Array(2).fill("tool.poll default max_outstanding_polls"));
    first.answer("ok");
    (await tool.next()).answer("ok");
    await untilRuns(world, 2);
  });

  it("cancels the last run where it says so", async () => {
    const tool = heldPlugin("tool", { commands });
    const world = await scheduled(tool, [{ every: "10m", if_running: "cancel" }]);
    const first = await tool.next();
    await world.clock.advance(10 * MINUTE + A_LITTLE);
    (await tool.next()).answer("ok");
    await untilRuns(world, 2);
    expect(first.signal.aborted).toBe(true);
    expect(inShort(await world.gateway.jobs.list({ limit: 9 })).toSorted()).toEqual([
      ...["tool.poll dead cancelled", "tool.poll succeeded"],
    ]);
  });

  it("says the same of a run that was queued when it is cancelled as of any other, and pipelines hear of it", async () => {
    const tool = heldPlugin("tool", { commands: ["poll", "other"] });
    const [letters, hooks] = [plugin("letters"), plugin("hooks")];
    const clock = heldClock();
    const world = await openGateway({
      plugins: [tool, letters, hooks],
      config: {
        plugins: { tool: { notify_on_complete: true, schedules: [{ every: "10m", if_running: "cancel" }] } },
        pipelines: [
          { name: "letters", on: "dead_letter", steps: [{ uses: "letters" }] },
          { name: "hooks", "on-hook": "job.failed", steps: [{ uses: "hooks" }] },
        ],
      },
      clock,
    });
    (await tool.next()).answer("ok");
    await world.untilIdle();
    await world.gateway.call("tool", "other", { payload: {} }, api);
    const other = await tool.next();
    await clock.advance(10 * MINUTE + A_LITTLE);
    await clock.advance(10 * MINUTE + A_LITTLE);
    other.answer("ok");
    (await tool.next()).answer("ok");
    await world.untilIdle();
    const dead = (await world.gateway.jobs.list({ statuses: ["dead"], limit: 9 })).map(({ id }) => id);
    expect(dead).toHaveLength(1);
    expect([letters, hooks].map(({ requests }) => requests.map((each) => eventPayload(each).job_id))).toEqual([
      ...[dead, dead],
    ]);
    const failed = (await world.stream()).filter(({ type }) => type === "job.failed");
    expect(failed.map(({ data }) => data.job_id)).toEqual(dead);
  });
});

describe("runs that were missed while no process was there", () => {
  it.each([
    ["are left out", "skip", 0],
    ["are made up for by one", "run_once", 1],
    ["are made up for by one each", "run_all", 6],
  ])("%s with catch_up: %s", async (_what, catch_up, count) => {
    const clock = heldClock();
    const path = join(newFolder(), "holdfast.db");
    const schedules = [{ every: "10m", catch_up, if_running: "queue" }];
    const settings = { max_outstanding_polls: 100 };
    const before = await scheduled(poller(), schedules, { settings, clock, path });
    await untilRuns(before, 1);
    await before.holdfast.close();
    await clock.advance(HOUR + A_LITTLE);
    const world = await scheduled(poller(), schedules, { settings, clock, path });
    await eventually(async () => {
      const [schedule] = await world.gateway.schedules.list();
      expect(schedule?.next_run_at).toBeGreaterThan(clock.now() * 1_000);
    });
    await untilRuns(world, count);
    await clock.advance(10 * MINUTE + A_LITTLE);
    await untilRuns(world, count + 1);
  });

  it("are at most a hundred with run_all", async () => {
    const clock = heldClock();
    const path = join(newFolder(), "holdfast.db");
    const schedules = [{ every: "1m", catch_up: "run_all", if_running: "queue" }];
    const settings = { max_outstanding_polls: 1_000 };
    const before = await scheduled(poller(), schedules, { settings, clock, path });
    await untilRuns(before, 1);
    await before.holdfast.close();
    await clock.advance(24 * HOUR - MINUTE);
    const world = await scheduled(poller(), schedules, { settings, clock, path });
    await eventually(() => expect(world.tool.requests).toHaveLength(100));
    await untilRuns(world, 100);
  });
});

describe("a schedule", () => {
  it("with a cron expression runs when it matches, by the clock of its time zone", async () => {
    const tool = poller();
    // The clock stands at midnight in London, an hour later in Berlin.
    const world = await scheduled(tool, [{ cron: "30 1 * * *", timezone: "Europe/Berlin" }]);
    await world.clock.advance(29 * MINUTE);
    expect(await world.gateway.jobs.list({ limit: 9 })).toEqual([]);
    await world.clock.advance(MINUTE);
    await untilRuns(world, 1);
    await world.clock.advance(23 * HOUR);
    await untilRuns(world, 1);
    await world.clock.advance(HOUR);
    await untilRuns(world, 2);
  });

  it.each([
    ["at a time", { at: "2030-01-01T02:00:00Z" }],
    ["after a time", { after: "2h" }],
  ])("%s runs once, also over a restart", async (_what, when) => {
    const path = join(newFolder(), "holdfast.db");
    const before = await scheduled(poller(), [when], { path });
    await before.clock.advance(HOUR);
    expect(await before.gateway.jobs.list({ limit: 9 })).toEqual([]);
    await before.holdfast.close();
    const world = await scheduled(poller(), [when], { path, clock: before.clock });
    await world.clock.advance(HOUR);
    await untilRuns(world, 1);
    await world.clock.advance(24 * HOUR - 1);
    expect(await world.gateway.schedules.list()).toMatchObject([{ status: "exhausted", next_run_at: null }]);
    await untilRuns(world, 1);
  });

  it("runs the command that it names, and is listed with when it is due", async () => {
    const tool = plugin("tool", () => "ok", { commands: ["measure"] });
    const world = await scheduled(tool, [{ id: "hourly", every: "hourly", command: "measure" }]);
    await untilRuns(world, 1);
    expect(tool.requests).toMatchObject([{ command: "measure" }]);
    const schedules = await world.gateway.schedules.list();
    expect(schedules).toMatchObject([
      { plugin: "tool", schedule_id: "hourly", command: "measure", status: "active", when: "every 3600 s" },
    ]);
    expect(Math.floor((schedules[0]?.next_run_at ?? 0) / 1_000)).toBe(world.clock.now() + HOUR);
  });

  it("that is paused is due again when it goes on, and a pause holds over a restart", async () => {
    const path = join(newFolder(), "holdfast.db");
    const before = await scheduled(poller(), [{ every: "10m" }], { path });
    await untilRuns(before, 1);
    await before.gateway.schedules.pause("tool", "default");
    await before.holdfast.close();
    const { clock } = before;
    const world = await scheduled(poller(), [{ every: "10m" }], { path, clock });
    await clock.advance(15 * MINUTE);
    expect(await world.gateway.schedules.list()).toMatchObject([{ status: "paused_manual" }]);
    expect(world.tool.requests).toEqual([]);
    await world.gateway.schedules.resume("tool", "default");
    await clock.advance(MINUTE);
    await untilRuns(world, 1);
    await expect(world.gateway.schedules.pause("tool", "other")).rejects.toMatchObject({ code: "schedule_not_found" });
  });

  it("whose command its plugin does not declare is paused as invalid, with a warning at the load", async () => {
    const clock = heldClock();
    const path = join(newFolder(), "holdfast.db");
    const schedules = [{ every: "10m" }];
    const before = await scheduled(poller(), schedules, { clock, path });
    await untilRuns(before, 1);
    await before.holdfast.close();
    const other = await scheduled(plugin("tool"), schedules, { clock, path });
    const reason = 'The plugin tool declares no command "poll".';
    await eventually(async () =>
      expect(await other.gateway.schedules.list()).toMatchObject([{ status: "paused_invalid", reason }]),
    );
    expect(other.gateway.warnings().map(({ message }) => message)).toContainEqual(expect.stringContaining(reason));
    await clock.advance(HOUR);
    expect(await other.gateway.jobs.list({ limit: 9 })).toHaveLength(1);
    await other.holdfast.close();
    const world = await scheduled(poller(), schedules, { clock, path });
    await untilRuns(world, 1);
    expect(await world.gateway.schedules.list()).toMatchObject([{ status: "active", reason: null }]);
  });

  it("whose definition has changed is due by the new one, and one that was removed runs no more", async () => {
    const path = join(newFolder(), "holdfast.db");
    const clock = heldClock();
    const open = (schedules: readonly object[]) => scheduled(poller(), schedules, { path, clock });
    const first = await open([
      { id: "a", cron: "0 12 * * *" },
      { id: "b", cron: "0 12 * * *" },
    ]);
    await eventually(async () => expect(await first.gateway.schedules.list()).toHaveLength(2));
    await first.holdfast.close();
    const second = await open([{ id: "a", cron: "0 3 * * *" }]);
    await eventually(async () =>
      expect(await second.gateway.schedules.list()).toMatchObject([
        { schedule_id: "a", next_run_at: Date.UTC(2030, 0, 1, 3) * 1_000 },
      ]),
    );
    await clock.advance(3 * HOUR);
    await untilRuns(second, 1);
  });
});

describe("the circuit breaker of a scheduled command", () => {
  const settings = { retry: { max_attempts: 1 }, circuit_breaker: { threshold: 3, reset_after: "30m" } };
  const breakers = async ({ gateway }: World) =>
    (await gateway.breakers.list()).map(({ state, failures }) => [state, failures]);
  const circuits = async (world: World) =>
    (await world.stream())
      .filter(({ type }) => type === "scheduler.circuit_state_changed")
      .map(({ data }) => `${data.plugin}.${data.command} ${data.from} ${data.to} ${data.failures}`);

  /** Has failed so often that its breaker is open. */
  async function broken(answers: Record<number, string> = {}) {
    const tool = plugin(
      "tool",
      (_, call) => {
        if (answers[call] === undefined) throw new Error("It is broken.");
        return answers[call];
      },
      { commands },
    );
    const world = await scheduled(tool, [{ every: "1m" }], { settings });
    for (let failures = 1; failures <= 3; failures++) {
      await eventually(async () =>
        expect(await breakers(world)).toEqual([[failures < 3 ? "closed" : "open", failures]]),
      );
      if (failures < 3) await world.clock.advance(MINUTE + A_LITTLE);
    }
    return world;
  }

  it("opens after some failures in a row: nothing is queued for a while, then a single job", async () => {
    const world = await broken({ 3: "Well again." });
    for (let minute = 0; minute < 29; minute++) await world.clock.advance(MINUTE + A_LITTLE);
    expect(world.tool.requests).toHaveLength(3);
    expect((await world.stream()).filter(({ type }) => type === "scheduler.skipped")[0]).toMatchObject({
      data: { plugin: "tool", command: "poll", reason: "circuit_open" },
    });
    expect((await world.gateway.status()).plugins_circuit_open).toBe(1);
    await world.clock.advance(MINUTE + A_LITTLE);
    await eventually(async () => expect(await breakers(world)).toEqual([["closed", 0]]));
    await world.clock.advance(MINUTE + A_LITTLE);
    await eventually(() => expect(world.tool.requests).toHaveLength(5));
    expect(await circuits(world)).toEqual([
      ...["tool.poll closed open 3", "tool.poll open half_open 3", "tool.poll half_open closed 0"],
    ]);
    const tries = (await world.stream()).filter(({ type }) => type === "scheduler.circuit_half_open");
    expect(tries.map(({ data }) => data)).toEqual([{ plugin: "tool", command: "poll" }]);
  });

  it("does not count jobs that were cancelled", async () => {
    const tool = heldPlugin("tool", { commands });
    const world = await scheduled(tool, [{ every: "1m", if_running: "cancel" }], { settings });
    for (let overruns = 0; overruns < 4; overruns++) {
      const call = await tool.next();
      await world.clock.advance(MINUTE + A_LITTLE);
      await eventually(() => expect(call.signal.aborted).toBe(true));
    }
    (await tool.next()).answer("ok");
    await untilRuns(world, 5);
    expect(await circuits(world)).toEqual([]);
    expect(inShort(await world.gateway.jobs.list({ statuses: ["dead"], limit: 9 }))).toHaveLength(4);
  });

  it("stays open when the job that tries it again fails", async () => {
    const world = await broken();
    await world.clock.advance(30 * MINUTE + A_LITTLE);
    await eventually(async () => expect(await breakers(world)).toEqual([["open", 4]]));
    await world.clock.advance(29 * MINUTE);
    expect(world.tool.requests).toHaveLength(4);
    await world.clock.advance(MINUTE + A_LITTLE);
    await eventually(() => expect(world.tool.requests).toHaveLength(5));
  });

  it("is closed by hand, and keeps no job from running that was not scheduled", async () => {
    const world = await broken({ 3: "ok", 4: "ok" });
    const { job_ids } = await world.gateway.call("tool", "poll", { payload: {} }, api);
    expect(inShort(await world.endedTree(job_ids[0]))).toEqual(["tool.poll succeeded"]);
    expect(await breakers(world)).toEqual([["open", 3]]);
    await world.gateway.breakers.reset("tool", "poll");
    expect(await circuits(world)).toEqual(["tool.poll closed open 3", "tool.poll open closed 0"]);
    await world.clock.advance(MINUTE + A_LITTLE);
    await eventually(() => expect(world.tool.requests).toHaveLength(5));
    expect(await breakers(world)).toEqual([["closed", 0]]);
  });
});

onPostgres((newWorld) => {
  it("a run is queued once, however many processes look at the clock", async () => {
    const world = await newWorld();
    const tool = poller();
    const config = { plugins: { tool: { schedules: [{ every: "1h" }, { id: "other", every: "1h" }] } } };
    const opened = await Promise.all([1, 2, 3, 4].map(() => openGateway({ world, plugins: [tool], config })));
    await eventually(() => expect(tool.requests).toHaveLength(2));
    await opened[0]?.untilIdle();
    expect(await opened[0]?.gateway.jobs.list({ limit: 9 })).toHaveLength(2);
  });
});
