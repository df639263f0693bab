import { expect, it } from "vitest";
import * as budget from "./budget.ts";

it("allows as many as the ceiling says and trips right after the last", () => {
  const fresh = budget.create({ name: "tool_calls", ceiling: 2 });
  const spent = budget.increment(budget.increment(fresh));
  expect([fresh, budget.increment(fresh), spent].map(budget.isExceeded)).toEqual([false, false, true]);
  expect(budget.remaining(budget.increment(spent))).toBe(0);
});

it("counts without changing the budget it was given", () => {
  const fresh = budget.create({ name: "turns", ceiling: 2 });
  budget.increment(fresh);
  expect(fresh.current).toBe(0);
});

it("reads budgets by name, the later of two winning, and ignores what is not one", () => {
  const given = [{ name: "turns", ceiling: 2 }, "x", { name: "turns", ceiling: 0.5, current: -1 }, { name: "cost" }];
  expect(budget.normalizeMany(given)).toEqual({ turns: { name: "turns", ceiling: 1, current: 0 } });
  expect(budget.normalizeMany("x")).toEqual({});
});

it("falls back to the floor when a measured value is no number", () => {
  expect(budget.setCurrent(budget.create({ name: "x", ceiling: Number.NaN }), Number.NaN)).toEqual({
    name: "x",
    ceiling: 1,
    current: 0,
  });
});

it("names what a budget counts", () => {
  const names = ["wall_clock_seconds", "tool_calls", "tool_calls_ability/save", "turns"];
  expect(names.map(budget.dimension)).toEqual(["wall_clock", "tool_calls", "tool_calls", "turns"]);
});
