import { expect, it } from "vitest";
import { normalize } from "./runtime-metadata.ts";

it("redacts sensitive keys at every depth, inside maps and lists, whatever their value", () => {
  const runtime = { token: null, steps: [{ env: { api_key: ["a"], mode: "safe" } }] };
  expect(normalize(runtime)).toEqual({
    token: "[redacted]",
    steps: [{ env: { api_key: "[redacted]", mode: "safe" } }],
  });
});

it("drops nulls, unnamed fields and what JSON cannot carry, and keeps what is emptied by that", () => {
  const runtime = { "": 1, a: Number.NaN, b: () => 1, list: [null, undefined, { c: null }], zero: 0, off: false };
  expect(normalize(runtime)).toEqual({ list: [{}], zero: 0, off: false });
});

it("gives an empty map for anything that is no map", () => {
  for (const value of [undefined, null, "x", 1, ["a"]]) expect(normalize(value)).toEqual({});
});

it("returns a frozen copy that it recognises afterwards", () => {
  const runtime = { environment: "runtime_local", nested: { a: [1] } };
  const once = normalize(runtime);
  expect(Object.isFrozen(once.nested)).toBe(true);
  expect(normalize(once)).toBe(once);
  runtime.nested.a.push(2);
  expect(once).toEqual({ environment: "runtime_local", nested: { a: [1] } });
});

it("refuses a cycle with a code", () => {
  const runtime: Record<string, unknown> = {};
  runtime.self = runtime;
  expect(() => normalize(runtime)).toThrow("not_json");
});
