// What pausing the dispatcher promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aJob, aJobCommit, claimJob, commitJob, heldJob, queued } from "../contract/a-job.ts";
import { losingDriver, losses } from "../contract/losing-driver.ts";
import { heardOn, type StoresInTest } from "../contract/stores-in-test.ts";
import type { Stores } from "../stores.ts";
import type { GatewayControlStore } from "./gateway-control-store.ts";
import { JOBS_DUE } from "./job-store.ts";

export function describeGatewayControl(name: string, open: () => Promise<StoresInTest>): void {
  describe(`control of the gateway on ${name}`, () => {
    let world: StoresInTest;
    let stores: Stores;
    let control: GatewayControlStore;

    beforeEach(async () => {
      world = await open();
      ({ stores } = world);
      ({ control } = stores.gateway);
    });

    it("keeps jobs from being claimed while it is paused, and lets those go on that run", async () => {
      const held = await heldJob(stores);
      await queued(stores, aJob({ id: "waiting" }));
      expect([await control.pause("user:1"), await control.pause("user:2")]).toEqual([true, false]);
      expect(await control.isPaused()).toBe(true);
      expect(await control.currentPause()).toEqual({ by: "user:1", from: expect.any(Number) });
      expect(await claimJob(stores)).toBeUndefined();
      await commitJob(stores, aJobCommit(held));
      const heard = await heardOn(world.driver);
      expect([await control.resume(), await control.resume()]).toEqual([true, false]);
      expect(await heard.all()).toEqual([JOBS_DUE]);
      expect([await control.isPaused(), await control.currentPause()]).toEqual([false, undefined]);
      expect(await claimJob(stores)).toMatchObject({ id: "waiting" });
    });

    it("can be paused before there ever was a job", async () => {
      expect([await control.isPaused(), await control.resume()]).toEqual([false, false]);
      await control.pause("a\0\ud800b");
      await queued(stores, aJob());
      expect(await claimJob(stores)).toBeUndefined();
    });

    it("adds up for how long it was paused since a time", async () => {
      const now = await control.now();
      expect(await control.pausedSince(0)).toBe(0);
      // Of 10 and 5 seconds, and one that has been under way for at least 3.
      const pause = (id: string, from: number, to: number | null) => ({
        sql: "insert into gateway_pauses (id, paused_by, started_at, ended_at) values ($1, 'user:1', $2, $3)",
        params: [id, from, to],
      });
      const second = 1_000_000;
      await world.driver.batch([
        pause("one", now - 100 * second, now - 90 * second),
        pause("two", now - 50 * second, now - 45 * second),
      ]);
      expect(await control.pausedSince(0)).toBe(15 * second);
      expect(await control.pausedSince(now - 92 * second)).toBe(7 * second);
      expect(await control.pausedSince(now - 45 * second)).toBe(0);
      await world.driver.batch([pause("three", now - 3 * second, null)]);
      expect(await control.pausedSince(0)).toBeGreaterThanOrEqual(18 * second);
      expect(await control.pausedSince((await control.now()) + 3_600 * second)).toBe(0);
    });

    it("is paused and resumed by one of several at the same time", async () => {
      const second = (await world.openSecond?.())?.stores.gateway.control ?? control;
      const both = [control, second, control, second];
      const paused = await Promise.all(both.map((each) => each.pause("user:1")));
      expect(paused.filter((each) => each)).toHaveLength(1);
      const resumed = await Promise.all(both.map((each) => each.resume()));
      expect(resumed.filter((each) => each)).toHaveLength(1);
    });

    it.each(losses)("is paused and resumed once when it loses %s", async (loss) => {
      const losing = losingDriver(world.driver);
      const shaky = (await world.storesOn(losing)).gateway.control;
      losing.loseNext(loss);
      expect(await shaky.pause("user:1")).toBe(true);
      losing.loseNext(loss);
      expect(await shaky.pause("user:2")).toBe(false);
      expect(await control.currentPause()).toMatchObject({ by: "user:1" });
      losing.loseNext(loss);
      expect(await shaky.resume()).toBe(true);
      expect(await control.isPaused()).toBe(false);
      expect(await world.driver.all("select count(*) as pauses from gateway_pauses")).toEqual([{ pauses: 1 }]);
    });
  });
}
