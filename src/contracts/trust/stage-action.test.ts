import { describe, expect, it } from "vitest";
import { createHooks } from "../hooks.ts";
import { fromArray } from "./pending-action.ts";
import { createMemoryPendingActionStore, type PendingActionStore } from "./pending-action-store.ts";
import { stageAction } from "./stage-action.ts";

const proposed = {
  ...{ action_id: "act-1", kind: "refund", summary: "Refund", preview: {}, apply_input: { euros: 8 } },
  created_at: "2026-05-01T00:00:00Z",
};
const action = fromArray(proposed);
const newStore = () => createMemoryPendingActionStore({ now: () => new Date(0) });

describe("staging an action", () => {
  it("does nothing where nobody keeps actions", async () => {
    await expect(stageAction(action, {}, {})).resolves.toBeUndefined();
    await expect(stageAction(action, { hooks: createHooks() }, {})).resolves.toBeUndefined();
  });

  it("stores it once, however often it is proposed", async () => {
    const pendingActionStore = newStore();
    await stageAction(action, { pendingActionStore }, {});
    await stageAction(fromArray({ ...proposed, created_at: "2026-05-02T00:00:00Z" }), { pendingActionStore }, {});
    expect(await pendingActionStore.get("act-1")).toEqual(action);
  });

  it("neither swaps what somebody is about to decide nor takes a decision back", async () => {
    const pendingActionStore = newStore();
    await stageAction(action, { pendingActionStore }, {});
    const swapped = fromArray({ ...proposed, apply_input: { euros: 9000 } });
    await expect(stageAction(swapped, { pendingActionStore }, {})).rejects.toThrow("under this id");
    pendingActionStore.recordResolution("act-1", { decision: "rejected", resolver: "user:7" });
    await expect(stageAction(action, { pendingActionStore }, {})).rejects.toThrow("under this id");
    expect(await pendingActionStore.get("act-1", true)).toMatchObject({
      status: "rejected",
      apply_input: { euros: 8 },
    });
  });

  it("says so when the store cannot, will not or is none", async () => {
    const hooks = createHooks();
    hooks.filter("pendingActionStore", () => ({ list: () => [] }));
    await expect(stageAction(action, { hooks }, {})).rejects.toThrow("cannot store");
    const refusing: PendingActionStore = { ...newStore(), store: () => false };
    await expect(stageAction(action, { pendingActionStore: refusing }, {})).rejects.toThrow("not stored");
  });

  it("stores nothing for a run that was stopped", async () => {
    const pendingActionStore = newStore();
    await expect(stageAction(action, { pendingActionStore }, {}, AbortSignal.abort())).rejects.toThrow();
    expect(await pendingActionStore.list()).toEqual([]);
  });
});
