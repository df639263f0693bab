import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as canonicalPayload from "./canonical-payload.ts";

describe("canonicalPayload.text", () => {
  it.each([
    [{}, "[]"],
    [[], "[]"],
    [{ b: 1, a: 2, B: 3, _: 4 }, '{"B":3,"_":4,"a":2,"b":1}'],
    [{ 1: "one", 9: "nine", 10: "ten", a: "A" }, '{"1":"one","10":"ten","9":"nine","a":"A"}'],
    [{ "\u{1f600}": 1, "\uff00": 2 }, '{"\uff00":2,"\u{1f600}":1}'],
    [{ t: 'a"b\\c\n\t\u0001\u2028/é<' }, '{"t":"a\\"b\\\\c\\n\\t\\u0001\\u2028/é<"}'],
    ["\u007f", '"\u007f"'],
    [
      [3, 1.5, -0, 1e17, 2 ** 56, 1e-5, 1.5e-7, 0.0001, -1e20],
      "[3,1.5,-0,1.0e+17,72057594037927940,1.0e-5,1.5e-7,0.0001,-1.0e+20]",
    ],
    [[true, false, null], "[true,false,null]"],
  ])("writes %j", (value, written) => {
    expect(canonicalPayload.text(value)).toBe(written);
  });

  it("writes a map whose keys are 0 to n-1 as a list, however many there are", () => {
    const list = Array.from({ length: 12 }, (_, index) => index);
    expect(canonicalPayload.text({ ...list })).toBe(canonicalPayload.text(list));
    expect(canonicalPayload.text({ 1: "b", 0: "a" })).toBe('["a","b"]');
    expect(canonicalPayload.text({ 1: "b", 2: "c" })).toBe('{"1":"b","2":"c"}');
  });

  it("does not depend on the order in which keys were written", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (map) => {
        const reversed = Object.fromEntries(Object.entries(map).reverse());
        expect(canonicalPayload.text(reversed)).toBe(canonicalPayload.text(map));
      }),
    );
  });
});
