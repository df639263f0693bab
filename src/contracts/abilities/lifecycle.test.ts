import { expect, it } from "vitest";
import { createHooks } from "../hooks.ts";
import { createMemoryPendingActionStore, type PendingActionStore } from "../trust/pending-action-store.ts";
import { gate } from "./lifecycle.ts";

const refund = {
  action_id: "act-1",
  kind: "refund",
  summary: "Refund order 7",
  preview: { euros: 12 },
  apply_input: { order: 7 },
  created_at: "2026-05-01T00:00:00Z",
};

const newStore = () => createMemoryPendingActionStore({ now: () => new Date("2026-05-01") });

/** Hooks that decide so about every call. */
function deciding(decision: unknown) {
  const hooks = createHooks();
  hooks.filter("abilityPreExecuteDecision", () => decision);
  return hooks;
}

it("is open when nobody has a say", async () => {
  expect(await gate("shop/refund", {}, {})).toEqual({ passed: true });
  expect(await gate("shop/refund", {}, { hooks: createHooks() })).toEqual({ passed: true });
});

it.each([[null], [false], [0], [""]])("takes %j for an answer in the place of the ability", async (value) => {
  const hooks = deciding(refund);
  hooks.filter("preExecuteAbility", async () => value);
  expect(await gate("shop/refund", {}, { hooks })).toEqual({ passed: false, value });
});

it("leaves an earlier answer to those who come later", async () => {
  const hooks = createHooks();
  hooks.filter("preExecuteAbility", () => "cached");
  hooks.filter("preExecuteAbility", (earlier) => earlier);
  expect(await gate("shop/refund", {}, { hooks })).toEqual({ passed: false, value: "cached" });
});

it("shows the raw input to whoever decides", async () => {
  const hooks = createHooks();
  const seen: unknown[] = [];
  hooks.filter("preExecuteAbility", (_, ...about) => void seen.push(about));
  hooks.filter("abilityPreExecuteDecision", (_, ...about) => void seen.push(about));
  await gate("shop/refund", { token: "t" }, { hooks });
  expect(seen).toEqual([
    ["shop/refund", { token: "t" }],
    ["shop/refund", { token: "t" }],
  ]);
});

it.each([[true], [false], [""], ["yes"], [[]], [{}], [{ ...refund, created_at: undefined }]])(
  "stays closed for the decision %j",
  async (decision) => {
    await expect(gate("shop/refund", {}, { hooks: deciding(decision) })).rejects.toThrow("invalid_ai_pending_action");
  },
);

it("stores the action and asks for approval", async () => {
  const pendingActionStore = newStore();
  const answer = await gate("shop/refund", {}, { hooks: deciding(refund), pendingActionStore });
  expect(answer).toMatchObject({
    passed: false,
    value: { type: "approval_required", content: "Refund order 7", metadata: { ability_name: "shop/refund" } },
  });
  expect(await pendingActionStore.get("act-1")).toMatchObject({ apply_input: { order: 7 }, status: "pending" });
});

it("asks the hooks for a store only when there is an action to keep and no store was passed", async () => {
  const asked: unknown[] = [];
  const hooksWith = (decision: unknown) => {
    const hooks = deciding(decision);
    hooks.filter("pendingActionStore", (_, context) => {
      asked.push(context);
      return newStore();
    });
    return hooks;
  };
  await gate("shop/refund", {}, { hooks: hooksWith(null) });
  await gate("shop/refund", {}, { hooks: hooksWith(refund), pendingActionStore: newStore() });
  expect(asked).toEqual([]);
  await gate("shop/refund", {}, { hooks: hooksWith(refund), pendingActionStore: null, context: { site: 1 } });
  expect(asked).toEqual([{ site: 1 }]);
});

it.each([
  ["throws", { store: () => Promise.reject(new Error("disk full")) }],
  ["says no", { store: () => false }],
  ["is none", {}],
])("stays closed and says so when the store %s", async (_, store) => {
  const pendingActionStore = store as PendingActionStore;
  expect(await gate("shop/refund", {}, { hooks: deciding(refund), pendingActionStore })).toMatchObject({
    passed: false,
    value: { type: "approval_required", metadata: { ability_name: "shop/refund", staged: false } },
  });
});

it("adds nothing when there is no store", async () => {
  expect(await gate("shop/refund", {}, { hooks: deciding(refund) })).toHaveProperty("value.metadata", {
    ability_name: "shop/refund",
  });
});

it("stores nothing for a decision that cannot be shown", async () => {
  const grants: unknown[] = [];
  grants.push(grants);
  const pendingActionStore = newStore();
  const hooks = deciding({ ...refund, grants });
  await expect(gate("shop/refund", {}, { hooks, pendingActionStore })).rejects.toThrow("not_json");
  expect(await pendingActionStore.list()).toEqual([]);
});
