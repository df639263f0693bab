// What the queue of jobs promises about the leases of workers, and about jobs whose worker was lost, as tests.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MINUTE } from "../contract/a-commit.ts";
import { aJob, aJobCommit, claimJob, commitJob, heldJob, queued, wrongCounters } from "../contract/a-job.ts";
import { type StoresInTest, WORKER } from "../contract/stores-in-test.ts";
import type { SqlDriver, Statement } from "../sql-driver.ts";
import type { Stores } from "../stores.ts";
import type { ClaimedJob, JobStore } from "./job-store.ts";

export function describeJobLeases(name: string, open: () => Promise<StoresInTest>): void {
  describe(`leases of jobs on ${name}`, () => {
    let world: StoresInTest;
    let stores: Stores;
    let jobs: JobStore;
    let driver: SqlDriver;

    beforeEach(async () => {
      world = await open();
      ({ stores, driver } = world);
      ({ jobs } = stores.gateway);
    });

    afterEach(async () => expect(await wrongCounters(driver)).toEqual([]));

    const other = { worker: "worker 2" };

    describe("an orphan", () => {
      it("is claimed again with the next attempt, and its lost execution is logged", async () => {
        const lost = await heldJob(stores, {}, { lease_us: 0 });
        expect(await claimJob(stores, { ...other, lease_us: 0 })).toMatchObject({
          ...{ id: lost.id, epoch: 2, attempt: 2 },
        });
        expect(await jobs.commit(aJobCommit(lost))).toEqual({ outcome: "lease_lost" });
        expect(await claimJob(stores, other)).toMatchObject({ epoch: 3, attempt: 3 });
        expect(await jobs.attempts(lost.id)).toMatchObject([
          { attempt: 1, outcome: "orphaned", status: "queued", started_at: lost.started_at },
          { attempt: 2, outcome: "orphaned", status: "queued" },
        ]);
      });

      it("is not taken for a job that was ended, when the batch that was to end it never arrived", async () => {
        const isLog = ({ sql }: Statement) => sql.includes("insert into gateway_attempts");
        const losing = async (meanwhile: () => Promise<unknown>) => {
          let isLost = false;
          const changed = await world.storesOn({
            ...driver,
            async batch(statements) {
              if (isLost || !statements.some(isLog)) return await driver.batch(statements);
              isLost = true;
              await meanwhile();
              return { outcome: "unknown", cause: new Error("The connection was lost while committing.") };
            },
          });
          return changed.gateway.jobs;
        };
        const lost = await heldJob(stores, {}, { lease_us: 0 });
        const committing = await losing(() => claimJob(stores, { ...other, lease_us: 0 }));
        expect(await committing.commit(aJobCommit(lost))).toEqual({ outcome: "lease_lost" });

        const orphan = (await claimJob(stores)) as ClaimedJob;
        await jobs.putBack(orphan);
        const cancelling = await losing(async () => {
          await claimJob(stores, { lease_us: 0 });
          await claimJob(stores);
        });
        expect(await cancelling.cancel(lost.id, "user:1")).toBe("requested");
        expect(await jobs.renew(WORKER, [lost.id], MINUTE)).toMatchObject([{ cancelRequestedBy: "user:1" }]);

        const ended = await heldJob(stores);
        await jobs.putBack(ended);
        const late = await losing(async () => commitJob(stores, aJobCommit((await claimJob(stores)) as ClaimedJob)));
        expect(await late.cancel(ended.id, "user:1")).toBe("ended");
      });

      it("is what a worker leaves that is found dead", async () => {
        await stores.membership.register("gone");
        const lost = await heldJob(stores, {}, { worker: "gone" });
        // On a shared database its session would have to end; here it is taken for ended.
        const blind = await world.storesOn({ ...driver, isSessionHeld: async () => false });
        const reaped = [await blind.membership.reap(WORKER), await blind.membership.reap(WORKER)];
        expect(reaped).toContainEqual({ workers: 1, freed: expect.objectContaining({ gateway_jobs: 1 }) });
        expect(await claimJob(stores)).toMatchObject({ id: lost.id, attempt: 2 });
      });

      it("is no job that its worker still runs, however far a clock was moved", async () => {
        const held = await heldJob(stores, {}, { lease_us: 0 });
        expect(await claimJob(stores, { except: [held.id] })).toBeUndefined();
        expect(await claimJob(stores, { except: [held.id, "other"], max_workers: 1 })).toBeUndefined();
        expect(await jobs.renew(WORKER, [held.id], MINUTE)).toMatchObject([{ id: held.id, epoch: 1 }]);
        expect(await claimJob(stores, other)).toBeUndefined();
      });

      it("lets others pass while the worker that lost it still runs it", async () => {
        const held = await heldJob(stores, {}, { lease_us: 0 });
        await queued(stores, aJob({ id: "next" }));
        await driver.batch([{ sql: "update gateway_jobs set lease_by = null where lease_by is not null", params: [] }]);
        expect(await claimJob(stores, { except: [held.id] })).toMatchObject({ id: "next" });
      });
    });

    describe("leases", () => {
      it("are renewed for those that the worker still holds, and show that it is alive", async () => {
        const [one, two] = [await heldJob(stores), await heldJob(stores, {}, other)];
        const renewed = await jobs.renew(WORKER, [one.id, two.id, "unknown"], MINUTE);
        expect(renewed).toEqual([{ id: one.id, epoch: 1, cancelRequestedBy: null }]);
        expect(await jobs.renew(WORKER, [], MINUTE)).toEqual([]);
        expect(await driver.all("select id from workers")).toEqual([{ id: WORKER }]);
      });

      it("end without counting when the job is put back, or the worker shuts down", async () => {
        const held = await heldJob(stores);
        await jobs.putBack(held);
        expect(await jobs.get(held.id)).toMatchObject({ status: "queued", attempt: 1, started_at: null });
        const again = await claimJob(stores);
        expect(again).toMatchObject({ epoch: 2, attempt: 1 });
        // Not ours any more.
        await jobs.putBack(held);
        expect(await claimJob(stores)).toBeUndefined();
        await stores.membership.release(WORKER);
        expect(await claimJob(stores)).toMatchObject({ epoch: 3, attempt: 1 });
        expect(await jobs.attempts(held.id)).toEqual([]);
      });

      it("of an orphan end with the attempt that it was claimed for", async () => {
        await heldJob(stores, {}, { lease_us: 0 });
        const orphan = (await claimJob(stores, other)) as ClaimedJob;
        await jobs.putBack(orphan);
        expect(await claimJob(stores)).toMatchObject({ epoch: 3, attempt: 2 });
        expect(await jobs.attempts(orphan.id)).toHaveLength(1);
      });
    });
  });
}
