import { describe, expect, it } from "vitest";
import { countingBudgets, limitsProblem, nanodollars } from "./limits.ts";

describe("limits", () => {
  it("are whole numbers, and dollars with their cents", () => {
    expect(limitsProblem({})).toBeUndefined();
    const all = { steps: 5, toolCalls: 9, perTool: { "shop/order": 1 }, tokens: 10_000, usd: 0.25, seconds: 60 };
    expect(limitsProblem(all)).toBeUndefined();
  });

  it.each<[unknown, string]>([
    [null, "limits must be a map"],
    [[5], "limits must be a map"],
    [{ steps: 0 }, "limits.steps must be a whole number from 1"],
    [{ tokens: 1.5 }, "limits.tokens must be a whole number from 1"],
    [{ tokens: "many" }, "limits.tokens must be a whole number from 1"],
    [{ seconds: Number.POSITIVE_INFINITY }, "limits.seconds must be a whole number from 1"],
    [{ toolCalls: undefined }, "limits.toolCalls must be a whole number from 1"],
    [{ usd: 0 }, "limits.usd must be a number of US dollars above 0, 9 million at most"],
    [{ usd: Number.NaN }, "limits.usd must be a number of US dollars above 0, 9 million at most"],
    // More nanodollars than a number can count.
    [{ usd: 9_000_001 }, "limits.usd must be a number of US dollars above 0, 9 million at most"],
    [{ perTool: 3 }, "limits.perTool must be a map from names of tools to whole numbers from 1"],
    [{ perTool: { a: 0 } }, "limits.perTool must be a map from names of tools to whole numbers from 1"],
    [{ turns: 3 }, "limits.turns is no limit; there are steps, toolCalls, perTool, tokens, usd, seconds"],
    [{ turns: "x" }, "limits.turns is no limit; there are steps, toolCalls, perTool, tokens, usd, seconds"],
  ])("say what is wrong: %j", (given, problem) => {
    expect(limitsProblem(given)).toBe(problem);
  });

  it("that count are budgets of the loop; those on what models cost are not", () => {
    expect(countingBudgets({ tokens: 5, usd: 1 })).toEqual([]);
    const limits = { steps: 5, toolCalls: 9, perTool: { "shop/order": 1, "shop/peek": 2 }, seconds: 60 };
    expect(countingBudgets(limits)).toEqual([
      { name: "turns", ceiling: 5 },
      { name: "tool_calls", ceiling: 9 },
      { name: "tool_calls_shop/order", ceiling: 1 },
      { name: "tool_calls_shop/peek", ceiling: 2 },
      { name: "wall_clock_seconds", ceiling: 60 },
    ]);
  });

  it("in dollars are counted in whole nanodollars", () => {
    expect([0.1, 0.29, 1.005, 9_000_000].map(nanodollars)).toEqual([1e8, 2.9e8, 1.005e9, 9e15]);
    expect(Number.isSafeInteger(nanodollars(9_000_000))).toBe(true);
  });
});
