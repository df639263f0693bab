import { describe, expect, it, onTestFinished } from "vitest";
import { openStores } from "../../backend/sql/open-stores.ts";
import { sqlite } from "../../backend/sqlite/sqlite.ts";
import { initialState, type State } from "../../loop/state.ts";
import type { ReadyModel } from "../../models/model-choice.ts";
import { SharedFunds } from "./shared-funds.ts";

const amounts = (tokens: number, nanodollars = 0) => ({ tokens, nanodollars });

/** A run that has spent so many tokens, and has set so many aside. */
function state(spent: number, reserved: number | null): State {
  return { ...initialState, spent: amounts(spent), reserved: reserved === null ? null : amounts(reserved) };
}

const change = (used: number, reserved: number, reserves: boolean) => ({
  ...{ name: "team", used: amounts(used), reserved: amounts(reserved), reserves },
});

describe("what a commit does to shared funds", () => {
  it.each<[string, State | null, State | null, ReturnType<typeof change> | null]>([
    ["is nothing when nothing was drawn", state(10, null), state(10, null), null],
    ["is nothing while a call goes on", state(10, 50), state(10, 50), null],
    ["is to set aside", state(10, null), state(10, 50), change(0, 50, true)],
    ["is to count what was used, whatever the ceiling", state(10, 50), state(40, null), change(30, -50, false)],
    ["is to give back what was not used", state(10, 50), state(10, null), change(0, -50, false)],
    ["is to count more than was set aside", state(0, 50), state(90, null), change(90, -50, false)],
    // An answer and the next question, or an attempt that was lost and the next one, share a commit.
    ["is to count and to set aside at once", state(0, 50), state(30, 60), change(30, 10, true)],
    ["may be refused also when less is set aside than before", state(0, 50), state(50, 20), change(50, -30, true)],
    ["may be refused also when as much is set aside as before", state(0, 50), state(50, 50), change(50, 0, true)],
    ["is not refused for setting aside less", state(0, 50), state(0, 20), change(0, -30, false)],
    ["is to set aside in the first commit of all", null, state(0, 50), change(0, 50, true)],
  ])("%s", (_title, before, after, expected) => {
    const funds = new SharedFunds("team", before);
    expect(funds.changeTo(after)).toEqual(expected);
    funds.committed(after);
    expect(funds.changeTo(after)).toBeNull();
  });

  it("is counted by run: what the one before has spent is not given back", () => {
    const funds = new SharedFunds("team", state(500, null));
    funds.startRun();
    expect(funds.changeTo(initialState)).toBeNull();
    expect(funds.changeTo(state(0, 50))).toEqual(change(0, 50, true));
  });
});

describe("what is left of shared funds", () => {
  const model = (price: ReadyModel["price"]): ReadyModel => ({
    ...{ name: "a function", ask: () => "", price, maxOutputTokens: null },
  });
  const priced = [model({ input: 1, output: 2 })];

  async function budgets() {
    const driver = await sqlite(":memory:").open();
    onTestFinished(() => driver.close());
    const stores = await openStores(driver, { keyFingerprint: "fingerprint" });
    await stores.budgets.set({ name: "team", tokens: 1_000, nanodollars: 500 });
    await driver.batch([
      { sql: "update budgets set used_tokens = 300, reserved_tokens = 200, used_nanodollars = 100", params: [] },
    ]);
    return stores.budgets;
  }

  it("is what nobody has used or set aside", async () => {
    const funds = new SharedFunds("team", null);
    expect(await funds.left(await budgets(), initialState, priced)).toEqual({ tokens: 500, nanodollars: 400 });
  });

  it("has no end where there is no ceiling", async () => {
    const store = await budgets();
    await store.set({ name: "team", tokens: null, nanodollars: null });
    const funds = new SharedFunds("team", null);
    expect(await funds.left(store, initialState, [model(null)])).toEqual({ tokens: null, nanodollars: null });
  });

  it("counts what the thread itself has set aside, and what it will give back or use of that", async () => {
    const store = await budgets();
    // Of the 200 that are set aside, 150 are ours: an attempt that was lost.
    const funds = new SharedFunds("team", state(0, 150));
    expect(await funds.left(store, state(150, null), priced)).toMatchObject({ tokens: 500 });
    expect(await funds.left(store, state(40, null), priced)).toMatchObject({ tokens: 610 });
    expect(await funds.left(store, state(700, null), priced)).toMatchObject({ tokens: -50 });
  });

  it("cannot be said of a budget that is gone, nor in dollars of a model without a price", async () => {
    const store = await budgets();
    const gone = new SharedFunds("gone", null);
    await expect(gone.left(store, initialState, priced)).rejects.toMatchObject({ code: "budget_not_found" });
    const funds = new SharedFunds("team", null);
    await expect(funds.left(store, initialState, [...priced, model(null)])).rejects.toMatchObject({
      code: "model_price_missing",
    });
    await store.set({ name: "team", tokens: 1_000, nanodollars: null });
    expect(await funds.left(store, initialState, [model(null)])).toMatchObject({ tokens: 500 });
  });
});
