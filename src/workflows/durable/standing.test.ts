import { describe, expect, it } from "vitest";
import { initialState } from "../machine/state.ts";
import { readRunState } from "./run-state.ts";
import { dueTime } from "./standing.ts";

const step = { phase: "retrying", attempt: 1, parts: null, until: 100 } as const;

function stateWith(untils: readonly number[]) {
  const steps = Object.fromEntries(untils.map((until, at) => [String(at), { ...step, until }]));
  return readRunState(JSON.stringify({ machine: { ...initialState, steps } }));
}

describe("when a run goes on by itself", () => {
  it("is the first time that one of its steps waits for", () => {
    expect(dueTime(stateWith([300, 100, 200]))).toBe(100);
    expect(dueTime(stateWith([]))).toBeNull();
  });

  it("is no time that has come while nothing may begin: that would be looked at without end", () => {
    expect(dueTime(stateWith([100, 300]), 200)).toBe(300);
    expect(dueTime(stateWith([100, 200]), 200)).toBeNull();
  });
});
