import { describe, expect, it } from "vitest";
import * as pendingAction from "./pending-action.ts";
import {
  createMemoryPendingActionStore,
  isPendingActionStore,
  type PendingActionFilters,
  type PendingActionResolution,
} from "./pending-action-store.ts";

const noon = new Date("2026-05-03T12:00:00Z");

function proposed(action_id: string, fields: object = {}) {
  return pendingAction.fromArray({
    action_id,
    kind: "tool_call",
    summary: "Run posts/publish",
    preview: { tool_name: "posts/publish" },
    apply_input: { tool_name: "posts/publish", parameters: { id: 7 } },
    created_at: "2026-05-03T11:00:00Z",
    ...fields,
  });
}

function storeOf(...actions: pendingAction.PendingAction[]) {
  const store = createMemoryPendingActionStore({ now: () => noon });
  for (const action of actions) store.store(action);
  return store;
}

const accepted: PendingActionResolution = { decision: "accepted", resolver: "user:7" };

describe("a store of pending actions", () => {
  it("keeps an action that was decided, and lets nobody decide it again", async () => {
    const store = createMemoryPendingActionStore({ now: () => noon });
    await store.store(proposed("action-1"));
    await store.recordResolution("action-1", { decision: "accepted", resolver: "user:7" });

    expect(await store.get("action-1")).toBeNull();
    expect(await store.get("action-1", true)).toMatchObject({ status: "accepted", resolver: "user:7" });
    expect(await store.recordResolution("action-1", { decision: "rejected", resolver: "user:8" })).toBe(false);
    expect(await store.delete("action-1")).toBe(false);
    expect(await store.expire("2030-01-01T00:00:00Z")).toBe(0);
  });

  it("notes when an action ended, and for an expired one the time that was asked about", async () => {
    const store = storeOf(proposed("a"), proposed("b"), proposed("c", { expires_at: "2026-05-03T11:30:00Z" }));
    await store.recordResolution("a", accepted);
    await store.delete("b");
    await store.expire("2026-05-03T11:45:00Z");
    const ended = (await store.list()).map(({ status, resolved_at, resolver }) => [status, resolved_at, resolver]);
    expect(ended).toEqual([
      ["accepted", "2026-05-03T12:00:00.000Z", "user:7"],
      ["deleted", "2026-05-03T12:00:00.000Z", "system"],
      ["expired", "2026-05-03T11:45:00Z", null],
    ]);
  });

  it("replaces an action that is stored again, in its place", async () => {
    const store = storeOf(proposed("a"), proposed("b"), proposed("a", { summary: "Run it after all" }));
    expect((await store.list()).map(({ summary }) => summary)).toEqual(["Run it after all", "Run posts/publish"]);
  });

  it("compares times as moments, and takes one without a zone for UTC", async () => {
    const store = storeOf(
      proposed("zoned", { expires_at: "2026-05-03T13:59:00+02:00" }),
      proposed("later", { expires_at: "2026-05-03T12:01:00+00:00" }),
      proposed("plain", { expires_at: "2026-05-03 12:00:00" }),
      proposed("nonsense", { expires_at: "tomorrow" }),
    );
    expect(await store.expire()).toBe(2);
    const pending = await store.list({ status: "pending" });
    expect(pending.map(({ action_id }) => action_id)).toEqual(["later", "nonsense"]);
  });

  it.each<[PendingActionFilters, string[]]>([
    [{ creator: "user:1" }, ["b"]],
    [{ resolver: "user:7" }, ["c"]],
    [{ workspace_type: "site" }, ["b"]],
    [{ workspace_type: "site", workspace_id: "2" }, []],
    [{ created_after: "2026-05-02T00:00:00Z", created_before: "2026-05-03T11:00:00Z" }, ["a", "c"]],
    [{ resolved_after: "2026-05-03T12:00:00Z" }, ["c"]],
    [{ resolved_before: "2026-05-03T11:59:59Z" }, []],
    [{ created_after: "nonsense" }, []],
    [{ offset: 1 }, ["b", "c"]],
    [{ limit: 0 }, []],
    [{ kind: "tool_call", limit: 1, offset: 1 }, ["c"]],
  ])("lists what matches %j", async (filters, ids) => {
    const store = storeOf(
      proposed("a"),
      proposed("b", {
        kind: "email",
        creator: "user:1",
        created_at: "2026-05-01T00:00:00Z",
        workspace: { workspace_type: "site", workspace_id: 1 },
      }),
      proposed("c"),
    );
    await store.recordResolution("c", accepted);
    expect((await store.list(filters)).map(({ action_id }) => action_id)).toEqual(ids);
  });

  it("counts all that match, not only a page of them", async () => {
    const store = storeOf(proposed("a"), proposed("b", { kind: "__proto__" }));
    const summary = await store.summary({ limit: 1 });
    expect(summary.total).toBe(2);
    expect(Object.entries(summary.by_kind)).toEqual([
      ["tool_call", 1],
      ["__proto__", 1],
    ]);
  });

  it("leaves an action pending when its resolution is not one", () => {
    const store = storeOf(proposed("a"));
    const decision = "deleted" as "accepted";
    expect(() => store.recordResolution("a", { ...accepted, decision })).toThrow("invalid_ai_approval_decision");
    expect(() => store.recordResolution("a", { ...accepted, resolver: " " })).toThrow("invalid_ai_pending_action");
    expect(store.get("a")).toMatchObject({ status: "pending" });
  });

  it("is known by being able to store", () => {
    expect(isPendingActionStore(storeOf())).toBe(true);
    for (const other of [null, {}, { store: true }, []]) expect(isPendingActionStore(other)).toBe(false);
  });
});
