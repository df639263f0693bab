// What the queue of jobs promises about which job is claimed next, and by whom, as tests.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MINUTE } from "../contract/a-commit.ts";
import {
  aChildJob,
  aJob,
  aJobCommit,
  claimJob,
  commitJob,
  ends,
  heldJob,
  queued,
  retries,
  wrongCounters,
} from "../contract/a-job.ts";
import { losingDriver, losses } from "../contract/losing-driver.ts";
import { heardOn, type StoresInTest, WORKER } from "../contract/stores-in-test.ts";
import type { SqlDriver } from "../sql-driver.ts";
import type { Stores } from "../stores.ts";
import { type ClaimedJob, JOBS_DUE, type JobClaim, type JobStore } from "./job-store.ts";

export function describeJobQueue(name: string, open: () => Promise<StoresInTest>): void {
  describe(`queue of jobs on ${name}`, () => {
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
    /** The ids of as many as can be claimed. */
    async function claimAll(parts: Partial<JobClaim> = {}): Promise<readonly string[]> {
      const ids: string[] = [];
      for (let job = await claimJob(stores, parts); job; job = await claimJob(stores, parts)) ids.push(job.id);
      return ids;
    }

    /** As if the time of a retry had come. */
    const makeDue = () =>
      driver.batch([{ sql: "update gateway_jobs set due_at = now_us() where due_at is not null", params: [] }]);

    describe("a claim", () => {
      it("resolves with everything that a worker needs", async () => {
        const place = { pipeline: "critique", step_id: "fetch", instance_id: "instance 1", depth: 2 };
        const context = { id: "context", parent_id: null, pipeline: "critique", step_id: "fetch", root_job_id: "one" };
        const job = aJob({
          ...{ id: "one", plugin: "fetch", source_event_id: "event", context_id: "context", place, user_id: "7" },
          ...{ dedupe: { hash: "hash", keep_us: MINUTE }, submitted_by: "webhook:/in" },
        });
        await jobs.enqueue([job], { contexts: [{ ...context, sealed_accumulated: "accumulated" }] });
        const { dedupe: _, ...stored } = job;

        expect(await claimJob(stores)).toEqual({
          ...stored,
          ...{ dedupe_hash: "hash", status: "running", attempt: 1, epoch: 1, isOrphan: false, reason: null },
          ...{ sealed_context: "accumulated", sealed_error: null, cancel_requested_by: null, completed_at: null },
          ...{ created_at: expect.any(Number), started_at: expect.any(Number), due_at: expect.any(Number) },
        });
      });

      it("takes jobs in the order of their insertion, also those of one event", async () => {
        const [one, two, three, four] = [aJob(), aJob({ plugin: "fetch" }), aJob(), aJob({ plugin: "fetch" })];
        await jobs.enqueue([one, two, three]);
        await jobs.enqueue([four]);
        expect(await claimAll()).toEqual([one.id, two.id, three.id, four.id]);
      });

      it("takes nothing where there is nothing", async () => {
        expect(await claimJob(stores)).toBeUndefined();
        await heldJob(stores);
        expect(await claimJob(stores, other)).toBeUndefined();
      });

      it("finds a retry at its old place in the queue, once it is due", async () => {
        const first = await heldJob(stores);
        const second = aJob();
        await queued(stores, second);
        await commitJob(stores, aJobCommit(first, { settlement: retries(MINUTE) }));
        const overtaking = await claimJob(stores);
        expect(overtaking?.id).toBe(second.id);
        await jobs.putBack({ id: second.id, epoch: overtaking?.epoch ?? 0 });
        await makeDue();

        expect(await claimJob(stores)).toMatchObject({
          ...{ id: first.id, created_at: first.created_at, attempt: 2, epoch: 2, isOrphan: false },
          ...{ reason: "plugin_error", sealed_error: "sealed error" },
        });
      });

      it("leaves plugins alone that this process does not run", async () => {
        await queued(stores, aJob({ id: "agent", plugin: "agentic-loop" }), aJob({ id: "echo" }));
        expect(await claimAll({ except_plugins: ["agentic-loop", "other"] })).toEqual(["echo"]);
        expect(await claimAll()).toEqual(["agent"]);
      });

      it.each(losses)("takes one job when it loses %s", async (loss) => {
        const losing = losingDriver(driver);
        const shaky = await world.storesOn(losing);
        await queued(stores, aJob({ id: "one" }), aJob({ id: "two" }));
        losing.loseNext(loss);
        expect(await claimJob(shaky)).toMatchObject({ id: "one", epoch: 1, attempt: 1, isOrphan: false });
        expect(await claimJob(shaky)).toMatchObject({ id: "two", epoch: 1 });
        expect(await claimJob(shaky)).toBeUndefined();
      });
    });

    describe("limits", () => {
      it("hold for the whole installation: no more jobs are leased than it has workers", async () => {
        await queued(stores, aJob(), aJob(), aJob({ plugin: "fetch" }));
        const [one] = [
          await claimJob(stores, { max_workers: 2 }),
          await claimJob(stores, { ...other, max_workers: 2 }),
        ];
        expect(await claimJob(stores, { max_workers: 2 })).toBeUndefined();
        expect(await claimJob(stores, { ...other, max_workers: 1 })).toBeUndefined();
        await commitJob(stores, aJobCommit(one as ClaimedJob));
        expect(await claimJob(stores, { max_workers: 2 })).toMatchObject({ plugin: "fetch" });
      });

      it("hold per plugin, so that later jobs of others overtake; a plugin that is not listed runs one at a time", async () => {
        await queued(stores, ...["echo", "echo", "echo", "files", "files", "fetch"].map((plugin) => aJob({ plugin })));
        const parallelism = { echo: 2, fetch: 3 };
        const plugins: (string | undefined)[] = [];
        for (let count = 0; count < 5; count++) plugins.push((await claimJob(stores, { parallelism }))?.plugin);
        expect(plugins).toEqual(["echo", "echo", "files", "fetch", undefined]);
      });

      it.each([1, 3])(
        "are never exceeded by four workers that claim at the same time, with room for %i",
        async (room) => {
          const processes = [world];
          for (let count = 1; count < 4; count++) processes.push((await world.openSecond?.()) ?? world);
          const plugins = ["echo", "fetch", "files"];
          const parallelism: Readonly<Record<string, number>> = { echo: 2, fetch: 3 };
          await jobs.enqueue(Array.from({ length: 24 }, (_, index) => aJob({ plugin: plugins[index % 3] ?? "" })));
          const leased: { readonly own: Stores; readonly worker: string; readonly job: ClaimedJob }[] = [];
          const claim = async ({ stores: own }: StoresInTest, index: number) => {
            const worker = `worker ${index}`;
            // Each looks for another job than the others, so that only the limits stand between them.
            const except_plugins = plugins.filter((_, place) => place === index);
            const job = await claimJob(own, { worker, max_workers: room, parallelism, except_plugins });
            if (job) leased.push({ own, worker, job });
          };
          while ((await jobs.nextDue()) !== null || leased.length > 0) {
            await Promise.all(processes.map(claim));
            expect(leased.length).toBeLessThanOrEqual(room);
            for (const plugin of plugins) {
              const own = leased.filter(({ job }) => job.plugin === plugin);
              expect(own.length).toBeLessThanOrEqual(parallelism[plugin] ?? 1);
            }
            // The first and the last, while the others are kept.
            const ending = [...leased.splice(0, 1), ...leased.splice(1)];
            await Promise.all(ending.map(({ own, worker, job }) => commitJob(own, aJobCommit(job, { worker }))));
          }
          expect(await jobs.counts()).toMatchObject({ byStatus: { queued: 0, running: 0, succeeded: 24 } });
        },
      );

      it("count a lease that has run out until it is ended, and an orphan takes its own place", async () => {
        await queued(stores, aJob({ id: "one" }), aJob({ id: "two" }));
        await claimJob(stores, { lease_us: 0, max_workers: 1 });
        expect(await claimJob(stores, { ...other, max_workers: 1 })).toMatchObject({ id: "one", isOrphan: true });
        expect(await claimJob(stores, { ...other, max_workers: 1 })).toBeUndefined();
      });

      it("are not exceeded by a lease that is renewed after it has run out", async () => {
        await queued(stores, aJob({ id: "one", plugin: "agentic-loop" }), aJob({ id: "two" }));
        await claimJob(stores, { lease_us: 0, max_workers: 1 });
        // Another process, which does not run agents.
        const elsewhere = { ...other, max_workers: 1, except_plugins: ["agentic-loop"] };
        expect(await claimJob(stores, elsewhere)).toMatchObject({ id: "two" });
        expect(await jobs.renew(WORKER, ["one"], MINUTE)).toEqual([]);
      });
    });

    describe("jobs of one identity", () => {
      const dedupe = { hash: "hash", keep_us: 0 };

      it("are never leased together, and let others pass meanwhile", async () => {
        const steps = [1, 2].map(() => aJob({ dedupe, source_event_id: "event" }));
        await queued(stores, ...steps, aJob({ id: "other" }));
        const first = await claimJob(stores);
        expect(first?.id).toBe(steps[0]?.id);
        expect(await claimAll()).toEqual(["other"]);
        await commitJob(stores, aJobCommit(first as ClaimedJob));
        expect(await claimAll()).toEqual([steps[1]?.id]);
      });
    });

    describe("a job that waits for a pipeline instance", () => {
      const place = (instance_id: string) => ({ pipeline: "tool", step_id: "fetch", instance_id, depth: 1 });

      it("is claimed once no other job of it is queued, running or awaiting retry", async () => {
        const root = await heldJob(stores);
        const step = (id: string, instance = "one") => aChildJob(root, { id, place: place(instance) });
        const bridges = ["bridge 1", "bridge 2"].map((id) =>
          aChildJob(root, { id, waits_for_instance: "one", place: place("one") }),
        );
        const children = [...bridges, step("first"), step("second"), step("foreign", "two")];
        await commitJob(stores, aJobCommit(root, { children }));

        const [first, second] = [await claimJob(stores), await claimJob(stores)];
        expect([first?.id, second?.id]).toEqual(["first", "second"]);
        expect(await claimAll()).toEqual(["foreign"]);
        await commitJob(stores, aJobCommit(first as ClaimedJob, { settlement: ends("failed") }));
        await commitJob(stores, aJobCommit(second as ClaimedJob, { settlement: retries(MINUTE) }));
        expect(await claimAll()).toEqual([]);
        await makeDue();
        const again = await claimJob(stores);
        expect(again?.id).toBe("second");
        await commitJob(stores, aJobCommit(again as ClaimedJob));
        // They do not wait for each other.
        expect(await claimAll()).toEqual(["bridge 1", "bridge 2"]);
      });
    });

    describe("an orphan", () => {
      it("is claimed again with the next attempt, and its lost execution is logged", async () => {
        const lost = await heldJob(stores, {}, { lease_us: 0 });
        expect(await claimJob(stores, { ...other, lease_us: 0 })).toMatchObject({
          ...{ id: lost.id, epoch: 2, attempt: 2, isOrphan: true },
        });
        expect(await jobs.commit(aJobCommit(lost))).toEqual({ outcome: "lease_lost" });
        expect(await claimJob(stores, other)).toMatchObject({ epoch: 3, attempt: 3, isOrphan: true });
        expect(await jobs.attempts(lost.id)).toMatchObject([
          { attempt: 1, outcome: "orphaned", status: "queued", started_at: lost.started_at },
          { attempt: 2, outcome: "orphaned", status: "queued" },
        ]);
      });

      it("is what a worker leaves that is found dead", async () => {
        await stores.membership.register("gone");
        const lost = await heldJob(stores, {}, { worker: "gone" });
        // On a shared database its session would have to end; here it is taken for ended.
        const blind = await world.storesOn({ ...driver, isSessionHeld: async () => false });
        const reaped = [await blind.membership.reap(WORKER), await blind.membership.reap(WORKER)];
        expect(reaped).toContainEqual({ workers: 1, freed: expect.objectContaining({ gateway_jobs: 1 }) });
        expect(await claimJob(stores)).toMatchObject({ id: lost.id, attempt: 2, isOrphan: true });
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
        expect(again).toMatchObject({ epoch: 2, attempt: 1, isOrphan: false });
        // Not ours any more.
        await jobs.putBack(held);
        expect(await claimJob(stores)).toBeUndefined();
        await stores.membership.release(WORKER);
        expect(await claimJob(stores)).toMatchObject({ epoch: 3, attempt: 1, isOrphan: false });
        expect(await jobs.attempts(held.id)).toEqual([]);
      });

      it("of an orphan end with the attempt that it was claimed for", async () => {
        await heldJob(stores, {}, { lease_us: 0 });
        const orphan = (await claimJob(stores, other)) as ClaimedJob;
        await jobs.putBack(orphan);
        expect(await claimJob(stores)).toMatchObject({ epoch: 3, attempt: 2, isOrphan: false });
        expect(await jobs.attempts(orphan.id)).toHaveLength(1);
      });
    });

    describe("the next time that a job is due", () => {
      it("is now, later or never, whatever the limits", async () => {
        expect(await jobs.nextDue()).toBeNull();
        const held = await heldJob(stores);
        expect(await jobs.nextDue()).toBeNull();
        await commitJob(stores, aJobCommit(held, { settlement: retries(MINUTE) }));
        const wait = (await jobs.nextDue()) ?? 0;
        expect(wait).toBeGreaterThan(0);
        expect(wait).toBeLessThanOrEqual(MINUTE);
        await queued(stores, aJob());
        expect(await jobs.nextDue()).toBe(0);
      });

      it("is signalled when jobs were queued, and on a shared database when a commit adds some", async () => {
        const heard = await heardOn(driver);
        const held = await heldJob(stores);
        expect(await heard.all()).toEqual([JOBS_DUE]);
        const retried = await heldJob(stores);
        await heard.all();
        await commitJob(stores, aJobCommit(held, { children: [aChildJob(held)] }));
        expect(await heard.all()).toEqual(driver.isShared ? [JOBS_DUE] : []);
        const child = (await claimJob(stores)) as ClaimedJob;
        await commitJob(stores, aJobCommit(child));
        await commitJob(stores, aJobCommit(retried, { settlement: retries(MINUTE) }));
        expect(await heard.all()).toEqual([]);
      });
    });
  });
}
