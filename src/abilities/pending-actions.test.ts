import { describe, expect, it } from "vitest";
import { holdfastError } from "../contracts/error.ts";
import * as pendingAction from "../contracts/trust/pending-action.ts";
import { createMemoryPendingActionStore } from "../contracts/trust/pending-action-store.ts";
import { get, list, resolve, summary } from "./pending-actions.ts";

const action = pendingAction.fromArray({
  ...{ action_id: "a", kind: "refund", summary: "Refund", preview: {}, apply_input: { euros: 8 } },
  created_at: "2026-11-16T11:00:00Z",
});

function newStore() {
  const store = createMemoryPendingActionStore({ now: () => new Date("2026-11-16T12:00:00Z") });
  store.store(action);
  return store;
}

const decided = { action_id: " a ", decision: " rejected ", resolver: "user:7" };

describe("the operations on pending actions", () => {
  it("list and count what matches, and all where no filters are given", async () => {
    const host = { store: newStore() };
    expect(await list({}, host)).toEqual({ actions: [action] });
    expect(await list(null, host)).toEqual({ actions: [action] });
    expect(await list({ filters: { status: "accepted" } }, host)).toEqual({ actions: [] });
    expect(await list({ filters: ["accepted"] }, host)).toEqual({ actions: [action] });
    expect(await summary({ filters: { kind: "refund" } }, host)).toMatchObject({ total: 1 });
  });

  it("show an action that has ended only to those who ask for it", async () => {
    const store = newStore();
    store.recordResolution("a", { decision: "accepted", resolver: "user:7" });
    expect(await get({ action_id: "a" }, { store })).toEqual({ action: null });
    expect(await get({ action_id: " a ", include_resolved: 1 }, { store })).toMatchObject({
      action: { status: "accepted" },
    });
  });

  it("say what is missing in the order in which it is looked at", async () => {
    expect(await list({}, {})).toMatchObject({ code: "agents_pending_action_no_store" });
    expect(await summary({}, {})).toMatchObject({ code: "agents_pending_action_no_store" });
    expect(await get({ action_id: " " }, {})).toMatchObject({ code: "agents_pending_action_missing_action_id" });
    expect(await get({ action_id: "a" }, {})).toMatchObject({ code: "agents_pending_action_no_store" });
    expect(await resolve({}, {})).toMatchObject({ code: "agents_pending_action_missing_action_id" });
    expect(await resolve({ action_id: "a", decision: "maybe" }, {})).toMatchObject({
      code: "agents_pending_action_missing_resolver",
    });
    for (const decision of ["maybe", "Accepted", "", true, ["accepted"]]) {
      expect(await resolve({ ...decided, decision }, {})).toMatchObject({
        code: "agents_pending_action_invalid_decision",
      });
    }
    expect(await resolve(decided, {})).toMatchObject({ code: "agents_pending_action_no_resolver" });
  });

  it("pass a decision on without the spaces around it", async () => {
    const resolver = { resolve: async (...told: unknown[]) => told };
    expect(await resolve({ ...decided, payload: { note: "x" }, context: ["chat"] }, { resolver })).toEqual({
      action_id: "a",
      decision: "rejected",
      result: ["a", { decision: "rejected", resolver: "user:7", payload: { note: "x" }, context: {} }],
    });
  });

  it("take who decides from the host, and never from what they are told", async () => {
    const resolver = { resolve: (_: string, { context }: { context: unknown }) => context };
    const claimed = { ...decided, context: { surface: "chat", principal: { acting_user_id: 1 } } };
    expect(await resolve(claimed, { resolver })).toMatchObject({ result: { surface: "chat" } });
    expect(JSON.stringify(await resolve(claimed, { resolver }))).not.toContain("acting_user_id");
    const principal = { acting_user_id: 7 };
    expect(await resolve(claimed, { resolver }, { principal })).toMatchObject({
      result: { surface: "chat", principal },
    });
    expect(await resolve({ ...decided, context: { principal } }, { resolver }, {})).toMatchObject({ result: {} });
  });

  it("refuse with the code of the resolver, and throw what is no refusal", async () => {
    const refusal = { code: "too_late", message: "It is Sunday." };
    expect(await resolve(decided, { resolver: { resolve: () => refusal } })).toEqual(refusal);
    const throwing = (thrown: Error) => ({
      resolve: () => {
        throw thrown;
      },
    });
    const denied = holdfastError("pending_action_denied", "Not you.");
    expect(await resolve(decided, { resolver: throwing(denied) })).toEqual({
      code: "pending_action_denied",
      message: "Not you.",
    });
    await expect(resolve(decided, { resolver: throwing(new Error("No disk.")) })).rejects.toThrow("No disk.");
  });
});
