// What operators are promised by the engine and by what is counted, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import { aBegunCall, aCommit, anEntry, aRequest, MINUTE } from "./contract/a-commit.ts";
import { claim, dueThread, heldThread, openThread, type StoresInTest, WORKER } from "./contract/stores-in-test.ts";
import type { Claim } from "./engine.ts";
import type { Scalar } from "./sql-driver.ts";
import type { Stores } from "./stores.ts";
import type { NewThread } from "./thread-store.ts";

const subject = { principal: "{}", workspace_type: null, workspace_id: null, context: "chat", consent: "{}" } as const;

const ownedBy = (owner_key: string): Partial<NewThread> => ({ subject: { ...subject, owner_type: "user", owner_key } });
const ownedByNobody = { ...subject, owner_type: null, owner_key: null };

export function describeOperating(name: string, open: () => Promise<StoresInTest>): void {
  describe(`operating on ${name}`, () => {
    let world: StoresInTest;
    let stores: Stores;
    let driver: StoresInTest["driver"];

    beforeEach(async () => {
      world = await open();
      ({ stores, driver } = world);
    });

    async function claimed(parts: Partial<Claim>): Promise<readonly string[]> {
      const { engine } = stores;
      const asked = { agents: ["support", "sales"], state_version: 1, ...parts };
      const taken = await engine.claim({ worker: WORKER, limit: 100, lease_us: MINUTE, except: [], ...asked });
      // Whoever cannot take anything must not think that there is something to take.
      expect(await engine.nextDue(asked)).toBeNull();
      return taken.map(({ id }) => id).sort();
    }

    it("leaves the threads of agents that are off where they are, unless they are to be stopped", async () => {
      await dueThread(stores, { id: "one", agent: "support" });
      await dueThread(stores, { id: "two", agent: "sales" });
      const stopping = await dueThread(stores, { id: "three", agent: "sales" });
      expect(await claimed({ off: ["sales", "support"] })).toEqual([]);
      await stores.inbox.put(stopping, anEntry({ kind: "stop", wakes_stopped: true, urgent: true }));
      expect(await claimed({ off: ["sales"] })).toEqual(["one", "three"]);
      expect(await claimed({ agents: ["sales"], off: ["sales"] })).toEqual([]);
      expect(await claimed({})).toEqual(["two"]);
    });

    it("leaves the threads of tenants that have enough where they are", async () => {
      await dueThread(stores, { id: "of 1", ...ownedBy("1") });
      await dueThread(stores, { id: "of 2", ...ownedBy("2") });
      await dueThread(stores, {
        id: "of a site",
        subject: { ...ownedByNobody, workspace_type: "site", workspace_id: "9" },
      });
      await dueThread(stores, { id: "of nobody", subject: ownedByNobody });
      await dueThread(stores, { id: "without a word" });
      const tenants = await stores.engine.tenants(["of 1", "of 2", "of a site", "of nobody", "without a word"]);
      expect(Object.fromEntries(tenants)).toEqual({ "of 1": "user 1", "of 2": "user 2", "of a site": "site 9" });
      expect(await claimed({ full: ["user 1", "site 9"] })).toEqual(["of 2", "of nobody", "without a word"]);
      expect(await claimed({})).toEqual(["of 1", "of a site"]);
    });

    it("puts a thread back as it was before it was claimed", async () => {
      const id = await dueThread(stores);
      const before = await stores.engine.view(id);
      const [taken] = await claim(stores);
      if (!taken) throw new Error("It was not taken.");
      await stores.engine.putBack(taken);
      expect(await stores.engine.view(id)).toEqual({ ...before, now: expect.any(Number) });
      // Only what this very claim has taken.
      await claim(stores);
      await stores.engine.putBack(taken);
      expect(await stores.engine.view(id)).toMatchObject({ lease_by: WORKER });
    });

    async function claimAgain() {
      const [again] = await claim(stores);
      if (!again) throw new Error("It was not taken.");
      return again;
    }

    it("shows how a thread stands, what went wrong last included", async () => {
      await stores.membership.register(WORKER);
      const held = await heldThread(stores);
      expect(await stores.engine.view(held.id)).toMatchObject({
        ...{ due_at: expect.any(Number), lease_by: WORKER, claims: 1, stuck_at: null, state_version: 1 },
        ...{ last_error: null, waiting: 1, workers: 1, is_holder_known: true },
      });
      await stores.engine.giveBack({ ...held, wake_rev: null }, MINUTE, "sealed error");
      expect(await stores.engine.view(held.id)).toMatchObject({
        ...{ lease_by: null, claims: 1, last_error: "sealed error", is_holder_known: false },
      });
      await driver.batch([{ sql: "update threads set due_at = 0", params: [] }]);
      const again = await claimAgain();
      await stores.threads.commit(aCommit(again));
      expect(await stores.engine.view(held.id)).toMatchObject({ claims: 0, last_error: null });
      expect(await stores.engine.view("nobody's")).toBeUndefined();
    });

    it("lists what is due for so long and held by nobody, the longest due first", async () => {
      const [first, second] = [await dueThread(stores), await dueThread(stores)];
      const stuck = await heldThread(stores, { agent: "sales" });
      await stores.engine.markStuck(stuck.id, stuck.epoch);
      await openThread(stores);
      expect(await stores.metrics.overdue({ for_us: MINUTE, limit: 9 })).toEqual([]);
      expect(await stores.metrics.overdue({ for_us: 0, limit: 9 })).toEqual([first, second]);
      expect(await stores.metrics.overdue({ for_us: 0, limit: 1 })).toEqual([first]);
      await claim(stores);
      expect(await stores.metrics.overdue({ for_us: 0, limit: 9 })).toEqual([]);
    });

    it("reads what is counted from indexes", async () => {
      const { driver } = world;
      // Where tables are small, PostgreSQL reads them instead; the indexes are the same.
      if (driver.name !== "sqlite") return;
      const plans: string[] = [];
      const explaining = async (sql: string, params: readonly Scalar[] = []) => {
        for (const { detail } of await driver.all(`explain query plan ${sql}`, params)) plans.push(String(detail));
        return await driver.all(sql, params);
      };
      const watched = await world.storesOn({ ...driver, readLong: explaining });
      await watched.metrics.read();
      const scans = plans.filter((detail) => detail.startsWith("SCAN "));
      expect(scans.filter((detail) => !/COVERING INDEX|USING INDEX|CONSTANT ROW/.test(detail))).toEqual([]);
      for (const index of [
        "threads_resting",
        "threads_stuck",
        "threads_due",
        "calls_unknown",
        "requests_pending",
        "inbox_waiting",
      ]) {
        expect(plans.join("\n")).toContain(index);
      }
    });

    it("counts threads, calls, requests, entries and workers", async () => {
      expect(await stores.metrics.read()).toEqual({
        threads: { idle: 0, running: 0, waiting: 0, stopped: 0, terminated: 0, stuck: 0 },
        ...{ oldest_due_age: null, unknown_calls: 0, pending_requests: 0, pending_approvals: 0 },
        ...{ oldest_approval_age: null, workers: 0, inbox_depth: 0 },
      });
      await stores.membership.register(WORKER);
      const held = await heldThread(stores);
      const ended = { change: "ended", number: 0, phase: "unknown", outcome: "{}", message_seq: 0 } as const;
      await stores.threads.commit(aCommit(held, { calls: [aBegunCall(0), ended], opened_requests: [aRequest()] }));
      await stores.threads.commit(
        aCommit(held, { seq: 1, status: "waiting", opened_requests: [aRequest({ kind: "client_tool" })] }),
      );
      const stuck = await heldThread(stores);
      await stores.engine.markStuck(stuck.id, stuck.epoch);
      await openThread(stores);
      await dueThread(stores);
      expect(await stores.metrics.read()).toEqual({
        threads: { idle: 2, running: 0, waiting: 1, stopped: 0, terminated: 0, stuck: 1 },
        ...{ oldest_due_age: expect.any(Number), unknown_calls: 1, pending_requests: 2, pending_approvals: 1 },
        ...{ oldest_approval_age: expect.any(Number), workers: 1, inbox_depth: 3 },
      });
      await stores.switches.set({ kind: "agent", name: "support", off: true, reason: "", set_by: "" });
      expect(await stores.metrics.read()).toMatchObject({ oldest_due_age: null });
    });
  });
}
