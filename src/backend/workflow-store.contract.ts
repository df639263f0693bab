// What is promised of runs of workflows and their steps, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aCommit, anEntry, MINUTE } from "./contract/a-commit.ts";
import { aStep, aWorkflowRun, claimWorkflows, heldWorkflow, openWorkflow } from "./contract/a-workflow.ts";
import { aChild, aLink, aStop, openChild, written } from "./contract/a-write.ts";
import { everything, openThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { SqlDriver } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";
import type { WorkflowQuery, WorkflowStore } from "./workflow-store.ts";
import type { Write } from "./write.ts";

type StatusWrite = Extract<Write, { write: "workflow_status" }>;

export function describeWorkflowStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`runs of workflows on ${name}`, () => {
    let stores: Stores;
    let workflows: WorkflowStore;
    let driver: SqlDriver;

    beforeEach(async () => {
      ({ stores, driver } = await open());
      ({ workflows } = stores);
    });

    const change = (run_id: string, status: StatusWrite["status"], parts: Partial<StatusWrite> = {}) =>
      written(stores, run_id, { write: "workflow_status", run_id, status, reason: null, ...parts });
    const listed = async (query: Partial<WorkflowQuery> = {}) =>
      (await workflows.list({ limit: 100, ...query })).map(({ run_id }) => run_id);

    describe("a run", () => {
      it("is kept together with its row", async () => {
        const id = await openWorkflow(stores, { tags: ["paid", "eu"], rerun_of: "earlier" });
        const loaded = await stores.threads.load(id);
        expect(await workflows.get(id)).toEqual({
          ...{ ...aWorkflowRun(id), tags: ["paid", "eu"], rerun_of: "earlier", status: "pending", reason: null },
          ...{ created_at: loaded?.thread.created_at, started_at: null, ended_at: null },
          ...{ has_problem: false, parent_id: null },
        });
        expect(await workflows.get("nothing")).toBeUndefined();
      });

      it("is made once, under its key and under its id", async () => {
        const id = await openWorkflow(stores, {}, { key: "holdfast:workflow:key" });
        const before = await everything(driver);
        await openWorkflow(stores, { run_id: "second" }, { key: "holdfast:workflow:key" });
        await written(stores, id, { write: "workflow_run", run: aWorkflowRun(id, { body: "another" }) });
        expect(await everything(driver)).toEqual(before);
      });

      it("is none for a thread, nor where there is no row", async () => {
        const thread = await openThread(stores);
        const before = await everything(driver);
        const run = (id: string) => ({ write: "workflow_run", run: aWorkflowRun(id, { tags: ["a"] }) }) as const;
        await written(stores, thread, run(thread), run("nothing"), aStep("nothing", 0));
        expect(await everything(driver)).toEqual(before);
      });

      it("is made with the commit of the run that starts it, and of no other", async () => {
        const held = await heldWorkflow(stores);
        const thread = aChild(held.id, { id: "nested", kind: "workflow", agent: "" });
        const writes = [
          { write: "thread", thread },
          { write: "workflow_run", run: aWorkflowRun("nested") },
          { write: "entry", thread_id: "nested", entry: anEntry({ kind: "born" }) },
          aStep(held.id, 0),
          { write: "workflow_status", run_id: held.id, status: "running", reason: null, started: true },
        ] as const;
        const before = await everything(driver);
        const stranger = aCommit(held, { worker: "worker 2", writes });
        expect(await stores.threads.commit(stranger)).toEqual({ outcome: "lost" });
        const late = aCommit(held, { writes, drained: [7] });
        expect(await stores.threads.commit(late)).toEqual({ outcome: "overtaken" });
        expect(await everything(driver)).toEqual(before);
        expect(await stores.threads.commit(aCommit(held, { writes }))).toMatchObject({ outcome: "committed" });
        expect(await workflows.get("nested")).toMatchObject({ parent_id: held.id, status: "pending" });
        expect(await workflows.get(held.id)).toMatchObject({ status: "running", started_at: expect.any(Number) });
        expect((await claimWorkflows(stores)).map(({ id }) => id)).toEqual(["nested"]);
      });
    });

    describe("the status of a run", () => {
      it("says when it began for the first time, why it is suspended and when it ended", async () => {
        const id = await openWorkflow(stores);
        await change(id, "running", { started: true });
        const { started_at } = (await workflows.get(id)) ?? {};
        expect(started_at).toEqual(expect.any(Number));
        await change(id, "suspended", { reason: "waiting_for_event" });
        expect(await workflows.get(id)).toMatchObject({ status: "suspended", reason: "waiting_for_event", started_at });
        await change(id, "running", { started: true });
        await change(id, "succeeded", { ended: true });
        expect(await workflows.get(id)).toMatchObject({
          ...{ status: "succeeded", reason: null, started_at, ended_at: expect.any(Number), has_problem: false },
        });
      });

      it("stays as it is once the run has ended", async () => {
        const id = await openWorkflow(stores);
        await change(id, "failed", { ended: true });
        const before = await everything(driver);
        await change(id, "running", { started: true });
        await change(id, "cancelled", { ended: true, has_problem: true });
        expect((await everything(driver)).workflow_runs).toEqual(before.workflow_runs);
      });

      it("begins again when the run is reopened, without the problem that it had", async () => {
        const id = await openWorkflow(stores);
        await change(id, "failed", { started: true, ended: true, has_problem: true });
        expect(await workflows.get(id)).toMatchObject({ has_problem: true });
        await change(id, "running", { reopened: true });
        expect(await workflows.get(id)).toMatchObject({ status: "running", ended_at: null, has_problem: false });
        await change(id, "failed", { ended: true });
        await change(id, "failed", { reopened: true, ended: true, has_problem: true });
        expect(await workflows.get(id)).toMatchObject({ ended_at: expect.any(Number), has_problem: true });
      });
    });

    describe("the list", () => {
      /** Of one time the first two, and the last one later. */
      beforeEach(async () => {
        const subject = { principal: "{}", workspace_type: null, context: "workflow", consent: "{}" };
        const owned = (owner_key: string, workspace_id: string) => ({
          subject: { ...subject, workspace_id, owner_type: "user", owner_key },
        });
        await openWorkflow(stores, { run_id: "a", tags: ["eu", "paid"] }, owned("7", "shop"));
        await openWorkflow(stores, { run_id: "b", workflow_id: "orders", tags: ["eu"] }, owned("8", "shop"));
        await openWorkflow(stores, { run_id: "c" }, { ...owned("7", "desk"), parent_id: "b", child: aLink() });
        await openThread(stores, { id: "thread" });
        await change("c", "running", { started: true });
        await driver.batch([
          { sql: "update workflow_runs set created_at = 10", params: [] },
          { sql: "update workflow_runs set created_at = 20 where run_id = 'c'", params: [] },
        ]);
      });

      it("is of runs alone, newest first, and those of one time by id", async () => {
        expect(await listed()).toEqual(["c", "b", "a"]);
        expect(await listed({ limit: 2 })).toEqual(["c", "b"]);
        expect(await listed({ behind: { created_at: 20, id: "c" } })).toEqual(["b", "a"]);
        expect(await listed({ behind: { created_at: 10, id: "b" } })).toEqual(["a"]);
        expect(await listed({ behind: { created_at: 10, id: "aa" } })).toEqual(["a"]);
        expect((await workflows.list({ limit: 1 }))[0]).toEqual(await workflows.get("c"));
      });

      it("is narrowed by what runs, how it stands and when it was created", async () => {
        expect(await listed({ workflow_id: "refunds" })).toEqual(["c", "a"]);
        expect(await listed({ workflow_id: "refunds", status: "pending" })).toEqual(["a"]);
        expect(await listed({ status: "running" })).toEqual(["c"]);
        expect(await listed({ tag: "eu" })).toEqual(["b", "a"]);
        expect(await listed({ tag: "paid" })).toEqual(["a"]);
        expect(await listed({ tag: "none" })).toEqual([]);
        expect(await listed({ from: 11 })).toEqual(["c"]);
        expect(await listed({ from: 10, to: 10 })).toEqual(["b", "a"]);
        expect(await listed({ to: 9 })).toEqual([]);
      });

      it("is narrowed by whose it is and what started it", async () => {
        expect(await listed({ owner: { type: "user", key: "7" } })).toEqual(["c", "a"]);
        expect(await listed({ workspace: "shop" })).toEqual(["b", "a"]);
        expect(await listed({ owner: { type: "user", key: "7" }, workspace: "shop", tag: "paid" })).toEqual(["a"]);
        expect(await listed({ parent: null })).toEqual(["b", "a"]);
        expect(await listed({ parent: "b" })).toEqual(["c"]);
        expect(await listed({ parent: "a" })).toEqual([]);
      });

      it("can be counted", async () => {
        expect(await workflows.byWorkflow()).toEqual([
          { workflow_id: "orders", status: "pending", runs: 1 },
          { workflow_id: "refunds", status: "pending", runs: 1 },
          { workflow_id: "refunds", status: "running", runs: 1 },
        ]);
      });
    });

    describe("a step", () => {
      let id: string;

      beforeEach(async () => {
        id = await openWorkflow(stores);
      });

      const places = async (page?: Parameters<WorkflowStore["steps"]>[1]) =>
        (await workflows.steps(id, page)).map(({ parent, position }) => `${parent}:${position}`);

      it("keeps what a later write does not give, and loses what it clears", async () => {
        const place = { parent: "", position: 0 };
        await written(stores, id, aStep(id, 0));
        expect(await workflows.steps(id)).toEqual([
          { ...place, opened: "opened", outcome: null, status: "running", undo_order: null },
        ]);
        const ended = { write: "workflow_step", run_id: id, ...place, status: "succeeded" } as const;
        await written(stores, id, { ...ended, outcome: "outcome", undo_order: 7 });
        const step = { ...place, opened: "opened", outcome: "outcome", status: "succeeded", undo_order: 7 };
        expect(await workflows.steps(id)).toEqual([step]);
        await written(stores, id, { ...ended, status: null });
        expect(await workflows.steps(id)).toEqual([{ ...step, status: null }]);
        await written(stores, id, aStep(id, 0, { opened: "anew", outcome: null, undo_order: null }));
        expect(await workflows.steps(id)).toEqual([
          { ...place, opened: "anew", outcome: null, status: "running", undo_order: null },
        ]);
      });

      it("is found at its place, among others and beside places where there is none", async () => {
        await written(stores, id, aStep(id, 0), aStep(id, 1), aStep(id, 0, { parent: "1" }), aStep(id, 2));
        const wanted = [
          { parent: "", position: 1 },
          { parent: "1", position: 0 },
          { parent: "1", position: 1 },
        ];
        const found = await workflows.stepsAt(id, wanted);
        expect(found.map(({ parent, position }) => `${parent}:${position}`).sort()).toEqual(["1:0", ":1"]);
        expect(found).toContainEqual((await workflows.steps(id)).find(({ position }) => position === 1));
        expect(await workflows.stepsAt(id, [])).toEqual([]);
        expect(await workflows.stepsAt("another", wanted)).toEqual([]);
      });

      it("is removed alone", async () => {
        await written(stores, id, aStep(id, 0), aStep(id, 1), aStep(id, 0, { parent: "1" }));
        await written(stores, id, { write: "workflow_step_gone", run_id: id, parent: "", position: 1 });
        expect(await places()).toEqual([":0", "1:0"]);
      });

      it("stands in the order of what it is in, and then of its position", async () => {
        const other = await openWorkflow(stores);
        await written(stores, other, aStep(other, 0));
        for (const [parent, position] of [
          ["", 10],
          ["", 2],
          ["", -1],
          ["10/2", 0],
          ["2", 0],
          ["2/0", 11],
          ["2/0", 9],
          ["20", 1],
          ["on_failure", 0],
          ["undo", 0],
          ["undo/0", 3],
        ] as const) {
          await written(stores, id, aStep(id, position, { parent }));
        }
        const all = [
          ":-1",
          ":2",
          ":10",
          "10/2:0",
          "2:0",
          "2/0:9",
          "2/0:11",
          "20:1",
          "on_failure:0",
          "undo:0",
          "undo/0:3",
        ];
        expect(await places()).toEqual(all);
        expect(await places({ below: "" })).toEqual(all);
        expect(await places({ limit: 3 })).toEqual(all.slice(0, 3));
        expect(await places({ after: { parent: "", position: 10 }, limit: 2 })).toEqual(["10/2:0", "2:0"]);
        expect(await places({ below: "2" })).toEqual([":2", "2:0", "2/0:9", "2/0:11"]);
        expect(await places({ below: "2", limit: 2 })).toEqual([":2", "2:0"]);
        expect(await places({ below: "2", after: { parent: "", position: 2 } })).toEqual(["2:0", "2/0:9", "2/0:11"]);
        expect(await places({ below: "2/0", after: { parent: "2/0", position: 9 } })).toEqual(["2/0:11"]);
        expect(await places({ below: "2/0/9" })).toEqual(["2/0:9"]);
        expect(await places({ below: "undo" })).toEqual(["undo:0", "undo/0:3"]);
        expect(await places({ below: "3" })).toEqual([]);
      });

      it("is one of any number", async () => {
        const numbers = Array.from({ length: 450 }, (_, position) => position);
        await written(stores, id, ...numbers.map((position) => aStep(id, position, { parent: "0" })));
        const found = numbers.map((position) => `0:${position}`);
        expect(await places()).toEqual(found);
        expect(await places({ below: "0", limit: 449 })).toEqual(found.slice(0, 449));
        expect(await places({ limit: 200 })).toEqual(found.slice(0, 200));
        expect(await places({ after: { parent: "0", position: 99 } })).toEqual(found.slice(100));
      });

      it("that can be undone is found in the order in which it ended", async () => {
        const ended = (position: number, undo_order: number | null, parent = "") =>
          aStep(id, position, { parent, status: "succeeded", undo_order });
        await written(stores, id, ended(0, 2), ended(1, null), ended(0, 10, "2/0"), ended(3, 1));
        expect(await workflows.undoable(id)).toEqual([
          { parent: "", position: 3 },
          { parent: "", position: 0 },
          { parent: "2/0", position: 0 },
        ]);
      });

      it("is counted by how it stands", async () => {
        const none = { running: 0, waiting: 0, succeeded: 0, failed: 0, skipped: 0, cut_off: 0 };
        expect(await workflows.counts(id)).toEqual(none);
        await written(
          stores,
          id,
          ...[aStep(id, -1), aStep(id, 0), aStep(id, 1), aStep(id, 2, { status: null })],
          aStep(id, 0, { parent: "0", status: "cut_off" }),
        );
        expect(await workflows.counts(id)).toEqual({ ...none, running: 2, cut_off: 1 });
      });
    });

    it("runs with a problem are found, newest first", async () => {
      for (const [index, id] of ["a", "b", "c"].entries()) {
        await openWorkflow(stores, { run_id: id });
        const sql = "update workflow_runs set created_at = $2 where run_id = $1";
        await driver.batch([{ sql, params: [id, index] }]);
      }
      await change("a", "failed", { ended: true, has_problem: true });
      await change("b", "running");
      await change("c", "running", { has_problem: true });
      await change("c", "suspended", { reason: "paused" });
      expect((await workflows.problems(9)).map(({ run_id }) => run_id)).toEqual(["c", "a"]);
      expect((await workflows.problems(1)).map(({ run_id }) => run_id)).toEqual(["c"]);
    });

    it("events that no step has taken are counted", async () => {
      const held = await heldWorkflow(stores);
      await stores.inbox.put(held.id, anEntry({ kind: "event", id: "one" }));
      await stores.inbox.put(held.id, anEntry({ kind: "event", id: "two" }));
      await stores.inbox.put(held.id, anEntry({ kind: "pause" }));
      expect(await workflows.waitingEvents(held.id)).toBe(2);
      expect((await stores.inbox.waiting(held.id)).map(({ kind }) => kind)).toEqual([
        "born",
        "event",
        "event",
        "pause",
      ]);
      await stores.threads.commit(aCommit(held, { drained: [2] }));
      expect(await workflows.waitingEvents(held.id)).toBe(1);
    });

    describe("retention", () => {
      // Never negative: whatever has ended did so longer ago than that.
      const idle = { for_us: -MINUTE, limit: 9 };

      /** Ended and given back, with nothing left in its inbox. */
      async function endedRun(run_id: string, parts: Parameters<typeof openWorkflow>[2] = {}): Promise<void> {
        await openWorkflow(stores, { run_id, tags: ["a"] }, parts);
        for (const { id, epoch } of await claimWorkflows(stores)) {
          const write = { write: "workflow_status", run_id: id, status: "failed", reason: null, ended: true } as const;
          const settle = { wake_rev: 1, due_after: null };
          const writes = [aStep(id, 0), write];
          await stores.threads.commit(aCommit({ id, epoch }, { status: "idle", drained: [1], writes, settle }));
        }
      }

      it("finds runs without a parent that have ended, in pages", async () => {
        for (const id of ["a", "b", "c"]) await endedRun(id);
        await endedRun("child", { parent_id: "a", child: aLink() });
        await openWorkflow(stores, { run_id: "at work" });
        expect(await workflows.prunable(idle)).toEqual(["a", "b", "c"]);
        expect(await workflows.prunable({ ...idle, limit: 2 })).toEqual(["a", "b"]);
        expect(await workflows.prunable({ ...idle, after: "b" })).toEqual(["c"]);
        expect(await workflows.prunable({ ...idle, for_us: MINUTE })).toEqual([]);
      });

      it("deletes them with all that is below, unless something there is not at rest", async () => {
        await endedRun("run");
        await openChild(stores, "run", { id: "agent" });
        await stores.inbox.put("agent", anEntry());
        expect(await stores.threads.delete("run", "retention", idle.for_us)).toEqual([]);
        await stores.threads.terminate("agent", aStop());
        await driver.batch([
          { sql: "update inbox set drained_at = 1", params: [] },
          { sql: "update threads set due_at = null", params: [] },
        ]);
        expect(await stores.threads.delete("run", "retention", idle.for_us)).toEqual(["run", "agent"]);
        const left = await everything(driver);
        for (const table of ["workflow_runs", "workflow_run_tags", "workflow_steps"]) expect(left[table]).toEqual([]);
      });

      it("deletes no run that was reopened or that is still to take something in", async () => {
        await endedRun("run");
        await stores.inbox.put("run", anEntry({ kind: "retry" }));
        expect(await stores.threads.delete("run", "retention", idle.for_us)).toEqual([]);
        const [held] = await claimWorkflows(stores);
        const reopened = { write: "workflow_status", run_id: "run", status: "running", reason: null } as const;
        const settle = { wake_rev: 2, due_after: null };
        const writes = [{ ...reopened, reopened: true }] as const;
        if (held) await stores.threads.commit(aCommit(held, { seq: 1, status: "idle", drained: [2], writes, settle }));
        expect(await workflows.prunable(idle)).toEqual([]);
        expect(await stores.threads.delete("run", "retention", idle.for_us)).toEqual([]);
      });

      it("finds a thread at rest above a run that has ended", async () => {
        await openThread(stores, { id: "thread" });
        await endedRun("run", { parent_id: "thread", child: aLink() });
        expect(await stores.threads.idle(idle)).toEqual(["thread"]);
        await openWorkflow(stores, { run_id: "at work" }, { parent_id: "thread", child: aLink() });
        expect(await stores.threads.idle(idle)).toEqual([]);
      });
    });

    it("a run is deleted with its tags and steps, and no other is", async () => {
      await openWorkflow(stores, { run_id: "kept", tags: ["a"] });
      await written(stores, "kept", aStep("kept", 0));
      const before = await everything(driver);
      await openThread(stores, { id: "thread" });
      await openWorkflow(stores, { run_id: "run", tags: ["a", "b"] }, { parent_id: "thread", child: aLink() });
      await written(stores, "run", aStep("run", 0), aStep("run", 3, { parent: "0/1" }));
      expect(await stores.threads.delete("thread")).toEqual(["thread", "run"]);
      expect({ ...(await everything(driver)), audit_tombstones: [] }).toEqual(before);
    });
  });
}
