// What the store of schedules and circuit breakers promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { MINUTE } from "../contract/a-commit.ts";
import { aJob, queued } from "../contract/a-job.ts";
import { losingDriver, losses } from "../contract/losing-driver.ts";
import { everything, heardOn, type StoresInTest } from "../contract/stores-in-test.ts";
import type { Stores } from "../stores.ts";
import { JOBS_DUE } from "./job-store.ts";
import type { ScheduleStore, StoredBreaker, StoredSchedule } from "./schedule-store.ts";

const hourly: StoredSchedule = {
  ...{ plugin: "fetch", schedule_id: "default", definition_hash: "hash 1", status: "active", reason: null },
  ...{ next_run_at: 1_000, last_run_at: null, last_success_at: null, removed_at: null },
};

const closed: StoredBreaker = { plugin: "fetch", command: "poll", state: "closed", failures: 0, opened_at: null };

export function describeScheduleStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`schedules on ${name}`, () => {
    let world: StoresInTest;
    let stores: Stores;
    let schedules: ScheduleStore;

    beforeEach(async () => {
      world = await open();
      ({ stores } = world);
      ({ schedules } = stores.gateway);
    });

    it("are added once, and replaced if they are as expected", async () => {
      expect(await schedules.get("fetch", "default")).toBeUndefined();
      expect([await schedules.put(hourly, undefined), await schedules.put(hourly, undefined)]).toEqual([true, false]);
      const changed = { ...hourly, definition_hash: "hash 2", next_run_at: null, last_success_at: 900 };
      expect(await schedules.put(changed, { ...hourly, next_run_at: 999 })).toBe(false);
      expect(await schedules.put(changed, { ...hourly, reason: "another" })).toBe(false);
      expect(await schedules.put(changed, hourly)).toBe(true);
      expect(await schedules.put(hourly, hourly)).toBe(false);
      expect(await schedules.put(changed, changed)).toBe(true);
      expect(await schedules.get("fetch", "default")).toEqual(changed);
      expect(await schedules.put({ ...hourly, schedule_id: "none" }, hourly)).toBe(false);
      await schedules.put({ ...hourly, plugin: "echo" }, undefined);
      expect((await schedules.list()).map(({ plugin }) => plugin)).toEqual(["echo", "fetch"]);
    });

    it("are kept for a while once they were removed, and do nothing then", async () => {
      const now = await stores.gateway.control.now();
      const removed = { ...hourly, removed_at: now - MINUTE };
      await schedules.put(removed, undefined);
      await schedules.put({ ...hourly, plugin: "echo" }, undefined);
      expect(await schedules.get("fetch", "default")).toEqual(removed);
      expect(await schedules.setStatus("fetch", "default", "paused_manual", null)).toBe(false);
      expect(await schedules.fire(fire())).toEqual({ outcome: "taken" });
      expect(await schedules.put(hourly, { ...removed, removed_at: null })).toBe(false);
      await schedules.forget(1_000 * MINUTE);
      expect(await schedules.list()).toHaveLength(2);
      await schedules.forget(MINUTE);
      expect((await schedules.list()).map(({ plugin }) => plugin)).toEqual(["echo"]);
    });

    it("are paused and resumed", async () => {
      await schedules.put(hourly, undefined);
      expect(await schedules.setStatus("fetch", "default", "paused_manual", "By user:1.")).toBe(true);
      expect(await schedules.setStatus("fetch", "none", "active", null)).toBe(false);
      expect(await schedules.get("fetch", "default")).toEqual({
        ...{ ...hourly, status: "paused_manual", reason: "By user:1." },
      });
    });

    const fire = (parts: Partial<Parameters<ScheduleStore["fire"]>[0]> = {}) => ({
      schedule: { ...hourly, next_run_at: 2_000, last_run_at: 1_000 },
      expected_next_run_at: 1_000,
      jobs: [aJob({ id: "poll", plugin: "fetch", command: "poll" })],
      stream: [{ type: "scheduler.scheduled", data: "{}", job_id: "poll" }],
      ...parts,
    });

    it("move on and queue their jobs together", async () => {
      await schedules.put(hourly, undefined);
      const heard = await heardOn(world.driver);
      expect(await schedules.fire(fire())).toEqual({
        ...{ outcome: "fired", jobs: [{ outcome: "queued", job_id: "poll" }] },
      });
      expect(await heard.all()).toEqual([JOBS_DUE]);
      expect(await schedules.get("fetch", "default")).toMatchObject({ next_run_at: 2_000, last_run_at: 1_000 });
      expect(await stores.gateway.jobs.get("poll")).toMatchObject({ status: "queued", command: "poll" });
      expect(await stores.gateway.events.read({ after: 0, limit: 9 })).toMatchObject([{ job_id: "poll" }]);

      const before = await everything(world.driver);
      expect(await schedules.fire(fire({ jobs: [aJob()] }))).toEqual({ outcome: "taken" });
      expect(await schedules.fire(fire({ expected_next_run_at: null }))).toEqual({ outcome: "taken" });
      const changed = { ...hourly, definition_hash: "hash 2", next_run_at: 3_000 };
      expect(await schedules.fire(fire({ schedule: changed, expected_next_run_at: 2_000 }))).toEqual({
        ...{ outcome: "taken" },
      });
      expect(await everything(world.driver)).toEqual(before);
    });

    it("do not fire once they were paused", async () => {
      await schedules.put(hourly, undefined);
      await schedules.setStatus("fetch", "default", "paused_manual", null);
      expect(await schedules.fire(fire())).toEqual({ outcome: "taken" });
      expect(await schedules.get("fetch", "default")).toMatchObject({ status: "paused_manual", next_run_at: 1_000 });
      expect(await stores.gateway.jobs.list({ limit: 9 })).toEqual([]);
    });

    it("move on without jobs that are outstanding still", async () => {
      await schedules.put({ ...hourly, next_run_at: null }, undefined);
      const dedupe = { hash: "fetch:poll:default", keep_us: MINUTE };
      await queued(stores, aJob({ id: "earlier", dedupe }));
      const jobs = [aJob({ id: "poll", dedupe })];
      expect(await schedules.fire(fire({ jobs, expected_next_run_at: null }))).toEqual({
        ...{ outcome: "fired", jobs: [{ outcome: "duplicate", existing_job_id: "earlier" }] },
      });
      expect(await schedules.get("fetch", "default")).toMatchObject({ next_run_at: 2_000 });
      expect(await stores.gateway.events.last()).toBe(0);
    });

    it("fire once, however many processes come at the same time", async () => {
      await schedules.put(hourly, undefined);
      const second = (await world.openSecond?.())?.stores.gateway.schedules ?? schedules;
      const outcomes = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          (index % 2 === 0 ? schedules : second).fire(fire({ jobs: [aJob()], stream: [] })),
        ),
      );
      expect(outcomes.filter(({ outcome }) => outcome === "fired")).toHaveLength(1);
      expect(await stores.gateway.jobs.list({ limit: 9 })).toHaveLength(1);
    });

    it("move on together with their circuit breaker, or not at all", async () => {
      await schedules.put(hourly, undefined);
      const opened = { ...closed, state: "open", failures: 3, opened_at: 500 } as const;
      const next = { ...opened, state: "half_open", opened_at: 1_000 } as const;
      await schedules.putBreaker(opened, undefined);
      const before = await everything(world.driver);
      const stale = fire({ breaker: { next, expected: { ...opened, failures: 4 } } });
      expect(await schedules.fire(stale)).toEqual({ outcome: "taken" });
      expect(await everything(world.driver)).toEqual(before);
      expect(await schedules.fire(fire({ breaker: { next, expected: opened } }))).toMatchObject({ outcome: "fired" });
      expect(await schedules.breaker("fetch", "poll")).toEqual(next);
      expect(await schedules.fire(fire({ breaker: { next: closed, expected: next } }))).toEqual({ outcome: "taken" });
      expect(await schedules.breaker("fetch", "poll")).toEqual(next);
    });

    it.each(losses)("change once when they lose %s", async (loss) => {
      const losing = losingDriver(world.driver);
      const shaky = (await world.storesOn(losing)).gateway.schedules;
      losing.loseNext(loss);
      expect(await shaky.put(hourly, undefined)).toBe(true);
      losing.loseNext(loss);
      expect(await shaky.put({ ...hourly, reason: "changed" }, hourly)).toBe(true);
      losing.loseNext(loss);
      expect(await shaky.fire(fire())).toMatchObject({ outcome: "fired" });
      losing.loseNext(loss);
      expect(await shaky.fire(fire())).toEqual({ outcome: "taken" });
      losing.loseNext(loss);
      expect(await shaky.setStatus("fetch", "default", "exhausted", null)).toBe(true);
      expect(await stores.gateway.jobs.list({ limit: 9 })).toHaveLength(1);
      losing.loseNext(loss);
      expect(await shaky.putBreaker(closed, undefined)).toBe(true);
      losing.loseNext(loss);
      expect(await shaky.putBreaker({ ...closed, failures: 1 }, closed)).toBe(true);
      losing.loseNext(loss);
      expect(await shaky.putBreaker({ ...closed, failures: 2 }, closed)).toBe(false);
      losing.loseNext(loss);
      const removed = { ...hourly, plugin: "echo", removed_at: 1 };
      expect(await shaky.put(removed, undefined)).toBe(true);
      losing.loseNext(loss);
      await shaky.forget(0);
      expect(await schedules.list()).toHaveLength(1);
    });

    describe("circuit breakers", () => {
      it("are added once, and replaced if they are as expected", async () => {
        expect(await schedules.breaker("fetch", "poll")).toBeUndefined();
        expect([await schedules.putBreaker(closed, undefined), await schedules.putBreaker(closed, undefined)]).toEqual([
          ...[true, false],
        ]);
        const opened = { ...closed, state: "open", failures: 3, opened_at: 1_000 } as const;
        expect(await schedules.putBreaker(opened, { ...closed, failures: 2 })).toBe(false);
        expect(await schedules.putBreaker(opened, closed)).toBe(true);
        expect(await schedules.putBreaker({ ...opened, state: "half_open" }, { ...opened, opened_at: null })).toBe(
          false,
        );
        const stream = [{ type: "scheduler.circuit_state_changed", data: "{}", job_id: null }];
        for (const isAsExpected of [true, false]) {
          expect(await schedules.putBreaker({ ...opened, state: "half_open" }, opened, stream)).toBe(isAsExpected);
          expect(await stores.gateway.events.read({ after: 0, limit: 9 })).toMatchObject(stream);
        }
        await schedules.putBreaker({ ...closed, command: "health" }, undefined);
        expect(await schedules.breakers()).toEqual([
          { ...closed, command: "health" },
          { ...opened, state: "half_open" },
        ]);
        expect(await schedules.breaker("fetch", "poll")).toMatchObject({ state: "half_open" });
      });
    });
  });
}
