import { describe, expect, it } from "vitest";
import { difference, judge } from "./compare.ts";

const differs = (expected: unknown, actual: unknown) => difference(expected, actual)?.path;

describe("a value", () => {
  it("is compared deeply, and the first difference is named by its path", () => {
    const expected = { a: [{ b: 1 }, { c: { d: "x" } }] };
    expect(difference(expected, { a: [{ b: 1 }, { c: { d: "x" } }] })).toBeUndefined();
    expect(difference(expected, { a: [{ b: 1 }, { c: { d: "y" } }] })).toEqual({
      path: "a[1].c.d",
      expected: "x",
      actual: "y",
    });
  });

  it("may have its keys in any order, but not its list items", () => {
    expect(differs({ a: 1, b: 2 }, { b: 2, a: 1 })).toBeUndefined();
    expect(differs([1, 2], [2, 1])).toBe("[0]");
  });

  it("matches <any> whenever it is present", () => {
    expect(differs({ id: "<any>" }, { id: "r-1" })).toBeUndefined();
    expect(differs({ id: "<any>" }, { id: { deep: true } })).toBeUndefined();
    expect(differs({ id: "<any>" }, {})).toBe("id");
    expect(differs({ id: "<any>" }, { id: undefined })).toBe("id");
  });

  it("may be an empty list for an empty map and the reverse, at any depth", () => {
    expect(differs([], {})).toBeUndefined();
    expect(differs({ a: { b: {} } }, { a: { b: [] } })).toBeUndefined();
    expect(differs({ a: [] }, { a: [1] })).toBe("a[0]");
    expect(differs({ a: [] }, { a: "" })).toBe("a");
  });

  it("may be absent where null is expected", () => {
    expect(differs({ a: null }, {})).toBeUndefined();
    expect(differs({ a: null }, { a: undefined })).toBeUndefined();
    expect(differs(null, undefined)).toBeUndefined();
    expect(differs({ a: null }, { a: 0 })).toBe("a");
    expect(differs([1, null], [1])).toBe("[1]");
  });

  it("may not have an extra field with a value", () => {
    expect(differs({}, { extra: false })).toBe("extra");
    expect(differs({ a: 1 }, { a: 1, extra: "" })).toBe("extra");
    expect(differs({ a: 1 }, { a: 1, extra: null })).toBeUndefined();
  });

  it("may have an extra empty list or map, but needs the empty one that is expected", () => {
    expect(differs({ a: 1 }, { a: 1, list: [], map: {} })).toBeUndefined();
    expect(differs({ a: 1 }, { a: 1, list: [[]] })).toBe("list");
    expect(differs({ executor_calls: [] }, {})).toBe("executor_calls");
  });

  it("is never coerced", () => {
    expect(differs({ a: 1 }, { a: "1" })).toBe("a");
    expect(differs({ a: true }, { a: 1 })).toBe("a");
    expect(differs([{ 0: "x" }], [["x"]])).toBe("[0]");
  });

  it("is not found on the prototype", () => {
    expect(differs({ toString: "x" }, {})).toBe("toString");
    expect(differs(JSON.parse('{"__proto__": {"a": 1}}'), {})).toBe("__proto__");
  });
});

describe("an expected error", () => {
  const vector = { name: "bad", input: {}, expect_error: { contains: "invalid_thing: name" } };

  it("is satisfied when its code or text contains what is expected, whatever the prose", () => {
    expect(judge(vector, { thrown: new Error("invalid_thing: name must be a string") })).toBeUndefined();
    const coded = Object.assign(new Error("name is wrong"), { code: "invalid_thing" });
    expect(judge({ ...vector, expect_error: { contains: "invalid_thing" } }, { thrown: coded })).toBeUndefined();
    expect(judge(vector, { thrown: new Error("invalid_other: name") })).toContain("invalid_other");
  });

  it("may be returned instead of thrown", () => {
    const returned = { value: { code: "agents_missing", message: "No package." } };
    expect(judge({ ...vector, expect_error: { contains: "agents_missing" } }, returned)).toBeUndefined();
    expect(judge(vector, returned)).toContain("agents_missing");
  });

  it("is not satisfied by an ordinary value", () => {
    expect(judge(vector, { value: { name: "fine" } })).toContain('got the value {"name":"fine"}');
  });
});

it("an error where a value is expected fails the case with its words", () => {
  const vector = { name: "good", input: {}, expect: null };
  expect(judge(vector, { thrown: new TypeError("broken") })).toContain("TypeError: broken");
});
