import { describe, expect, it } from "vitest";
import type { JsonMap } from "../json.ts";
import { jsonEqual } from "./json-equal.ts";

describe("two JSON values", () => {
  it("are equal whatever the order of their keys", () => {
    expect(jsonEqual({ a: [1, { b: null }], c: "x" }, { c: "x", a: [1, { b: null }] })).toBe(true);
    expect(jsonEqual(null, null)).toBe(true);
  });

  it.each([
    [1, "1"],
    [0, false],
    [null, {}],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 2]],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: null }, { b: null }],
  ])("differ: %j and %j", (left, right) => {
    expect(jsonEqual(left as JsonMap, right as JsonMap)).toBe(false);
    expect(jsonEqual(right as JsonMap, left as JsonMap)).toBe(false);
  });

  it("are compared by their own keys only", () => {
    expect(jsonEqual({ toString: null }, { valueOf: null })).toBe(false);
    expect(jsonEqual(JSON.parse('{"__proto__":{}}') as JsonMap, { a: {} })).toBe(false);
  });
});
