import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../json.ts";
import { MAX_STATE_BYTES, mergeState, replaceState } from "./plugin-state.ts";

const stateOf = (bytes: number): JsonMap => ({ text: "x".repeat(bytes - '{"text":""}'.length) });

describe("the state of a plugin", () => {
  it("scenario 40: has its top-level keys replaced, not merged", () => {
    expect(mergeState({ a: { x: 1 }, b: 2 }, { a: { y: 1 } })).toEqual({ a: { y: 1 }, b: 2 });
    expect(mergeState({ a: 1 }, { a: null })).toEqual({ a: null });
    expect(mergeState({ a: 1 }, {})).toEqual({ a: 1 });
  });

  it("is the updates alone when a fact mirrors them", () => {
    expect(replaceState({ b: 1 })).toEqual({ b: 1 });
    expect(replaceState({})).toEqual({});
  });

  it("scenario 40: takes one mebibyte of JSON at most, counted after the merge and in UTF-8", () => {
    expect(mergeState({}, stateOf(MAX_STATE_BYTES))).toEqual(stateOf(MAX_STATE_BYTES));
    expect(() => mergeState({}, stateOf(MAX_STATE_BYTES + 1))).toThrow("plugin_state_too_large");
    expect(() => mergeState({ a: 1 }, stateOf(MAX_STATE_BYTES))).toThrow("plugin_state_too_large");
    expect(() => mergeState({}, { text: "é".repeat(MAX_STATE_BYTES / 2) })).toThrow("plugin_state_too_large");
    expect(() => replaceState(stateOf(MAX_STATE_BYTES + 1))).toThrow("plugin_state_too_large");
  });

  it("keeps a key __proto__ as a key like any other", () => {
    const merged = mergeState({ a: 1 }, JSON.parse('{"__proto__":{"polluted":true}}') as JsonMap);
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(merged.polluted).toBeUndefined();
    expect(JSON.stringify(merged)).toBe('{"a":1,"__proto__":{"polluted":true}}');
  });
});
