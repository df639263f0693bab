// What the queue of jobs promises about which job is claimed next, and by whom, as tests.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SWITCH_PLUGIN } from "../../contracts/gateway/job.ts";
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
        const place = {
          pipeline: "critique",
          step_id: "fetch",
          step_digest: "digest",
          instance_id: "instance 1",
          depth: 2,
        };
        const context = { id: "context", parent_id: null, pipeline: "critique", step_id: "fetch", root_job_id: "one" };
        const job = aJob({
          ...{ id: "one", plugin: "fetch", source_event_id: "event", context_id: "context", place, user_id: "7" },
          ...{ dedupe: { hash: "hash", keep_us: MINUTE }, submitted_by: "webhook:/in" },
        });
        await jobs.enqueue([job], { contexts: [{ ...context, sealed_accumulated: "accumulated" }] });
        const { dedupe: _, ...stored } = job;

        expect(await claimJob(stores)).toEqual({
          ...stored,
          ...{ dedupe_hash: "hash", status: "running", attempt: 1, epoch: 1, reason: null },
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
          ...{ id: first.id, created_at: first.created_at, attempt: 2, epoch: 2 },
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
        expect(await claimJob(shaky)).toMatchObject({ id: "one", epoch: 1, attempt: 1 });
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
        expect(await claimJob(stores, { ...other, max_workers: 1 })).toMatchObject({ id: "one", attempt: 2 });
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

    it("tells the event stream of every job that a worker has taken, and of none that the gateway runs itself", async () => {
      const place = { pipeline: 'a "pipeline"', step_id: "step", instance_id: "instance", depth: 0 };
      const held = await heldJob(stores, { id: "one", place });
      await commitJob(stores, aJobCommit(held, { settlement: retries(0) }));
      await claimJob(stores);
      await heldJob(stores, { plugin: SWITCH_PLUGIN });
      expect(await claimJob(stores)).toBeUndefined();
      const entries = await stores.gateway.events.read({ after: 0, limit: 9 });
      const names = { job_id: "one", plugin: "echo", command: "handle", pipeline: 'a "pipeline"', step_id: "step" };
      expect(entries.map(({ type, job_id, data }) => [type, job_id, JSON.parse(data)])).toEqual([
        ["job.started", "one", { ...names, attempt: 1 }],
        ["job.started", "one", { ...names, attempt: 2 }],
      ]);
      expect(await stores.gateway.events.last()).toBe(2);
      await heldJob(stores, { id: "two" });
      const [other] = await stores.gateway.events.read({ after: 2, limit: 9 });
      expect(JSON.parse(other?.data ?? "")).toMatchObject({ job_id: "two", pipeline: null, step_id: null });
    });

    describe("a job that waits for no time", () => {
      const dueAt = async () =>
        (await driver.all("select due_at from gateway_jobs order by seq")).map(({ due_at }) => due_at);

      it("is due whatever the clock says, and a retry from its time on", async () => {
        await queued(stores, aJob());
        expect(await dueAt()).toEqual([0]);
        const held = (await claimJob(stores)) as ClaimedJob;
        await commitJob(stores, aJobCommit(held, { settlement: retries(0), children: [aChildJob(held)] }));
        expect(await dueAt()).toEqual([0, 0]);
        const again = (await claimJob(stores)) as ClaimedJob;
        await commitJob(stores, aJobCommit(again, { settlement: retries(MINUTE) }));
        expect(await dueAt()).toEqual([expect.any(Number), 0]);
        expect((await dueAt())[0]).toBeGreaterThan(again.created_at);
      });

      it("includes a retry that a worker had begun and has given up", async () => {
        const shut = async () => void (await stores.membership.release(WORKER));
        const putBack = ({ id, epoch }: ClaimedJob) => jobs.putBack({ id, epoch });
        const lost = () => driver.batch([{ sql: "update gateway_jobs set lease_until = 1", params: [] }]);
        for (const giveUp of [shut, putBack, lost]) {
          const held = await heldJob(stores);
          await commitJob(stores, aJobCommit(held, { settlement: retries(MINUTE) }));
          await makeDue();
          const retry = (await claimJob(stores)) as ClaimedJob;
          await giveUp(retry);
          // With no room for any job: the lease that has run out is ended before anything is chosen.
          await claimJob(stores, { max_workers: 0 });
          expect(await dueAt(), giveUp.name).toEqual([0]);
          await commitJob(stores, aJobCommit((await claimJob(stores)) as ClaimedJob));
          await jobs.prune({ queue_us: 0, log_us: 0, limit: 9 });
        }
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
