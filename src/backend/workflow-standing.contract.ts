// What operators are promised of runs of workflows: how they stand in numbers, and which of them need an operator, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aBegunCall, aCommit, aRequest, MINUTE } from "./contract/a-commit.ts";
import { claimWorkflows, heldWorkflow, openWorkflow } from "./contract/a-workflow.ts";
import { written } from "./contract/a-write.ts";
import { dueThread, heldThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { Claimed } from "./engine.ts";
import type { Stores } from "./stores.ts";

type Held = Pick<Claimed, "id" | "epoch">;

const place = { workspace_type: "site", workspace_id: "shop" };
const subject = {
  ...{ principal: "{}", owner_type: "user", owner_key: "7", context: "workflow", consent: "{}" },
  ...place,
};

export function describeWorkflowStanding(name: string, open: () => Promise<StoresInTest>): void {
  describe(`how runs of workflows stand on ${name}`, () => {
    let stores: Stores;
    let driver: StoresInTest["driver"];

    beforeEach(async () => {
      ({ stores, driver } = await open());
    });

    const none = { due: 0, overdue: 0, oldest_due_age: null, stuck: 0, problems: 0, unknown_steps: 0 };
    const ended = { change: "ended", number: 0, phase: "unknown", outcome: "{}", message_seq: null } as const;
    const end = (run_id: string, has_problem?: true) =>
      written(stores, run_id, {
        ...{ write: "workflow_status", run_id, status: "failed", reason: null, ended: true },
        ...(has_problem && { has_problem }),
      });
    const commit = (held: Held, parts: Parameters<typeof aCommit>[1]) => stores.threads.commit(aCommit(held, parts));

    it("counts those that are due, stuck or have a problem, and no threads", async () => {
      const { workflows, engine } = stores;
      await dueThread(stores);
      const thread = await heldThread(stores, { agent: "sales" });
      await commit(thread, { calls: [aBegunCall(0), ended] });
      await engine.markStuck(thread.id, thread.epoch);
      expect(await workflows.standing({ for_us: 0 })).toEqual(none);

      const stuck = await heldWorkflow(stores);
      await engine.markStuck(stuck.id, stuck.epoch);
      const unknown = await heldWorkflow(stores);
      await commit(unknown, { run: 1, calls: [aBegunCall(0), ended] });
      await end(unknown.id, true);
      const [first, second] = [await openWorkflow(stores), await openWorkflow(stores)];
      const counted = { ...none, oldest_due_age: expect.any(Number), stuck: 1, problems: 1, unknown_steps: 1 };
      expect(await workflows.standing({ for_us: MINUTE })).toEqual({ ...counted, due: 2 });
      expect(await workflows.standing({ for_us: -MINUTE })).toEqual({ ...counted, due: 2, overdue: 2 });
      expect(await workflows.overdue({ for_us: 0, limit: 9 })).toEqual([first, second]);
      expect(await workflows.overdue({ for_us: 0, limit: 1 })).toEqual([first]);
      expect(await workflows.overdue({ for_us: MINUTE, limit: 9 })).toEqual([]);
      expect(await workflows.stuck(9)).toEqual([stuck.id]);
      // Another attempt at the run: what came of the one before is not asked for any more.
      await commit(unknown, { seq: 1, run: 2 });
      await claimWorkflows(stores);
      expect(await workflows.standing({ for_us: 0 })).toEqual({ ...none, stuck: 1, problems: 1 });
    });

    it("finds those that something kept from being carried on", async () => {
      const { workflows, engine } = stores;
      const soon = { within_us: MINUTE, limit: 9 };
      const [kept, fine] = [await heldWorkflow(stores), await heldWorkflow(stores)];
      await engine.giveBack({ ...fine, wake_rev: 1 }, 0);
      await engine.giveBack({ ...kept, wake_rev: 1 }, MINUTE / 2, "sealed words");
      expect(await workflows.putOff(soon)).toEqual([kept.id]);
      expect(await workflows.putOff({ ...soon, within_us: 0 })).toEqual([]);
      await driver.batch([{ sql: "update threads set due_at = 0 where id = $1", params: [kept.id] }]);
      const again = (await claimWorkflows(stores)).find(({ id }) => id === kept.id);
      if (again) await engine.giveBack({ ...again, wake_rev: 1 }, 0);
      expect(await workflows.putOff(soon)).toEqual([]);
    });

    it("finds the runs that act for a user and have ended, in pages", async () => {
      const { workflows } = stores;
      for (const run_id of ["a", "b", "c"]) await openWorkflow(stores, { run_id }, { user_id: "7" });
      await openWorkflow(stores, { run_id: "in a place" }, { user_id: "7", subject });
      await openWorkflow(stores, { run_id: "below" }, { user_id: "7", parent_id: "a" });
      await openWorkflow(stores, { run_id: "of another" }, { user_id: "8" });
      for (const run_id of ["a", "b", "in a place", "below", "of another"]) await end(run_id);
      const found = async (more: object = {}) => await workflows.endedOfUser({ user_id: "7", limit: 9, ...more });
      expect(await found()).toEqual(["a", "b", "in a place"]);
      expect(await found({ limit: 2 })).toEqual(["a", "b"]);
      expect(await found({ after: "b" })).toEqual(["in a place"]);
      expect(await found({ workspace: place })).toEqual(["in a place"]);
      expect(await found({ workspace: { ...place, workspace_type: "shop" } })).toEqual([]);
    });

    it("tells requests of runs from those of threads", async () => {
      const run = await heldWorkflow(stores);
      const thread = await heldThread(stores);
      await commit(run, { opened_requests: [aRequest({ id: "of a run" })] });
      await commit(thread, { opened_requests: [aRequest({ id: "of a thread" })] });
      const listed = async (of?: "thread" | "workflow") =>
        (await stores.requests.list({ status: "pending", ...(of && { of }) })).map(({ id }) => id);
      expect(await listed("workflow")).toEqual(["of a run"]);
      expect(await listed("thread")).toEqual(["of a thread"]);
      expect((await listed()).length).toBe(2);
    });
  });
}
