import { describe, expect, it } from "vitest";
import type { Json, JsonMap } from "../json.ts";
import type { Predicate } from "./predicate.ts";
import { evaluatePredicate, MAX_PREDICATES, validatePredicate } from "./predicate.ts";

const roots = ["payload", "context", "config"];
const exists = { path: "payload.a", op: "exists" };
const isValid = (predicate: unknown) => validatePredicate(predicate, roots).valid;
const match = (op: string, actual: Json | undefined, value?: Json) =>
  evaluatePredicate({ path: "payload.x", op, ...(value !== undefined && { value }) } as Predicate, {
    payload: actual === undefined ? {} : { x: actual },
  });

describe("a predicate as it is written", () => {
  it.each([
    exists,
    { path: "context.a.b", op: "eq", value: { any: ["json"] } },
    { path: "config.a", op: "neq", value: null },
    { path: "payload.a", op: "in", value: [] },
    { path: "payload.a", op: "gte", value: 1.5 },
    { path: "payload.a", op: "regex", value: "(?i)a+b" },
    { all: [exists, { not: exists }] },
    { any: [exists] },
  ])("is valid: %j", (predicate) => {
    expect(validatePredicate(predicate, roots)).toEqual({ valid: true, predicate });
  });

  it.each([
    null,
    "payload.a",
    [],
    {},
    { path: "payload.a" },
    { op: "exists" },
    { path: "payload", op: "exists" },
    { path: "state.a", op: "exists" },
    { path: "payload..a", op: "exists" },
    { path: "payload.a", op: "like", value: "x" },
    { path: "payload.a", op: "exists", value: 1 },
    { path: "payload.a", op: "eq" },
    { path: "payload.a", op: "in", value: "abc" },
    { path: "payload.a", op: "gt", value: "1" },
    { path: "payload.a", op: "lt", value: Number.NaN },
    { path: "payload.a", op: "contains", value: 1 },
    { path: "payload.a", op: "regex", value: "(" },
    { path: "payload.a", op: "regex", value: "(?=a)" },
    { path: "payload.a", op: "regex", value: "(a)\\1" },
    { ...exists, if: 1 },
    { all: [] },
    { all: exists },
    { any: [exists, 1] },
    { not: [exists] },
    { all: [exists], any: [exists] },
    { ...exists, not: exists },
  ])("is refused, with a sentence: %j", (predicate) => {
    expect(validatePredicate(predicate, roots)).toEqual({ valid: false, problem: expect.stringMatching(/\.$/) });
  });

  it("is at most three levels deep and has at most twenty comparisons", () => {
    expect(isValid({ all: [{ any: [exists] }] })).toBe(true);
    expect(isValid({ all: [{ any: [{ not: exists }] }] })).toBe(false);
    expect(isValid({ all: Array.from({ length: MAX_PREDICATES }, () => exists) })).toBe(true);
    expect(isValid({ all: Array.from({ length: MAX_PREDICATES + 1 }, () => exists) })).toBe(false);
  });

  it("has no regular expression that is too long, as it is written or once its repetitions are", () => {
    for (const value of ["a".repeat(1001), "x{1000}".repeat(11)]) {
      expect(isValid({ path: "payload.a", op: "regex", value })).toBe(false);
    }
  });

  it("may be kept from the config of a plugin, which only steps have", () => {
    const predicate = { path: "config.a", op: "exists" };
    expect(isValid(predicate)).toBe(true);
    expect(validatePredicate(predicate, ["payload", "context"]).valid).toBe(false);
  });
});

