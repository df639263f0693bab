import { describe, expect, it } from "vitest";
import * as spin from "./spin.ts";

const save = spin.identity("save", { page: 1 });
const peek = spin.identity("peek", {});

describe("spin", () => {
  it("knows a call by its trimmed name and its parameters in any order", () => {
    expect(spin.identity(" save ", { a: 1, b: { d: 1, c: 2 } })).toEqual(
      spin.identity("save", { b: { c: 2, d: 1 }, a: 1 }),
    );
    expect(spin.identity("save", { token: "a" })).not.toEqual(spin.identity("save", { token: "b" }));
  });

  it("fires at the threshold and keeps firing until a different call", () => {
    let state: spin.SpinState | undefined;
    const fired: boolean[] = [];
    for (const call of [save, save, save, save, peek, save]) {
      const step = spin.record(state, call, 3);
      fired.push(step.fired !== undefined);
      state = step.state;
    }
    expect(fired).toEqual([false, false, true, true, false, false]);
  });

  it("goes on counting from a state that was stored as JSON", () => {
    const { state } = spin.record(undefined, save, 2);
    expect(spin.record(JSON.parse(JSON.stringify(state)), save, 2).fired).toEqual({
      ...spin.signature(save),
      repeat_count: 2,
      threshold: 2,
    });
  });

  it("stalls at three calls unless told, and never before the second", () => {
    expect([undefined, "x", 1, "4", 5.9].map(spin.normalizeThreshold)).toEqual([3, 3, 2, 4, 5]);
  });
});
