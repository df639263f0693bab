// What the commit of a job promises, as tests: all of it or nothing, and exactly once.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MINUTE } from "../contract/a-commit.ts";
import {
  aChildJob,
  aContext,
  aJob,
  aJobCommit,
  anAttempt,
  claimJob,
  commitJob,
  committedEntries,
  ends,
  heldJob,
  queued,
  retries,
  wrongCounters,
} from "../contract/a-job.ts";
import { losingDriver, losses } from "../contract/losing-driver.ts";
import { everything, type StoresInTest } from "../contract/stores-in-test.ts";
import type { SqlDriver } from "../sql-driver.ts";
import type { Stores } from "../stores.ts";
import type { ClaimedJob, JobCommit, JobStore } from "./job-store.ts";

export function describeJobCommit(name: string, open: () => Promise<StoresInTest>): void {
  describe(`commit of a job on ${name}`, () => {
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

    /** One with everything that a commit can have. */
    function fullCommit(job: ClaimedJob): JobCommit {
      const context = aContext({ id: "child context", root_job_id: job.root_job_id });
      const dedupe = (hash: string) => ({ hash, keep_us: MINUTE });
      return aJobCommit(job, {
        attempt: anAttempt({ sealed_response: "response", sealed_stderr: "stderr", started_at: job.started_at ?? 0 }),
        state: {
          ...{ plugin: "echo", sealed_state: "state", revision: 0 },
          facts: [
            { fact_type: "greeting", command: "handle", sealed_value: "value" },
            { fact_type: "farewell", command: "handle", sealed_value: "other" },
          ],
        },
        contexts: [context],
        children: [
          aChildJob(job, { id: "child 1", context_id: context.id, dedupe: dedupe("b") }),
          aChildJob(job, { id: "child 2", dedupe: dedupe("a") }),
          aJob({ id: "hook", parent_job_id: job.id, submitted_by: "hook" }),
        ],
        stream: [
          { type: "job.completed", data: '{"n":1}', job_id: job.id },
          { type: "router.enqueued", data: '{"n":2}', job_id: "child 1" },
        ],
      });
    }

    const keyed = { id: "job", dedupe: { hash: "own", keep_us: MINUTE } };

    it("ends the job, keeps what its plugin said, and queues its children in order", async () => {
      const held = await heldJob(stores, keyed);
      expect(await jobs.commit(fullCommit(held))).toEqual({ outcome: "committed" });

      expect(await jobs.get("job")).toMatchObject({
        ...{ status: "succeeded", attempt: 1, due_at: null, completed_at: expect.any(Number), reason: null },
      });
      expect(await jobs.attempts("job")).toEqual([
        {
          ...{ attempt: 1, outcome: "succeeded", status: "succeeded", reason: null, exit_code: 0 },
          ...{ started_at: held.started_at, ended_at: expect.any(Number), sealed_response: "response" },
          ...{ sealed_stderr: "stderr", sealed_error: null },
        },
      ]);
      expect(await stores.gateway.pluginState.get("echo")).toMatchObject({ sealed_state: "state", revision: 1 });
      expect(await stores.gateway.pluginState.facts({ plugin: "echo", limit: 9 })).toMatchObject([
        { seq: 1, fact_type: "greeting", command: "handle", job_id: "job", sealed_value: "value" },
        { seq: 2, fact_type: "farewell", command: "handle", job_id: "job", sealed_value: "other" },
      ]);
      expect((await jobs.tree("job")).map(({ id, status }) => `${id} ${status}`)).toEqual([
        ...["job succeeded", "child 1 queued", "child 2 queued"],
      ]);
      expect(await jobs.context("child context")).toBe("context child context");
      const entries = await committedEntries(stores);
      expect(entries.map(({ id, type, data, job_id }) => [id, type, data, job_id])).toEqual([
        [2, "job.completed", '{"n":1}', "job"],
        [3, "router.enqueued", '{"n":2}', "child 1"],
      ]);
      expect([await jobs.outstanding("job"), await jobs.outstanding("hook")]).toEqual([2, 1]);
      const claimed: (string | undefined)[] = [];
      for (let count = 0; count < 4; count++) claimed.push((await claimJob(stores))?.id);
      expect(claimed).toEqual(["child 1", "child 2", "hook", undefined]);
    });

    it("changes nothing when any one of its statements fails", async () => {
      const held = await heldJob(stores, keyed);
      const before = await everything(driver);
      let failing = -1;
      let statements = 0;
      const broken = await world.storesOn({
        ...driver,
        batch(batch) {
          statements = batch.length;
          return driver.batch(batch.map((each, at) => (at === failing ? { ...each, expect: 9 } : each)));
        },
      });
      for (failing = 0; failing === 0 || failing < statements; failing++) {
        await broken.gateway.jobs.commit(fullCommit(held)).catch(() => {});
        expect(await everything(driver), `statement ${failing}`).toEqual(before);
      }
      expect(statements).toBeGreaterThan(15);
      expect(await jobs.commit(fullCommit(held))).toEqual({ outcome: "committed" });
    });

    it("is possible only for the worker that holds the lease, and once", async () => {
      const held = await heldJob(stores);
      const before = await everything(driver);
      const refused = { outcome: "lease_lost" };
      expect(await jobs.commit(aJobCommit(held, { worker: "worker 2" }))).toEqual(refused);
      expect(await jobs.commit(aJobCommit({ ...held, epoch: 2 }))).toEqual(refused);
      expect(await jobs.commit(aJobCommit({ ...held, id: "unknown" }))).toEqual(refused);
      expect(await everything(driver)).toEqual(before);
      await commitJob(stores, aJobCommit(held));
      const after = await everything(driver);
      expect(await jobs.commit(aJobCommit(held))).toEqual(refused);
      await jobs.putBack(held);
      expect(await everything(driver)).toEqual(after);
    });

    it("is refused for a job that was put back meanwhile", async () => {
      const held = await heldJob(stores);
      await jobs.putBack(held);
      expect(await jobs.commit(aJobCommit(held))).toEqual({ outcome: "lease_lost" });
    });

    it.each(losses)("happens once when it loses %s", async (loss) => {
      const losing = losingDriver(driver);
      const shaky = (await world.storesOn(losing)).gateway.jobs;
      const held = await heldJob(stores, keyed);
      losing.loseNext(loss);
      expect(await shaky.commit(fullCommit(held))).toEqual({ outcome: "committed" });
      expect(await jobs.counts()).toMatchObject({ byStatus: { succeeded: 1, queued: 3, running: 0 } });
      expect(await jobs.attempts("job")).toHaveLength(1);
      expect(await committedEntries(stores)).toHaveLength(2);
      expect(await stores.gateway.pluginState.get("echo")).toMatchObject({ revision: 1 });
      expect(await jobs.outstanding("job")).toBe(2);
      losing.loseNext(loss);
      expect(await shaky.commit(aJobCommit({ ...held, epoch: 9 }))).toEqual({ outcome: "lease_lost" });
      const child = (await claimJob(stores)) as ClaimedJob;
      losing.loseNext(loss);
      expect(await shaky.commit(aJobCommit(child, { settlement: retries(MINUTE) }))).toEqual({ outcome: "committed" });
      expect(await jobs.get(child.id)).toMatchObject({ status: "queued", attempt: 2 });
    });

    describe("of a failure", () => {
      it("queues the job again for its next attempt, and settles nothing else", async () => {
        const held = await heldJob(stores, keyed);
        const settlement = retries(MINUTE);
        const attempt = anAttempt({ outcome: "failed", reason: "plugin_error", exit_code: 1, sealed_error: "error" });
        await commitJob(stores, aJobCommit(held, { settlement, attempt }));
        const job = await jobs.get("job");
        expect(job).toMatchObject({
          ...{ status: "queued", attempt: 2, reason: "plugin_error", sealed_error: "sealed error", completed_at: null },
          created_at: held.created_at,
        });
        expect((job?.due_at ?? 0) - (held.started_at ?? 0)).toBeGreaterThanOrEqual(MINUTE);
        expect(await jobs.outstanding("job")).toBe(1);
        expect(await jobs.attempts("job")).toMatchObject([{ outcome: "failed", status: "queued", exit_code: 1 }]);
      });

      it("keeps its reason and its error", async () => {
        const held = await heldJob(stores);
        const settlement = { status: "failed", reason: "exit_code_78", sealed_error: "sealed error" } as const;
        await commitJob(stores, aJobCommit(held, { settlement }));
        expect(await jobs.get(held.id)).toMatchObject(settlement);
        expect(await jobs.outstanding(held.id)).toBe(0);
      });
    });

    describe("of plugin state", () => {
      const state = (revision: number, sealed_state = `state ${revision}`) => ({
        plugin: "echo",
        sealed_state,
        revision,
      });

      it("is refused when the state was changed since it was read", async () => {
        const [one, two, three] = [await heldJob(stores), await heldJob(stores), await heldJob(stores)];
        await commitJob(stores, aJobCommit(one, { state: state(0) }));
        const before = await everything(driver);
        for (const revision of [0, 2]) {
          const late = aJobCommit(two, { state: state(revision), children: [aChildJob(two)] });
          expect(await jobs.commit(late)).toEqual({ outcome: "state_changed" });
        }
        expect(await everything(driver)).toEqual(before);
        await commitJob(stores, aJobCommit(two, { state: state(1) }));
        await commitJob(stores, aJobCommit(three, { state: { ...state(0), plugin: "alias" } }));
        expect(await stores.gateway.pluginState.list()).toMatchObject([
          { plugin: "alias", revision: 1 },
          { plugin: "echo", revision: 2, sealed_state: "state 1" },
        ]);
      });

      it("is written by one of several that come at the same time", async () => {
        const second = (await world.openSecond?.())?.stores ?? stores;
        const held: ClaimedJob[] = [];
        for (let count = 0; count < 6; count++) held.push(await heldJob(stores));
        const outcomes = await Promise.all(
          held.map((job, index) =>
            (index % 2 === 0 ? stores : second).gateway.jobs.commit(aJobCommit(job, { state: state(0) })),
          ),
        );
        expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["committed", ...Array(5).fill("state_changed")]);
      });
    });

    describe("of children", () => {
      it("is refused when the tree would become too large; exempt ones do not count", async () => {
        const root = await heldJob(stores);
        await commitJob(stores, aJobCommit(root, { children: [aChildJob(root)], max_tree_jobs: 3 }));
        const child = (await claimJob(stores)) as ClaimedJob;
        const [one, two] = [aChildJob(child), aChildJob(child)];
        const before = await everything(driver);
        const large = aJobCommit(child, { children: [one, two], max_tree_jobs: 3 });
        expect(await jobs.commit(large)).toEqual({ outcome: "tree_too_large", jobs: 2 });
        expect(await everything(driver)).toEqual(before);
        await commitJob(stores, { ...large, exempt: [two.id] });
        expect(await jobs.countedJobs(root.root_job_id)).toBe(3);
        // A tree of its own does not count either, and a lower limit does not keep a job from ending.
        const next = (await claimJob(stores)) as ClaimedJob;
        const hook = aJob({ parent_job_id: next.id });
        await commitJob(stores, aJobCommit(next, { children: [hook], max_tree_jobs: 1 }));
        expect(await jobs.outstanding(root.root_job_id)).toBe(1);
        const last = (await claimJob(stores)) as ClaimedJob;
        const late = aJobCommit(last, { children: [aChildJob(last)], max_tree_jobs: 3 });
        expect(await jobs.commit(late)).toEqual({ outcome: "tree_too_large", jobs: 3 });
      });

      it("never ends the tree before its last job", async () => {
        const root = await heldJob(stores);
        await commitJob(stores, aJobCommit(root, { children: [aChildJob(root), aChildJob(root)] }));
        const outstanding: number[] = [];
        for (let job = await claimJob(stores); job; job = await claimJob(stores)) {
          await commitJob(stores, aJobCommit(job, { settlement: ends("failed") }));
          outstanding.push(await jobs.outstanding(root.id));
        }
        expect(outstanding).toEqual([1, 0]);
      });

      it("counts them right, however many commit at the same time", async () => {
        const second = (await world.openSecond?.())?.stores ?? stores;
        const root = await heldJob(stores);
        await commitJob(stores, aJobCommit(root, { children: Array.from({ length: 12 }, () => aChildJob(root)) }));
        const held: ClaimedJob[] = [];
        for (let job = await claimJob(stores); job; job = await claimJob(stores)) held.push(job);
        const outcomes = await Promise.all(
          held.map((job, index) =>
            (index % 2 === 0 ? stores : second).gateway.jobs.commit(
              aJobCommit(job, { children: [aChildJob(job)], max_tree_jobs: 20 }),
            ),
          ),
        );
        expect(outcomes.filter(({ outcome }) => outcome === "committed")).toHaveLength(7);
        expect(await jobs.outstanding(root.id)).toBe(12);
      });
    });

    it("takes ids of events of any length, and tells long ones apart", async () => {
      const held = await heldJob(stores);
      const long = (end: string) => aChildJob(held, { id: end, source_event_id: `${"é".repeat(100_000)}${end}` });
      const commit = aJobCommit(held, { children: [long("one"), long("two")] });
      expect(await jobs.commit(commit)).toEqual({ outcome: "committed" });
      expect((await jobs.get("one"))?.source_event_id).toMatch(/^sha256:[0-9a-f]{64}$/);
    });

    it("replaces what no text of a database can hold, and is not refused for it", async () => {
      const odd = "a\0b\ud800c";
      await queued(stores, aJob({ id: "odd", submitted_by: `webhook:/${odd}`, source_event_id: odd }));
      const held = (await claimJob(stores)) as ClaimedJob;
      const stream = [{ type: odd, data: JSON.stringify({ odd }), job_id: null }];
      await commitJob(stores, aJobCommit(held, { stream, children: [aChildJob(held, { source_event_id: odd })] }));
      const again = (await claimJob(stores)) as ClaimedJob;
      expect(again.source_event_id).toMatch(/^ab.+c$/);
      const [entry] = await committedEntries(stores);
      expect(JSON.parse(entry?.data ?? "")).toEqual({ odd });
      expect(await jobs.get(`odd\0`)).toMatchObject({ status: "succeeded" });
      expect(await jobs.list({ submitted_by: odd, limit: 9 })).toEqual([]);
      expect(await jobs.cancel(`none${odd}`, odd)).toBe("not_found");
    });
  });
}