describe("a comparison", () => {
  it("asks whether a path exists, whatever is there", () => {
    expect(match("exists", null)).toBe(true);
    expect(match("exists", undefined)).toBe(false);
  });

  it("is strict about types: no text is a number", () => {
    expect(match("eq", 1, 1)).toBe(true);
    expect(match("eq", "1", 1)).toBe(false);
    expect(match("neq", "1", 1)).toBe(true);
    expect(match("eq", { a: [1], b: 2 }, { b: 2, a: [1] })).toBe(true);
    expect(match("in", 1, ["1", 1])).toBe(true);
    expect(match("in", "1", [1])).toBe(false);
  });

  it("takes a missing path for null", () => {
    expect(match("eq", undefined, null)).toBe(true);
    expect(match("neq", undefined, 1)).toBe(true);
    expect(match("in", undefined, ["a"])).toBe(false);
    expect(match("in", undefined, [null])).toBe(true);
  });

  it("orders numbers", () => {
    expect([30, 31, 32].map((n) => match("gt", n, 31))).toEqual([false, false, true]);
    expect([30, 31, 32].map((n) => match("gte", n, 31))).toEqual([false, true, true]);
    expect([30, 31, 32].map((n) => match("lt", n, 31))).toEqual([true, false, false]);
    expect([30, 31, 32].map((n) => match("lte", n, 31))).toEqual([true, true, false]);
  });

  it("looks into text without regard to case", () => {
    expect(match("contains", "see http://x", "HTTP")).toBe(true);
    expect(match("startswith", "ÉCLAIR", "éc")).toBe(true);
    expect(match("endswith", "a.HTML", ".html")).toBe(true);
    expect(match("endswith", "a.html.gz", ".html")).toBe(false);
  });

  it("finds the beginning of a word in it, also where a letter is lowered differently at the end of one", () => {
    expect(match("contains", "ΑΣΑ", "ΑΣ")).toBe(true);
    expect(match("startswith", "ΟΔΟΣΗΜΑ", "ΟΔΟΣ")).toBe(true);
    expect(match("endswith", "ΟΔΟΣ", "Σ")).toBe(true);
    expect(match("contains", "η οδός", "ΟΔΌΣ")).toBe(true);
    expect(match("contains", "ΑΒΑ", "ΑΣ")).toBe(false);
  });

  it("matches a regular expression against the whole text, with regard to case unless it says otherwise", () => {
    expect(match("regex", "abc", "a.c")).toBe(true);
    expect(match("regex", "xabc", "a.c")).toBe(false);
    expect(match("regex", "abcx", "a.c")).toBe(false);
    expect(match("regex", "ABC", "a.c")).toBe(false);
    expect(match("regex", "ABC", "(?i)a.c")).toBe(true);
    expect(match("regex", "ab", "a|ab")).toBe(true);
  });

  it("is done in linear time where other engines would go back and forth for ever", () => {
    expect(match("regex", "a".repeat(100_000), "(a+)+b")).toBe(false);
    expect(match("regex", "a".repeat(100_000), "(a|aa)+$")).toBe(true);
  });

  it.each<[string, Json | undefined, Json]>([
    ["gt", "31", 30],
    ["lte", undefined, 30],
    ["gte", null, 30],
    ["contains", 7, "7"],
    ["startswith", ["a"], "a"],
    ["endswith", undefined, "a"],
    ["regex", true, "true"],
    ["regex", undefined, ".*"],
  ])("%s of %j is an error, which names the predicate", (op, actual, value) => {
    expect(() => match(op, actual, value)).toThrow(/^invalid_predicate: The predicate/);
  });

  it("never finds what every object inherits", () => {
    const predicate: Predicate = { path: "payload.__proto__.constructor", op: "exists" };
    expect(evaluatePredicate(predicate, { payload: {} })).toBe(false);
  });
});

describe("all, any and not", () => {
  const scope = { payload: { a: 1, text: "x" } as JsonMap, context: { b: 2 }, config: { c: 3 } };
  const a: Predicate = { path: "payload.a", op: "eq", value: 1 };
  const b: Predicate = { path: "context.b", op: "eq", value: 2 };
  const wrong: Predicate = { path: "config.c", op: "eq", value: 0 };
  const clash: Predicate = { path: "payload.text", op: "gt", value: 0 };

  it("combine what they hold", () => {
    expect(evaluatePredicate({ all: [a, b] }, scope)).toBe(true);
    expect(evaluatePredicate({ all: [a, wrong] }, scope)).toBe(false);
    expect(evaluatePredicate({ any: [wrong, b] }, scope)).toBe(true);
    expect(evaluatePredicate({ any: [wrong] }, scope)).toBe(false);
    expect(evaluatePredicate({ not: { all: [a, wrong] } }, scope)).toBe(true);
  });

  it("stop at the first answer that decides", () => {
    expect(evaluatePredicate({ all: [wrong, clash] }, scope)).toBe(false);
    expect(evaluatePredicate({ any: [a, clash] }, scope)).toBe(true);
    expect(() => evaluatePredicate({ all: [a, clash] }, scope)).toThrow("predicate");
  });
});
