// What shared budgets promise, and the commits that change them, as tests.
import { beforeEach, describe, expect, it } from "vitest";
import type { Amounts } from "../loop/records.ts";
import type { BudgetStore } from "./budget-store.ts";
import { aCommit, aMessage, type CommitParts } from "./contract/a-commit.ts";
import { losingDriver, losses } from "./contract/losing-driver.ts";
import { everything, heldThread, openThread, type StoresInTest } from "./contract/stores-in-test.ts";
import type { Held } from "./engine.ts";
import type { Stores } from "./stores.ts";
import type { BudgetChange } from "./thread-commit.ts";

const none: Amounts = { tokens: 0, nanodollars: 0 };
const tokens = (count: number): Amounts => ({ tokens: count, nanodollars: 0 });
const money = (count: number): Amounts => ({ tokens: 0, nanodollars: count });

/** Sets so much aside, and may be refused. */
const reserve = (reserved: Amounts): BudgetChange => ({ name: "team", used: none, reserved, reserves: true });

/** Counts so much as used of what was set aside. */
function settle(used: Amounts, reserved: Amounts): BudgetChange {
  const freed = { tokens: -reserved.tokens, nanodollars: -reserved.nanodollars };
  return { name: "team", used, reserved: freed, reserves: false };
}

export function describeBudgetStore(name: string, open: () => Promise<StoresInTest>): void {
  describe(`shared budgets on ${name}`, () => {
    let world: StoresInTest;
    let stores: Stores;
    let budgets: BudgetStore;

    beforeEach(async () => {
      world = await open();
      ({ stores } = world);
      ({ budgets } = stores);
    });

    /** The next commit of a thread, with what it does to the budget. */
    async function commit(held: Held, budget_change: BudgetChange, parts: CommitParts = {}, on = stores) {
      const { thread } = (await on.threads.load(held.id)) ?? {};
      const { outcome } = await on.threads.commit(
        aCommit(held, { seq: thread?.next_seq ?? 0, budget_change, ...parts }),
      );
      return outcome;
    }

    const drawn = async () => {
      const { used, reserved } = (await budgets.get("team")) ?? {};
      return { used, reserved };
    };

    it("are known by their names, and made with nothing used", async () => {
      await budgets.set({ name: "team", tokens: 1_000, nanodollars: null });
      await budgets.set({ name: "all of us", tokens: null, nanodollars: 9_007_199_254_740_991 });
      const team = { name: "team", tokens: 1_000, nanodollars: null, used: none, reserved: none };
      expect(await budgets.get("team")).toEqual(team);
      expect(await budgets.list()).toEqual([
        { name: "all of us", tokens: null, nanodollars: 9_007_199_254_740_991, used: none, reserved: none },
        team,
      ]);
      expect(await budgets.get("nobody")).toBeUndefined();
    });

    it("get other ceilings, and what was used of them stays used", async () => {
      await budgets.set({ name: "team", tokens: 1_000, nanodollars: null });
      const held = await heldThread(stores, { budget: "team" });
      await commit(held, reserve(tokens(300)));
      await commit(held, settle(tokens(200), tokens(300)));
      await commit(held, reserve(tokens(100)));
      await budgets.set({ name: "team", tokens: 250, nanodollars: 5 });
      expect(await budgets.get("team")).toEqual({
        ...{ name: "team", tokens: 250, nanodollars: 5, used: tokens(200), reserved: tokens(100) },
      });
      expect(await commit(held, reserve(tokens(1)))).toBe("overtaken");
      expect(await commit(held, settle(tokens(1), tokens(100)))).toBe("committed");
      expect(await drawn()).toEqual({ used: tokens(201), reserved: none });
    });

    it("are drawn on to the last of them and not beyond, in tokens and in money", async () => {
      await budgets.set({ name: "team", tokens: 100, nanodollars: 50 });
      const held = await heldThread(stores, { budget: "team" });
      expect(await commit(held, reserve({ tokens: 60, nanodollars: 20 }))).toBe("committed");
      expect(await commit(held, reserve(tokens(41)))).toBe("overtaken");
      expect(await commit(held, reserve(money(31)))).toBe("overtaken");
      expect(await commit(held, reserve({ tokens: 40, nanodollars: 31 }))).toBe("overtaken");
      expect(await commit(held, reserve({ tokens: 40, nanodollars: 30 }))).toBe("committed");
      expect(await drawn()).toEqual({ used: none, reserved: { tokens: 100, nanodollars: 50 } });
      expect(await commit(held, reserve(tokens(1)))).toBe("overtaken");
    });

    it("do not hold up what has no ceiling", async () => {
      await budgets.set({ name: "team", tokens: null, nanodollars: 10 });
      const held = await heldThread(stores, { budget: "team" });
      expect(await commit(held, reserve({ tokens: 4_000_000_000_000, nanodollars: 10 }))).toBe("committed");
      expect(await commit(held, reserve(money(1)))).toBe("overtaken");
    });

    it("refuse a whole commit: nothing of it is written", async () => {
      await budgets.set({ name: "team", tokens: 100, nanodollars: null });
      const held = await heldThread(stores, { budget: "team" });
      const before = await everything(world.driver);
      const parts = { messages: [aMessage("Too dear.")], drained: [1], state: "{}", working: "sealed" };
      expect(await commit(held, reserve(tokens(101)), parts)).toBe("overtaken");
      expect(await everything(world.driver)).toEqual(before);
      expect(await commit(held, reserve(tokens(100)), parts)).toBe("committed");
      expect(await stores.threads.messages(held.id, {})).toHaveLength(1);
    });

    it("never refuse what was used, however much that is", async () => {
      await budgets.set({ name: "team", tokens: 100, nanodollars: 100 });
      const held = await heldThread(stores, { budget: "team" });
      await commit(held, reserve({ tokens: 90, nanodollars: 90 }));
      const dear = { tokens: 5_000, nanodollars: 7_000 };
      expect(await commit(held, settle(dear, { tokens: 90, nanodollars: 90 }))).toBe("committed");
      expect(await drawn()).toEqual({ used: dear, reserved: none });
      expect(await commit(held, reserve(tokens(1)))).toBe("overtaken");
    });

    it("count what was used before they look at what is set aside in the same commit", async () => {
      await budgets.set({ name: "team", tokens: 100, nanodollars: null });
      const held = await heldThread(stores, { budget: "team" });
      await commit(held, reserve(tokens(60)));
      // An attempt that was lost, and the next one: 60 were used, and as many are to be set aside again.
      const again = { name: "team", used: tokens(60), reserved: none, reserves: true };
      expect(await commit(held, again)).toBe("overtaken");
      const less = { name: "team", used: tokens(60), reserved: tokens(-20), reserves: true };
      expect(await commit(held, less)).toBe("committed");
      expect(await drawn()).toEqual({ used: tokens(60), reserved: tokens(40) });
    });

    it("change with no commit of somebody who has lost the thread", async () => {
      await budgets.set({ name: "team", tokens: 100, nanodollars: null });
      const held = await heldThread(stores, { budget: "team" });
      const stranger = { ...held, epoch: held.epoch - 1 };
      expect(await commit(stranger, reserve(tokens(10)))).toBe("lost");
      expect(await drawn()).toEqual({ used: none, reserved: none });
    });

    it.each(losses)("change once when a commit loses %s", async (loss) => {
      await budgets.set({ name: "team", tokens: 100, nanodollars: null });
      const held = await heldThread(stores, { budget: "team" });
      const driver = losingDriver(world.driver);
      const losing = await world.storesOn(driver);
      driver.loseNext(loss);
      expect(await commit(held, reserve(tokens(60)), {}, losing)).toBe("committed");
      driver.loseNext(loss);
      await losing.budgets.set({ name: "team", tokens: 200, nanodollars: null });
      expect(await budgets.get("team")).toMatchObject({ tokens: 200, used: none, reserved: tokens(60) });
    });

    it("give the last of them to one of those who want it at the same time", async () => {
      await budgets.set({ name: "team", tokens: 100, nanodollars: null });
      const others = (await world.openSecond?.())?.stores ?? stores;
      const drawing: Held[] = [];
      for (let index = 0; index < 8; index++) drawing.push(await heldThread(stores, { budget: "team" }));
      const outcomes = await Promise.all(
        drawing.map((held, index) => commit(held, reserve(tokens(30)), {}, index % 2 === 0 ? stores : others)),
      );
      expect(outcomes.filter((outcome) => outcome === "committed")).toHaveLength(3);
      expect(outcomes.filter((outcome) => outcome === "overtaken")).toHaveLength(5);
      expect(await drawn()).toEqual({ used: none, reserved: tokens(90) });
    });

    it("count all that was set aside for threads that are deleted, and nothing for others", async () => {
      await budgets.set({ name: "team", tokens: null, nanodollars: null });
      await budgets.set({ name: "others", tokens: null, nanodollars: null });
      const setAside = async (held: Held, reserved: Amounts, name = "team") =>
        await commit(held, { ...reserve(reserved), name }, { state: JSON.stringify({ reserved }) });
      const parent = await heldThread(stores, { id: "parent", budget: "team" });
      const child = await heldThread(stores, { id: "child", parent_id: "parent", budget: "team" });
      const stranger = await heldThread(stores, { id: "stranger", budget: "team" });
      const elsewhere = await heldThread(stores, { id: "elsewhere", parent_id: "parent", budget: "others" });
      await setAside(parent, { tokens: 10, nanodollars: 1 });
      await setAside(child, { tokens: 20, nanodollars: 9_000_000_000_000 });
      await setAside(stranger, { tokens: 40, nanodollars: 3 });
      await setAside(elsewhere, tokens(80), "others");
      const resting = await heldThread(stores, { id: "resting", budget: "team" });
      await commit(resting, settle(tokens(5), none), { state: JSON.stringify({ reserved: null }) });

      await stores.threads.delete("parent");
      await stores.threads.delete("resting");

      expect(await drawn()).toEqual({
        used: { tokens: 35, nanodollars: 9_000_000_000_001 },
        reserved: { tokens: 40, nanodollars: 3 },
      });
      expect(await budgets.get("others")).toMatchObject({ used: tokens(80), reserved: none });
      // Whoever was at work on one comes too late.
      expect(await commit(child, settle(tokens(7), tokens(20)))).toBe("lost");
      await stores.threads.delete("parent");
      expect(await drawn()).toMatchObject({ used: { tokens: 35 }, reserved: { tokens: 40 } });
    });

    it.each(losses)("count it once when a deletion loses %s", async (loss) => {
      await budgets.set({ name: "team", tokens: 100, nanodollars: null });
      const reserved = tokens(60);
      const held = await heldThread(stores, { budget: "team" });
      await commit(held, reserve(reserved), { state: JSON.stringify({ reserved }) });
      const driver = losingDriver(world.driver);
      const losing = await world.storesOn(driver);
      driver.loseNext(loss);
      expect(await losing.threads.delete(held.id)).toEqual([held.id]);
      expect(await drawn()).toEqual({ used: reserved, reserved: none });
    });

    it("stay those of a thread, and become those of its forks", async () => {
      await budgets.set({ name: "team", tokens: 100, nanodollars: null });
      const held = await heldThread(stores, { id: "parent", budget: "team" });
      await commit(held, reserve(tokens(10)), { event: { settled: true } });
      const fork = { from: "parent", at: 0, hash: "hash of fork", records: "[]" };
      expect(await stores.threads.fork({ id: "child", key: "child", ...fork })).toBe("forked");
      expect(await stores.threads.get("parent")).toMatchObject({ budget: "team" });
      expect(await stores.threads.get("child")).toMatchObject({ budget: "team" });
      const alone = await openThread(stores);
      expect(await stores.threads.get(alone)).toMatchObject({ budget: null });
      // What the parent has set aside is the parent's.
      expect(await drawn()).toEqual({ used: none, reserved: tokens(10) });
    });
  });
}
