import { expect, it } from "vitest";
import * as usage from "./usage.ts";

it("adds numbers up and lets anything else replace what was there", () => {
  const first = usage.add(usage.zero, { prompt_tokens: 3, cost: 0.25, model: "a" });
  const second = usage.add(first, { prompt_tokens: 4, cost: 0.5, model: "b" });
  expect(second).toEqual({ prompt_tokens: 7, completion_tokens: 0, total_tokens: 0, cost: 0.75, model: "b" });
});

it("adds to a count that was reported as text, and does not add text", () => {
  const first = usage.add(usage.zero, { prompt_tokens: "3", note: "none" });
  expect(first.prompt_tokens).toBe("3");
  expect(usage.add(first, { prompt_tokens: 2, note: 1 })).toMatchObject({ prompt_tokens: 5, note: 1 });
});

it("does not take an inherited name for an earlier count", () => {
  expect(usage.add(usage.zero, { constructor: 2 })).toMatchObject({ constructor: 2 });
});

it("leaves the total alone when a turn reports nothing", () => {
  expect(usage.add(usage.zero, {})).toBe(usage.zero);
});
