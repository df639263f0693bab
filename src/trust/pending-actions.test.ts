import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createActionStore } from "../backend/sql/actions.ts";
import { migrate } from "../backend/sql/migrate.ts";
import type { SqlDriver } from "../backend/sql-driver.ts";
import { sqlite } from "../backend/sqlite/sqlite.ts";
import { comparePlaces } from "../contracts/list-place.ts";
import * as pendingAction from "../contracts/trust/pending-action.ts";
import { createMemoryPendingActionStore, type PendingActionFilters } from "../contracts/trust/pending-action-store.ts";
import { createSealing } from "../threads/secrets/sealing.ts";
import type { ActionDecision, ActionHandler } from "./action-handler.ts";
import { createPendingActions, type OtherActions, type PendingActionsOptions } from "./pending-actions.ts";

const sealing = createSealing(new Uint8Array(32).fill(7));
const accepted: ActionDecision = { decision: "accepted", resolver: "user:7" };
const rejected: ActionDecision = { decision: "rejected", resolver: "user:8" };

function proposed(action_id: string, fields: object = {}) {
  return pendingAction.fromArray({
    ...{ action_id, kind: "refund", summary: "Refund 8 euros", preview: { euros: 8 } },
    ...{ apply_input: { euros: 8, card: "4111-secret" }, created_at: "2026-11-16T11:00:00Z" },
    ...fields,
  });
}

