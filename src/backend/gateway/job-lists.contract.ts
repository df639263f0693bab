// What reading jobs promises, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { MINUTE } from "../contract/a-commit.ts";
import {
  aChildJob,
  aContext,
  aJob,
  aJobCommit,
  anAttempt,
  claimJob,
  commitJob,
  ends,
  heldJob,
  queued,
  retries,
} from "../contract/a-job.ts";
import type { StoresInTest } from "../contract/stores-in-test.ts";
import type { Stores } from "../stores.ts";
import type { ClaimedJob, JobQuery, JobStore } from "./job-store.ts";

export function describeJobLists(name: string, open: () => Promise<StoresInTest>): void {
  describe(`lists of jobs on ${name}`, () => {
    let stores: Stores;
    let jobs: JobStore;

    beforeEach(async () => {
      ({ stores } = await open());
      ({ jobs } = stores.gateway);
    });

    const list = async (query: Partial<JobQuery> = {}) => (await jobs.list({ limit: 9, ...query })).map(({ id }) => id);

    it("are narrowed by what is asked for, the newest first", async () => {
      const done = await heldJob(stores, { id: "done", plugin: "fetch", command: "poll", submitted_by: "cli" });
      await commitJob(stores, aJobCommit(done, { settlement: ends("failed") }));
      const root = await heldJob(stores, { id: "root" });
      await commitJob(stores, aJobCommit(root, { children: [aChildJob(root, { id: "child" })] }));
      await queued(stores, aJob({ id: "waiting", submitted_by: "webhook:/in" }));

      expect(await list()).toEqual(["waiting", "child", "root", "done"]);
      expect(await list({ plugin: "fetch" })).toEqual(["done"]);
      expect(await list({ command: "poll" })).toEqual(["done"]);
      expect(await list({ submitted_by: "webhook:/in" })).toEqual(["waiting"]);
      expect(await list({ root_job_id: "root" })).toEqual(["child", "root"]);
      expect(await list({ statuses: ["failed", "dead"] })).toEqual(["done"]);
      expect(await list({ statuses: ["queued", "running"] })).toEqual(["waiting", "child"]);
      expect(await list({ statuses: ["queued", "succeeded"] })).toEqual(["waiting", "child", "root"]);
      expect(await list({ statuses: [] })).toEqual([]);
      expect(await list({ from: root.created_at })).toEqual(["waiting", "child", "root"]);
      expect(await list({ to: root.created_at })).toEqual(["root", "done"]);
      expect(await list({ limit: 1, after: root })).toEqual(["done"]);
      expect(Object.keys((await jobs.list({ limit: 1 }))[0] ?? {})).not.toContain("sealed_payload");
    });

    it("hold every job of a tree, the oldest first", async () => {
      const root = await heldJob(stores, { id: "root" });
      const children = ["c", "a", "b"].map((id) => aChildJob(root, { id }));
      await commitJob(stores, aJobCommit(root, { children }));
      await queued(stores, aJob());
      expect((await jobs.tree("root")).map(({ id }) => id)).toEqual(["root", "c", "a", "b"]);
      expect(await jobs.tree("a")).toEqual([]);
    });

    it("hold the roots of an event that have not ended, the oldest first", async () => {
      const source_event_id = `schedule ${"long ".repeat(60)}`;
      const ended = await heldJob(stores, { id: "ended", source_event_id });
      await commitJob(stores, aJobCommit(ended, { settlement: ends("failed") }));
      const running = await heldJob(stores, { id: "running", source_event_id });
      const retried = await heldJob(stores, { id: "a retry", source_event_id });
      await commitJob(stores, aJobCommit(retried, { settlement: retries(MINUTE) }));
      await queued(stores, aJob({ id: "a new one", source_event_id }));
      await queued(stores, aJob({ id: "of another event", source_event_id: "other" }));
      expect(await jobs.outstandingOf(source_event_id)).toEqual(["running", "a retry", "a new one"]);
      await commitJob(stores, aJobCommit(running, { children: [aChildJob(running, { source_event_id })] }));
      expect(await jobs.outstandingOf(source_event_id)).toEqual(["a retry", "a new one"]);
      expect(await jobs.outstandingOf("none")).toEqual([]);
    });

    it("give one job with its payload, and a context", async () => {
      await queued(stores, aJob({ id: "one" }));
      expect(await jobs.get("one")).toMatchObject({ id: "one", sealed_payload: "payload of one", status: "queued" });
      expect(await jobs.get("two")).toBeUndefined();
      expect(await jobs.context("none")).toBeUndefined();
      expect(await jobs.outstanding("none")).toBe(0);
    });

    it("tell the history of a job from its first state to its last", async () => {
      const lost = await heldJob(stores, { id: "job" }, { lease_us: 0 });
      const orphan = (await claimJob(stores, { worker: "worker 2" })) as ClaimedJob;
      const failed = {
        worker: "worker 2",
        attempt: anAttempt({ reason: "timeout", started_at: orphan.started_at ?? 0 }),
      };
      await commitJob(stores, aJobCommit(orphan, { ...failed, settlement: retries() }));
      const last = (await claimJob(stores)) as ClaimedJob;
      const running = { from: "queued", to: "running", reason: null };
      const until = [
        { from: null, to: "queued", reason: null, at: lost.created_at },
        { ...running, at: lost.started_at },
        { from: "running", to: "queued", reason: "orphaned", at: orphan.started_at },
        { ...running, at: orphan.started_at },
        { from: "running", to: "queued", reason: "timeout", at: expect.any(Number) },
        { ...running, at: last.started_at },
      ];
      expect(await jobs.transitions("job")).toEqual(until);
      await commitJob(stores, aJobCommit(last, { attempt: anAttempt({ started_at: last.started_at ?? 0 }) }));
      const ended = [...until, { from: "running", to: "succeeded", reason: null, at: expect.any(Number) }];
      expect(await jobs.transitions("job")).toEqual(ended);
      await jobs.prune({ queue_us: 0, log_us: MINUTE, limit: 1 });
      expect(await jobs.list({ limit: 9 })).toEqual([]);
      expect(await jobs.transitions("job")).toEqual(ended);

      await queued(stores, aJob({ id: "cancelled" }));
      await jobs.cancel("cancelled", "user:1");
      expect(await jobs.transitions("cancelled")).toMatchObject([
        { from: null, to: "queued" },
        { from: "queued", to: "dead", reason: "cancelled" },
      ]);
      expect(await jobs.transitions("none")).toEqual([]);
    });

    it("hold the log of all jobs, the newest first, whether they have left the queue or not", async () => {
      const at: Record<string, number> = {};
      for (const [id, plugin] of Object.entries({ one: "echo", two: "fetch", three: "echo" })) {
        const held = await heldJob(stores, { id, plugin });
        at[id] = held.created_at;
        await commitJob(stores, aJobCommit(held, { settlement: ends(plugin === "fetch" ? "failed" : "succeeded") }));
      }
      const log = async (query: Partial<JobQuery> = {}) => (await jobs.log({ limit: 9, ...query })).map(({ id }) => id);
      const expectLog = async () => {
        expect(await log()).toEqual(["waiting", "three", "two", "one"]);
        expect(await log({ plugin: "echo", statuses: ["succeeded"] })).toEqual(["three", "one"]);
        expect(await log({ statuses: ["failed"] })).toEqual(["two"]);
        expect(await log({ statuses: ["queued"] })).toEqual(["waiting"]);
        expect(await log({ statuses: ["queued", "failed"] })).toEqual(["waiting", "two"]);
        expect(await log({ command: "handle", submitted_by: "api", root_job_id: "one" })).toEqual(["one"]);
        expect(await log({ from: at.three ?? 0 })).toEqual(["waiting", "three"]);
        expect(await log({ to: at.two ?? 0 })).toEqual(["two", "one"]);
        expect(await log({ limit: 2 })).toEqual(["waiting", "three"]);
        expect(await log({ limit: 1, after: { created_at: at.three ?? 0, id: "three" } })).toEqual(["two"]);
      };
      await queued(stores, aJob({ id: "waiting" }));
      await expectLog();
      await jobs.prune({ queue_us: 0, log_us: MINUTE, limit: 2 });
      expect(await list()).toEqual(["waiting", "three"]);
      await expectLog();
    });

    it("give a job that has left the queue as it was, without its context, from the log", async () => {
      const place = { pipeline: "pipeline", step_id: "step", instance_id: "instance", depth: 2 };
      const context = aContext({ root_job_id: "job" });
      const parts = { place, user_id: "7", source_event_id: "event", dedupe: { hash: "hash", keep_us: 0 } };
      await jobs.enqueue([aJob({ id: "job", context_id: context.id, ...parts })], { contexts: [context] });
      const held = (await claimJob(stores)) as ClaimedJob;
      const failed = { status: "failed", reason: "plugin_error", sealed_error: "sealed error" } as const;
      await commitJob(stores, aJobCommit(held, { settlement: failed, children: [aChildJob(held, { id: "child" })] }));
      await commitJob(stores, aJobCommit((await claimJob(stores)) as ClaimedJob));
      const [before, tree] = [await jobs.get("job"), await jobs.tree("job")];
      expect(await jobs.prune({ queue_us: 0, log_us: MINUTE, limit: 9 })).toBe(2);
      const gone = { context_id: null, dedupe_hash: null };
      expect(await jobs.get("job")).toEqual({ ...before, ...gone });
      expect(await jobs.get("job")).toMatchObject({ sealed_payload: "payload of job", place, user_id: "7" });
      expect(await jobs.tree("job")).toEqual(tree.map((job) => ({ ...job, ...gone })));
      expect(await jobs.attempts("job")).toHaveLength(1);
      expect(await jobs.cancel("job", "user:1")).toBe("not_found");
    });

    it("count jobs by their status, and tell for how long the oldest has been due", async () => {
      const none = { queued: 0, running: 0, succeeded: 0, failed: 0, timed_out: 0, dead: 0 };
      expect(await jobs.counts()).toEqual({ byStatus: none, oldest_due_us: null });
      const [one, two] = [await heldJob(stores), await heldJob(stores)];
      await commitJob(stores, aJobCommit(one, { settlement: ends("failed") }));
      await commitJob(stores, aJobCommit(two, { settlement: retries(MINUTE) }));
      expect(await jobs.counts()).toEqual({ byStatus: { ...none, failed: 1, queued: 1 }, oldest_due_us: null });
      await heldJob(stores);
      await queued(stores, aJob());
      const counts = await jobs.counts();
      expect(counts.byStatus).toEqual({ ...none, failed: 1, queued: 2, running: 1 });
      expect(counts.oldest_due_us).toBeGreaterThanOrEqual(0);
    });

    it("tell of no job as due that waits until its pipeline instance is done", async () => {
      const root = await heldJob(stores);
      const place = { pipeline: "pipeline", step_id: "step", instance_id: "one", depth: 1 };
      const children = [
        aChildJob(root, { id: "retried", place }),
        aChildJob(root, { id: "waits", place, waits_for_instance: "one" }),
      ];
      await commitJob(stores, aJobCommit(root, { children }));
      const retried = (await claimJob(stores)) as ClaimedJob;
      await commitJob(stores, aJobCommit(retried, { settlement: retries(MINUTE) }));
      expect(await jobs.counts()).toMatchObject({ byStatus: { queued: 2 }, oldest_due_us: null });
      await jobs.cancel("retried", "user:1");
      expect((await jobs.counts()).oldest_due_us).toBeGreaterThanOrEqual(0);
    });
  });
}
