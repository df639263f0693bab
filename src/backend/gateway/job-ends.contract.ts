// What the queue of jobs promises about cancelling, pruning and erasing, as tests.
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
import { everything, heardOn, type StoresInTest, WORKER } from "../contract/stores-in-test.ts";
import type { SqlDriver, Statement } from "../sql-driver.ts";
import type { Stores } from "../stores.ts";
import { type ClaimedJob, JOBS_DUE, type JobStore } from "./job-store.ts";

export function describeJobEnds(name: string, open: () => Promise<StoresInTest>): void {
  describe(`ends of jobs on ${name}`, () => {
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

    describe("cancelling", () => {
      it("ends a queued job at once, and logs it", async () => {
        await queued(stores, aJob({ id: "one" }));
        expect(await jobs.cancel("one", "user:1")).toBe("cancelled");
        expect(await jobs.get("one")).toMatchObject({
          ...{ status: "dead", reason: "cancelled", cancel_requested_by: "user:1", due_at: null },
          completed_at: expect.any(Number),
        });
        expect(await jobs.outstanding("one")).toBe(0);
        expect(await jobs.attempts("one")).toMatchObject([
          { attempt: 1, outcome: "cancelled", status: "dead", reason: "cancelled", started_at: null },
        ]);
        expect(await claimJob(stores)).toBeUndefined();
        expect(await jobs.cancel("one", "user:2")).toBe("ended");
        expect(await jobs.cancel("two", "user:2")).toBe("not_found");
      });

      it("ends a job that awaits its retry", async () => {
        const held = await heldJob(stores);
        await commitJob(stores, aJobCommit(held, { settlement: retries(MINUTE) }));
        expect(await jobs.cancel(held.id, "user:1")).toBe("cancelled");
        expect((await jobs.attempts(held.id)).map(({ outcome }) => outcome)).toEqual(["succeeded", "cancelled"]);
      });

      it("asks the worker of a job that runs, which ends it", async () => {
        const held = await heldJob(stores);
        const heard = await heardOn(world.driver);
        expect(await jobs.cancel(held.id, "user:1")).toBe("requested");
        expect(await jobs.cancel(held.id, "user:2")).toBe("requested");
        expect(await heard.all()).toEqual([held.id, held.id]);
        expect(await jobs.renew(WORKER, [held.id], MINUTE)).toEqual([
          { id: held.id, epoch: 1, cancelRequestedBy: "user:1" },
        ]);
        const settlement = { status: "dead", reason: "cancelled", sealed_error: null } as const;
        await commitJob(stores, aJobCommit(held, { settlement, attempt: anAttempt({ outcome: "cancelled" }) }));
        expect(await jobs.get(held.id)).toMatchObject({ status: "dead", cancel_requested_by: "user:1" });
        expect(await jobs.cancel(held.id, "user:3")).toBe("ended");
      });

      it("is not forgotten over a retry: the job is due at once, and says so when it is claimed", async () => {
        const held = await heldJob(stores);
        await jobs.cancel(held.id, "user:1");
        await commitJob(stores, aJobCommit(held, { settlement: retries(MINUTE) }));
        expect(await claimJob(stores)).toMatchObject({ id: held.id, cancel_requested_by: "user:1" });
      });

      it("adds what the end causes, once, and only if it ends the job", async () => {
        const root = await heldJob(stores);
        const tool = aChildJob(root, { id: "tool" });
        await commitJob(stores, aJobCommit(root, { children: [tool] }));
        const parts = {
          contexts: [aContext({ id: "context", root_job_id: root.id })],
          children: [aChildJob({ id: "tool", root_job_id: root.id }, { id: "bridge", context_id: "context" })],
          stream: [{ type: "job.failed", data: "{}", job_id: "tool" }],
        };
        const heard = await heardOn(driver);
        expect(await jobs.cancel("tool", "user:1", parts)).toBe("cancelled");
        expect(await heard.all()).toEqual([JOBS_DUE]);
        expect(await jobs.outstanding(root.id)).toBe(1);
        expect(await claimJob(stores)).toMatchObject({ id: "bridge", sealed_context: "context context" });
        const after = await everything(driver);
        expect(await jobs.cancel("tool", "user:1", parts)).toBe("ended");
        expect(await everything(driver)).toEqual(after);
        expect(await jobs.cancel("bridge", "user:1", { ...parts, children: [aJob()] })).toBe("requested");
        expect(await jobs.counts()).toMatchObject({ byStatus: { queued: 0, running: 1 } });
      });

      it("leaves a duplicate out of what the end causes", async () => {
        const dedupe = { hash: "hash", keep_us: MINUTE };
        await queued(stores, aJob({ id: "one" }), aJob({ id: "known", dedupe }));
        const children = [aJob({ id: "bridge", dedupe }), aJob({ id: "other" })];
        expect(await jobs.cancel("one", "user:1", { children })).toBe("cancelled");
        expect([await jobs.get("bridge"), (await jobs.get("other"))?.status]).toEqual([undefined, "queued"]);
      });

      it("happens once, however many ask at the same time while it is claimed", async () => {
        const second = (await world.openSecond?.())?.stores ?? stores;
        for (let round = 0; round < 5; round++) {
          const job = aJob();
          await queued(stores, job);
          const [claimed, ...answers] = await Promise.all([
            claimJob(stores),
            jobs.cancel(job.id, "user:1"),
            second.gateway.jobs.cancel(job.id, "user:2"),
          ]);
          expect(answers.toSorted()).toEqual(claimed ? ["requested", "requested"] : ["cancelled", "ended"]);
          if (claimed) await commitJob(stores, aJobCommit(claimed, { settlement: ends("dead") }));
          expect(await jobs.outstanding(job.id)).toBe(0);
        }
      });

      it.each(losses)("happens once when it loses %s", async (loss) => {
        const losing = losingDriver(driver);
        const shaky = (await world.storesOn(losing)).gateway.jobs;
        const dedupe = { hash: "hash", keep_us: MINUTE };
        await queued(stores, aJob({ id: "one", dedupe }));
        losing.loseNext(loss);
        expect(await shaky.cancel("one", "user:1", { children: [aJob({ id: "bridge" })] })).toBe("cancelled");
        expect(await jobs.attempts("one")).toHaveLength(1);
        expect(await driver.all("select holders from gateway_dedupe")).toEqual([{ holders: 0 }]);
        const bridge = (await claimJob(stores)) as ClaimedJob;
        losing.loseNext(loss);
        expect(await shaky.cancel(bridge.id, "user:1")).toBe("requested");
      });
    });

    describe("pruning", () => {
      const all = { queue_us: 0, log_us: 0, limit: 100 };

      it("removes trees as a whole, once all of their jobs have ended", async () => {
        const root = await heldJob(stores, { context_id: "context" });
        const contexts = [aContext({ id: "context", root_job_id: root.id })];
        await commitJob(stores, aJobCommit(root, { contexts, children: [aChildJob(root)] }));
        const before = await everything(driver);
        expect(await jobs.prune(all)).toBe(0);
        expect(await everything(driver)).toEqual(before);

        const child = (await claimJob(stores)) as ClaimedJob;
        await commitJob(stores, aJobCommit(child));
        await queued(stores, aJob({ id: "waiting" }));
        expect(await jobs.prune({ ...all, queue_us: MINUTE })).toBe(0);
        expect(await jobs.prune({ ...all, log_us: MINUTE })).toBe(2);
        const after = await everything(driver);
        const left = ["jobs", "logged_jobs", "payloads", "trees", "contexts", "attempts"].map(
          (each) => `gateway_${each}`,
        );
        expect(left.map((table) => after[table]?.length)).toEqual([1, 2, 3, 1, 0, 2]);
        expect((await jobs.log({ limit: 9 })).map(({ id }) => id)).toEqual(["waiting", child.id, root.id]);
        // Once the log is too old as well.
        expect(await jobs.prune(all)).toBe(2);
        const last = await everything(driver);
        expect(left.map((table) => last[table]?.length)).toEqual([1, 0, 1, 1, 0, 0]);
        expect((await jobs.log({ limit: 9 })).map(({ id }) => id)).toEqual(["waiting"]);
        expect([await jobs.get(root.id), await jobs.tree(root.id)]).toEqual([undefined, []]);
        expect(await jobs.get("waiting")).toMatchObject({ status: "queued" });
      });

      it("keeps the whole log of a job that is there", async () => {
        const held = await heldJob(stores);
        await commitJob(stores, aJobCommit(held, { settlement: retries() }));
        await jobs.prune(all);
        expect(await jobs.attempts(held.id)).toHaveLength(1);
      });

      it("removes from the log so many jobs at a time, the oldest first", async () => {
        for (const id of ["one", "two", "three"]) await commitJob(stores, aJobCommit(await heldJob(stores, { id })));
        expect(await jobs.prune({ ...all, log_us: MINUTE })).toBe(3);
        expect(await jobs.prune({ ...all, limit: 2 })).toBe(2);
        expect((await jobs.log({ limit: 9 })).map(({ id }) => id)).toEqual(["three"]);
        expect(await jobs.attempts("two")).toEqual([]);
        expect(await jobs.prune({ ...all, limit: 2 })).toBe(1);
        expect(await jobs.prune({ ...all, limit: 2 })).toBe(0);
      });

      it("leaves no payload and no attempt without its job where other processes prune too", async () => {
        for (const id of ["one", "two"]) await commitJob(stores, aJobCommit(await heldJob(stores, { id })));
        const moveOne = () => jobs.prune({ queue_us: 0, log_us: MINUTE, limit: 1 });
        await moveOne();
        // On PostgreSQL each statement sees what others have committed since the one before it.
        async function batch(statements: readonly Statement[]) {
          for (const statement of statements) {
            await driver.batch([statement]);
            if (statement.sql.startsWith("delete from gateway_attempts")) await moveOne();
          }
          return { outcome: "committed", rows: [] } as const;
        }
        const interrupted = await world.storesOn({ ...driver, batch });
        await interrupted.gateway.jobs.prune({ ...all, queue_us: MINUTE });
        const [stored, log] = [await everything(driver), await jobs.log({ limit: 9 })];
        const ids = ["gateway_payloads", "gateway_attempts"].flatMap((table) =>
          stored[table]?.map((row) => row.job_id),
        );
        expect(ids.filter((job_id) => !log.some(({ id }) => id === job_id))).toEqual([]);
      });

      it("goes from the oldest on, so many trees at a time", async () => {
        const ids = ["one", "two", "three"];
        for (const id of ids) await commitJob(stores, aJobCommit(await heldJob(stores, { id })));
        expect(await jobs.prune({ ...all, limit: 2 })).toBe(2);
        expect((await jobs.list({ limit: 9 })).map(({ id }) => id)).toEqual(["three"]);
        expect(await jobs.prune({ ...all, limit: 2 })).toBe(1);
      });

      it("keeps an identity for its window, and forgets it afterwards", async () => {
        const dedupe = (hash: string, keep_us: number) => ({ dedupe: { hash, keep_us } });
        await commitJob(stores, aJobCommit(await heldJob(stores, dedupe("kept", MINUTE))));
        await commitJob(stores, aJobCommit(await heldJob(stores, dedupe("over", 0))));
        await queued(stores, aJob(dedupe("held", 0)));
        expect(await jobs.prune(all)).toBe(2);
        expect((await driver.all("select hash from gateway_dedupe order by hash")).map(({ hash }) => hash)).toEqual([
          ...["held", "kept"],
        ]);
        const [again] = await jobs.enqueue([aJob(dedupe("kept", MINUTE))]);
        expect(again).toMatchObject({ outcome: "duplicate" });
      });

      it("lets a tree go on to which a job is added", async () => {
        await commitJob(stores, aJobCommit(await heldJob(stores, { id: "root" })));
        await queued(stores, aJob({ root_job_id: "root" }));
        expect(await jobs.prune(all)).toBe(0);
        expect(await jobs.outstanding("root")).toBe(1);
      });

      it.each(losses)("happens when it loses %s", async (loss) => {
        const losing = losingDriver(driver);
        const shaky = (await world.storesOn(losing)).gateway.jobs;
        await commitJob(stores, aJobCommit(await heldJob(stores)));
        losing.loseNext(loss);
        await shaky.prune(all);
        expect(await jobs.list({ limit: 9 })).toEqual([]);
      });
    });

    describe("erasing a user", () => {
      const SECRET = "what the user said";

      /** A tree with a job that ended, one that failed and one that waits. */
      async function tree(user_id: string, secret: string): Promise<string> {
        const root = await heldJob(stores, { user_id, sealed_payload: secret });
        const context = aContext({ root_job_id: root.id, sealed_accumulated: secret });
        const child = { user_id, sealed_payload: secret, context_id: context.id };
        const attempt = anAttempt({ sealed_response: secret, sealed_stderr: secret, sealed_error: secret });
        const stream = [{ type: "job.completed", data: JSON.stringify({ secret }), job_id: root.id }];
        // One that does not say whose it is belongs to its tree.
        const children = [aChildJob(root, child), aChildJob(root, { sealed_payload: secret })];
        await commitJob(stores, aJobCommit(root, { attempt, contexts: [context], children, stream }));
        const failing = (await claimJob(stores)) as ClaimedJob;
        const settlement = { ...retries(MINUTE), sealed_error: secret };
        await commitJob(stores, aJobCommit(failing, { attempt, settlement }));
        await claimJob(stores);
        return root.id;
      }

      it("removes payloads, contexts, responses, stderr, errors and stream data of all jobs, and keeps the rows", async () => {
        const root = await tree("7", SECRET);
        const other = await tree("8", "what another user said");
        const before = await everything(driver);

        expect(await jobs.eraseUser("7")).toBe(3);
        const after = await everything(driver);
        expect(JSON.stringify(after)).not.toContain(SECRET);
        expect(JSON.stringify(before).split("what another user said")).toHaveLength(
          JSON.stringify(after).split("what another user said").length,
        );
        for (const [table, rows] of Object.entries(before)) {
          const gone = table === "gateway_payloads" ? 3 : 0;
          expect(after[table]?.length, table).toBe(rows.length - gone);
        }
        expect(await jobs.get(root)).toMatchObject({ status: "succeeded", sealed_payload: null });
        expect((await jobs.tree(other)).length).toBe(3);
        expect(await jobs.eraseUser("9")).toBe(0);
      });

      it("leaves a job that waits without its payload, which its worker finds", async () => {
        await queued(stores, aJob({ user_id: "7" }));
        await jobs.eraseUser("7");
        expect(await claimJob(stores)).toMatchObject({ sealed_payload: null });
      });

      it("reaches the log of jobs that were pruned", async () => {
        const fact = { fact_type: "said", command: "handle", sealed_value: SECRET };
        for (const user_id of ["7", "8"]) {
          const state = { plugin: `echo ${user_id}`, sealed_state: "{}", revision: 0, facts: [fact] };
          const held = await heldJob(stores, { id: user_id, user_id, sealed_payload: SECRET });
          const attempt = anAttempt({ sealed_response: SECRET, sealed_stderr: SECRET, sealed_error: SECRET });
          const settlement = { status: "failed", reason: null, sealed_error: SECRET } as const;
          const stream = [{ type: "job.failed", data: SECRET, job_id: user_id }];
          await commitJob(stores, aJobCommit(held, { attempt, settlement, state, stream }));
        }
        await jobs.prune({ queue_us: 0, log_us: MINUTE, limit: 9 });
        expect(await jobs.list({ limit: 9 })).toEqual([]);
        expect(await jobs.eraseUser("7")).toBe(1);
        expect(await jobs.get("7")).toMatchObject({ status: "failed", sealed_payload: null, sealed_error: null });
        expect(await jobs.attempts("7")).toMatchObject([
          { sealed_response: null, sealed_stderr: null, sealed_error: null },
        ]);
        expect(await jobs.get("8")).toMatchObject({ sealed_payload: SECRET, sealed_error: SECRET });
        expect(await jobs.attempts("8")).toMatchObject([{ sealed_response: SECRET }]);
        const { pluginState } = stores.gateway;
        expect((await committedEntries(stores)).map(({ data }) => data)).toEqual(["{}", SECRET]);
        expect(await pluginState.facts({ plugin: "echo 7", limit: 9 })).toEqual([]);
        expect(await pluginState.facts({ plugin: "echo 8", limit: 9 })).toMatchObject([{ sealed_value: SECRET }]);
      });

      it("leaves jobs of other users in the same tree, and reaches entries of the stream that are about the user", async () => {
        const root = await heldJob(stores, { sealed_payload: SECRET });
        const children = ["7", "8"].map((user_id) => aChildJob(root, { id: user_id, user_id }));
        const entry = { type: "agent.escalated", data: "data", job_id: root.id };
        const stream = ["7", "8"].map((user_id) => ({ ...entry, user_id }));
        const other = { ...entry, job_id: null };
        await commitJob(stores, aJobCommit(root, { children, stream: [...stream, { ...other, user_id: "7" }, other] }));
        await jobs.eraseUser("7");
        expect(await jobs.get(root.id)).toMatchObject({ sealed_payload: null });
        expect(await jobs.get("7")).toMatchObject({ sealed_payload: null });
        expect(await jobs.get("8")).toMatchObject({ sealed_payload: "payload of 8" });
        const entries = await committedEntries(stores);
        expect(entries.map(({ data }) => data)).toEqual(["{}", "{}", "{}", "data"]);
      });

      it.each(losses)("happens when it loses %s", async (loss) => {
        const losing = losingDriver(driver);
        const shaky = (await world.storesOn(losing)).gateway.jobs;
        await tree("7", SECRET);
        losing.loseNext(loss);
        expect(await shaky.eraseUser("7")).toBe(3);
        expect(JSON.stringify(await everything(driver))).not.toContain(SECRET);
      });
    });
  });
}