describe("the queue of pending actions", () => {
  let driver: SqlDriver;
  let now: Date;
  let applied: unknown[];

  beforeEach(async () => {
    driver = await sqlite(":memory:").open();
    onTestFinished(() => driver.close());
    await migrate(driver);
    now = new Date("2026-11-16T12:00:00Z");
    applied = [];
  });

  const refund: ActionHandler = {
    canResolve: (_, { resolver }) => resolver !== "user:13",
    handle({ apply_input }, { decision, payload }) {
      applied.push(apply_input);
      return { decision, payload };
    },
  };

  const queueOf = (options: Partial<PendingActionsOptions> = {}) =>
    createPendingActions({
      ...{ store: createActionStore(driver), sealing, handlers: { refund }, now: () => now },
      ...options,
    });

  const stored = async () => JSON.stringify(await driver.all("select * from pending_actions"));

  it("opens what applying an action takes for whoever reads that one, and not for a list", async () => {
    const queue = queueOf();
    await queue.store(proposed("a"));
    expect(await queue.list()).toMatchObject([{ action_id: "a", preview: { euros: 8 }, apply_input: "[redacted]" }]);
    expect(await queue.get("a")).toMatchObject({ apply_input: { euros: 8, card: "4111-secret" } });
    expect(await queueOf({ opensLists: true }).list()).toMatchObject([{ apply_input: { euros: 8 } }]);
  });

  it("gives the handler what was proposed, and keeps what it returned", async () => {
    const queue = queueOf();
    await queue.store(proposed("a"));
    const payload = { note: "Sorry." };
    expect(await queue.resolve("a", { ...accepted, payload })).toEqual({ decision: "accepted", payload });
    expect(applied).toEqual([{ euros: 8, card: "4111-secret" }]);
    expect(await queue.get("a")).toBeNull();
    expect(await queue.get("a", true)).toMatchObject({
      ...{ status: "accepted", resolver: "user:7", resolved_at: "2026-11-16T12:00:00.000Z", preview: { euros: 8 } },
      ...{ resolution_result: { decision: "accepted", payload }, resolution_error: null },
    });
  });

  it("keeps what applying takes under seal, and not at all once the action has ended", async () => {
    const queue = queueOf();
    await queue.store(proposed("a"));
    expect(await queue.get("a")).toEqual(proposed("a"));
    expect(await stored()).not.toContain("4111-secret");
    await queue.resolve("a", { ...rejected, payload: { card: "4111-secret" } });
    expect(await stored()).not.toContain("4111-secret");
    expect(await queue.get("a", true)).toMatchObject({ apply_input: "[redacted]", status: "rejected" });
    const other = queueOf({ sealing: createSealing(new Uint8Array(32)) });
    await expect(other.get("a", true)).rejects.toThrow("secret_key_mismatch");
  });

  it("asks for permission first: who may not decide changes nothing, and neither does who fails to say", async () => {
    const unsure: ActionHandler = {
      ...refund,
      canResolve: () => {
        throw new Error("The directory is down.");
      },
    };
    const queue = queueOf({ handlers: { refund, unsure } });
    await queue.store(proposed("a"));
    await queue.store(proposed("b", { kind: "unsure" }));
    await expect(queue.resolve("a", { ...accepted, resolver: "user:13" })).rejects.toThrow("pending_action_denied");
    await expect(queue.resolve("b", accepted)).rejects.toThrow("The directory is down.");
    expect(applied).toEqual([]);
    expect(await queue.get("a")).toEqual(proposed("a"));
    expect(await queue.get("b")).toMatchObject({ status: "pending", resolution_error: null });
  });

  it.each<[string, object, Partial<ActionDecision>]>([
    ["pending_action_no_handler", { kind: "toString" }, {}],
    ["pending_action_expired", { expires_at: "2026-11-16T12:00:00Z" }, {}],
    ["invalid_ai_approval_decision", {}, { decision: "yes" as "accepted" }],
    ["invalid_ai_pending_action", {}, { resolver: " " }],
  ])("refuses with %s before anything happens", async (code, fields, decision) => {
    const queue = queueOf();
    await queue.store(proposed("a", fields));
    await expect(queue.resolve("a", { ...accepted, ...decision })).rejects.toThrow(code);
    await expect(queue.resolve("nobody", accepted)).rejects.toThrow("pending_action_not_found");
    expect(applied).toEqual([]);
  });

  it("notes that an action has expired when somebody decides it too late", async () => {
    const queue = queueOf();
    await queue.store(proposed("a", { expires_at: "2026-11-16T12:00:00Z" }));
    await expect(queue.resolve("a", accepted)).rejects.toThrow("pending_action_expired");
    expect(await queue.get("a", true)).toMatchObject({ status: "expired", resolver: null, apply_input: "[redacted]" });
    await expect(queue.resolve("a", accepted)).rejects.toThrow("pending_action_expired");
  });

  it("applies one of any number of decisions, and tells the others who was first", async () => {
    const queue = queueOf();
    await queue.store(proposed("a"));
    const decisions = [accepted, rejected, accepted, rejected, accepted, accepted];
    const outcomes = await Promise.allSettled(decisions.map((decision) => queue.resolve("a", decision)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(applied).toHaveLength(1);
    const codes = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.code] : []));
    expect(new Set(codes)).toEqual(new Set(["pending_action_claimed"]));
    await expect(queue.resolve("a", accepted)).rejects.toThrow("pending_action_ended");
  });

  it("does not apply what was stored anew while somebody looked at it", async () => {
    let isSwapped = false;
    const swapping: ActionHandler = {
      ...refund,
      async canResolve() {
        if (!isSwapped) await queue.store(proposed("a", { apply_input: { euros: 9000 } }));
        isSwapped = true;
        return true;
      },
    };
    const queue = queueOf({ handlers: { refund: swapping } });
    await queue.store(proposed("a"));
    await expect(queue.resolve("a", accepted)).rejects.toThrow("pending_action_changed");
    expect(applied).toEqual([]);
    await queue.resolve("a", accepted);
    expect(applied).toEqual([{ euros: 9000 }]);
  });

  it("keeps the error of a handler that fails, and does not apply the action again", async () => {
    const failing: ActionHandler = {
      ...refund,
      handle() {
        applied.push("once");
        throw new Error("The bank is closed.");
      },
    };
    const refusing: ActionHandler = { ...refund, handle: () => ({ code: "too_late", message: "It is Sunday." }) };
    const odd: ActionHandler = { ...refund, handle: () => 1n };
    const queue = queueOf({ handlers: { failing, refusing, odd } });
    for (const kind of ["failing", "refusing", "odd"]) await queue.store(proposed(kind, { kind }));
    await expect(queue.resolve("failing", accepted)).rejects.toThrow("pending_action_failed");
    await expect(queue.resolve("failing", accepted)).rejects.toThrow("pending_action_ended");
    expect(applied).toEqual(["once"]);
    expect(await queue.resolve("refusing", accepted)).toEqual({ code: "too_late", message: "It is Sunday." });
    expect(await queue.resolve("odd", accepted)).toBeNull();
    const errors = (await queue.list()).map(({ status, resolution_error }) => [status, resolution_error]);
    expect(errors).toEqual([
      ["accepted", "The bank is closed."],
      ["accepted", "too_late: It is Sunday."],
      ["accepted", expect.stringContaining("bigint")],
    ]);
  });

  describe("when a process dies between the claim and the end", () => {
    /** It is gone while the handler works: what it would have written never arrives. */
    async function dieWhileApplying(): Promise<void> {
      let isDead = false;
      const dying: SqlDriver = {
        ...driver,
        batch: (statements) => (isDead ? Promise.reject(new Error("The process is gone.")) : driver.batch(statements)),
      };
      const handle = () => {
        applied.push("half");
        isDead = true;
      };
      const queue = queueOf({ store: createActionStore(dying), handlers: { refund: { ...refund, handle } } });
      await queue.store(proposed("a", { expires_at: "2026-11-16T13:00:00Z" }));
      await expect(queue.resolve("a", accepted)).rejects.toThrow("The process is gone.");
    }

    it("shows that somebody has decided, and applies nothing a second time", async () => {
      await dieWhileApplying();
      const queue = queueOf();
      expect(await queue.list({ status: "pending" })).toMatchObject([
        {
          ...{ resolver: "user:7", resolution_error: "pending_action_claimed", status: "pending" },
          resolution_metadata: { decision: "accepted", claimed_at: "2026-11-16T12:00:00.000Z" },
        },
      ]);
      await expect(queue.resolve("a", rejected)).rejects.toThrow("pending_action_claimed");
      now = new Date("2026-11-17T12:00:00Z");
      expect(await queue.expire()).toBe(0);
      expect(await queue.recordResolution("a", rejected)).toBe(false);
      expect(await queue.delete("a")).toBe(false);
      expect(await queue.store(proposed("a"))).toBe(false);
      expect(applied).toEqual(["half"]);
    });

    it("ends as it was decided once somebody has found that it was applied", async () => {
      await dieWhileApplying();
      const queue = queueOf();
      const settled = { applied: true, resolver: "operator:1", result: { found: true }, metadata: { by: "hand" } };
      expect(await queue.settleClaimed("a", settled)).toBe(true);
      expect(await queue.settleClaimed("a", settled)).toBe(false);
      expect(await queue.get("a", true)).toMatchObject({
        ...{ status: "accepted", resolver: "operator:1", resolution_error: null, resolution_result: { found: true } },
        ...{ resolution_metadata: { by: "hand" }, apply_input: "[redacted]" },
      });
    });

    it("can be decided again once somebody has found that it was not", async () => {
      await dieWhileApplying();
      const queue = queueOf();
      expect(await queue.settleClaimed("a", { applied: false, resolver: "operator:1" })).toBe(true);
      await queue.resolve("a", accepted);
      expect(applied).toEqual(["half", { euros: 8, card: "4111-secret" }]);
    });
  });

  it("says so when an action was settled by hand while it was still being applied", async () => {
    const handle = () => queue.settleClaimed("a", { applied: false, resolver: "operator:1" });
    const queue = queueOf({ handlers: { refund: { ...refund, handle } } });
    await queue.store(proposed("a"));
    await expect(queue.resolve("a", accepted)).rejects.toThrow("pending_action_overtaken");
    expect(await queue.get("a")).toMatchObject({ status: "pending", resolution_error: null });
  });

  it("tells observers afterwards, and lets none of them spoil it", async () => {
    const told: string[] = [];
    const note =
      (what: string) =>
      (action: { action_id: string; status: string }, ...rest: unknown[]) => {
        told.push([what, action.action_id, action.status, ...rest].join(" "));
        throw new Error("Not now.");
      };
    const observer = { onStored: note("stored"), onResolved: note("resolved"), onExpired: note("expired") };
    const queue = queueOf({ observers: [observer, { onStored: async () => Promise.reject(new Error("Never.")) }, {}] });
    await queue.store(proposed("a"));
    await queue.store(proposed("b", { expires_at: "2026-11-16T12:00:00Z" }));
    await queue.store(proposed("c"));
    await queue.resolve("a", accepted);
    await expect(queue.resolve("a", accepted)).rejects.toThrow("pending_action_ended");
    await queue.expire();
    await queue.recordResolution("c", { decision: "rejected", resolver: "user:8" });
    expect(told).toEqual([
      ...["stored a pending", "stored b pending", "stored c pending", "resolved a accepted accepted user:7"],
      ...["expired b expired", "resolved c rejected rejected user:8"],
    ]);
  });

  it.each<PendingActionFilters>([
    {},
    { status: "pending" },
    { kind: "email" },
    { creator: "user:1" },
    { resolver: "user:7" },
    { workspace_type: "site" },
    { workspace_type: "site", workspace_id: "2" },
    { created_after: "2026-11-15T00:00:00Z", created_before: "2026-11-16 11:00:00" },
    { resolved_after: "2026-11-16T13:00:00+01:00" },
    { resolved_before: "2026-11-16T11:59:59Z" },
    { created_after: "nonsense" },
    { offset: 1 },
    { limit: 0 },
    { kind: "refund", limit: 1, offset: 1 },
    { status: 5 as unknown as "pending" },
    { agent: null as unknown as string },
  ])("answers like the store in memory when it is asked for %j", async (filters) => {
    const queue = queueOf();
    const memory = createMemoryPendingActionStore({ now: () => now });
    const workspace = { workspace_type: "site", workspace_id: 1 };
    for (const store of [queue, memory]) {
      await store.store(proposed("a"));
      await store.store(proposed("b", { kind: "email", creator: "user:1", created_at: "2026-11-01", workspace }));
      await store.store(proposed("c", { created_at: "some day", metadata: { a: [1] } }));
      await store.store(proposed("d", { expires_at: "2026-11-16T12:00:00+00:00" }));
      await store.recordResolution("c", { decision: "accepted", resolver: "user:7", result: 5, metadata: { x: 1 } });
      await store.delete("b");
      await store.expire();
    }
    const shown = async (store: typeof memory) => (await store.list(filters)).map(({ apply_input, ...rest }) => rest);
    expect(await shown(queue)).toEqual(await shown(memory));
    expect(await queue.summary(filters)).toEqual(await memory.summary(filters));
  });

  it("refuses a resolution that makes no valid record, and leaves the action pending", async () => {
    const queue = queueOf();
    await queue.store(proposed("a"));
    await expect(queue.recordResolution("a", { decision: "accepted", resolver: " " })).rejects.toThrow("resolver");
    expect(await queue.get("a")).toEqual(proposed("a"));
  });

  describe("with what threads wait for", () => {
    const theirs = [proposed("thread 1", { kind: "tool_call" }), proposed("thread 2", { kind: "tool_call" })];
    /** When each of them was stored. */
    let times = [1, 2];
    const others: OtherActions = {
      async list(_filters, { limit, after }) {
        const placed = theirs.map((action, index) => {
          return { place: { created_at: times[index] ?? 0, id: action.action_id }, action };
        });
        const isBehind = ({ place }: (typeof placed)[number]) => !after || comparePlaces(place, after) > 0;
        return placed.filter(isBehind).slice(0, limit);
      },
      get: async (id) => theirs.find(({ action_id }) => action_id === id),
      summary: async () => ({ total: 2, by_status: { pending: 2 }, by_kind: { tool_call: 2 } }),
      resolve: async (id, { decision, resolver }) => [id, decision, resolver],
    };

    it("is one list in the order of storing, page by page, and one summary", async () => {
      const queue = queueOf({ others });
      await queue.store(proposed("own 1"));
      // What an action says about its own time does not move it.
      await queue.store(proposed("own 2", { created_at: "2026-11-01T11:01:00Z" }));
      const [own1] = await createActionStore(driver).list({});
      // The second at the very time of the first of our own: then the id decides.
      times = [0, own1?.stored_at ?? 0];
      const ids = async (filters: PendingActionFilters) =>
        (await queue.list(filters)).map(({ action_id }) => action_id);
      expect(await ids({})).toEqual(["thread 1", "own 1", "thread 2", "own 2"]);
      expect(await ids({ limit: 2 })).toEqual(["thread 1", "own 1"]);
      expect(await ids({ limit: 2, offset: 1 })).toEqual(["own 1", "thread 2"]);
      expect(await ids({ offset: 3 })).toEqual(["own 2"]);
      expect(await queue.summary()).toEqual({
        ...{ total: 4, by_status: { pending: 4 }, by_kind: { refund: 2, tool_call: 2 } },
      });
    });

    it("is read in pages that miss nothing and repeat nothing, whatever is decided in between", async () => {
      const queue = queueOf({ others });
      times = [0, Number.MAX_SAFE_INTEGER];
      for (const id of ["b", "a", "d", "c"]) await queue.store(proposed(id));
      const read: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await queue.page({ status: "pending" }, { limit: 2, ...(after !== undefined && { after }) });
        read.push(...page.actions.map(({ action_id }) => action_id));
        // Those of the page leave the list.
        for (const { action_id } of page.actions) await queue.delete(action_id);
        after = page.next;
        if (after === undefined) break;
      }
      expect(read).toEqual(["thread 1", "b", "a", "d", "c", "thread 2"]);
      for (const nowhere of ["", "2", "x:a", "-1:a", "1:", "1: ", `${"9".repeat(16)}:a`]) {
        expect(await queue.page({}, { limit: 2, after: nowhere }), nowhere).toEqual({ actions: [] });
      }
      expect(await queue.page({}, { limit: 0 })).toEqual({ actions: [] });
    });

    it("leaves each decision to whoever keeps the action, and lets no other action hide it", async () => {
      const queue = queueOf({ others });
      expect(await queue.get("thread 1")).toEqual(theirs[0]);
      expect(await queue.resolve("thread 1", accepted)).toEqual(["thread 1", "accepted", "user:7"]);
      expect(await queue.store(proposed("thread 1"))).toBe(false);
      expect(await queue.recordResolution("thread 1", { decision: "accepted", resolver: "user:7" })).toBe(false);
      await expect(queue.resolve("nobody", accepted)).rejects.toThrow("pending_action_not_found");
    });
  });
});
