import { describe, expect, it } from "vitest";
import * as coerce from "./coerce.ts";

describe("coerce.trim", () => {
  it("takes away space, tab, line ends, NUL and vertical tab, and no other blank", () => {
    expect(coerce.trim(" \t\r\n\0\va b\v\0\n\r\t ")).toBe("a b");
    expect(coerce.trim("\u00a0a\u2003")).toBe("\u00a0a\u2003");
    expect(coerce.trim("\fa\f")).toBe("\fa\f");
    expect(coerce.trim(" \n ")).toBe("");
    expect(coerce.trim("-/a-b/ -", "-/")).toBe("a-b/ ");
  });
});

describe("coerce.trimmed", () => {
  it.each([
    [" a ", "a"],
    ["", undefined],
    [" \n", undefined],
    [7, undefined],
    [null, undefined],
    [["a"], undefined],
  ])("reads %j as %j", (value, expected) => {
    expect(coerce.trimmed(value)).toBe(expected);
  });
});

describe("coerce.nonBlank", () => {
  it("takes away space of every kind around a text, and leaves nothing of one that has no more", () => {
    expect(coerce.nonBlank("\u00a0 a\u00a0b\f\u3000\n")).toBe("a\u00a0b");
    for (const blank of ["", " ", "\0", "\f", "\u00a0\u2003", "\ufeff", 7, null, ["a"]]) {
      expect(coerce.nonBlank(blank)).toBeUndefined();
    }
  });
});

describe("coerce.nonEmptyString", () => {
  it.each([
    [" ", " "],
    ["a", "a"],
    ["", undefined],
    [0, undefined],
    [undefined, undefined],
  ])("reads %j as %j", (value, expected) => {
    expect(coerce.nonEmptyString(value)).toBe(expected);
  });
});

describe("coerce.numeric", () => {
  it.each([
    [1.5, 1.5],
    ["12", 12],
    [" -1.5e3 ", -1500],
    [".5", 0.5],
    ["5.", 5],
    ["+7", 7],
    ["", undefined],
    ["12abc", undefined],
    ["0x10", undefined],
    ["1e999", undefined],
    ["Infinity", undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    [true, undefined],
    [null, undefined],
    [[1], undefined],
    [10n, undefined],
  ])("reads %s as %j", (value, expected) => {
    expect(coerce.numeric(value)).toBe(expected);
  });
});

describe("coerce.wholeNumber", () => {
  it.each([
    [2.9, 0, 2],
    ["2.9", 0, 2],
    [-2.9, 0, 0],
    [0, 1, 1],
    ["many", 1, undefined],
    [undefined, 1, undefined],
  ])("cuts %j and lifts it to at least %j", (value, floor, expected) => {
    expect(coerce.wholeNumber(value, floor)).toBe(expected);
  });
});

describe("coerce.stringList", () => {
  it.each([
    ["a", ["a"]],
    [
      [" a ", "b", "a", "", 7, null],
      ["a", "b"],
    ],
    [undefined, []],
    [7, []],
    [{ a: "b" }, []],
  ])("reads %j as %j", (value, expected) => {
    expect(coerce.stringList(value)).toEqual(expected);
  });
});

it("reads a number of a hundred thousand digits, or what only looks like one, in one go", () => {
  const digits = "1".repeat(100_000);
  expect(coerce.numeric(`${digits}x`)).toBeUndefined();
  expect(coerce.numeric(`0.${digits}`)).toBeCloseTo(0.111);
});

describe("coerce.truthy", () => {
  it.each([false, null, undefined, 0, "", "0", [], {}])("is no for %j", (value) => {
    expect(coerce.truthy(value)).toBe(false);
  });

  it.each([true, 1, -1, "no", "false", [0], { a: null }])("is yes for %j", (value) => {
    expect(coerce.truthy(value)).toBe(true);
  });
});

describe("scalarText", () => {
  it("writes numbers out and leaves texts alone, blank ones too", () => {
    expect([7, 10.0, 0.5, " a ", ""].map(coerce.scalarText)).toEqual(["7", "10", "0.5", " a ", ""]);
  });

  it("makes no text of what is neither", () => {
    expect([true, null, undefined, Number.NaN, 1n, [], {}].map(coerce.scalarText)).toEqual(Array(7).fill(undefined));
  });
});

it("takes a number for a name, and a blank for none", () => {
  expect([" a ", 7, " ", true, null].map(coerce.identifier)).toEqual(["a", "7", undefined, undefined, undefined]);
});

it("lowers ASCII letters and no others", () => {
  expect(coerce.lowered("USE_Memory \u212A\u00C4")).toBe("use_memory \u212A\u00C4");
});

it("trims the named characters from the end alone", () => {
  expect(["/a//", "//", "a", ""].map((text) => coerce.trimEnd(text, "/"))).toEqual(["/a", "", "a", ""]);
});
