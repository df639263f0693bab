import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as canonicalJson from "./canonical-json.ts";

describe("canonicalJson.text", () => {
  it.each([
    [{}, "[]"],
    [[], "[]"],
    [{ a: {}, b: [] }, '{"a":[],"b":[]}'],
    [{ b: 1, a: 2 }, '{"b":1,"a":2}'],
    ["a/b", '"a\\/b"'],
    ["é€😀", '"\\u00e9\\u20ac\\ud83d\\ude00"'],
    ['tab\t, line\n, quote", backslash\\', '"tab\\t, line\\n, quote\\", backslash\\\\"'],
    ["\u007f", '"\u007f"'],
    [[true, false, null], "[true,false,null]"],
    [-0, "0"],
    [1e20, "1.0e+20"],
    [1.5e-7, "1.5e-7"],
    [0.0001, "0.0001"],
    [123456789012345680, "123456789012345680"],
  ])("writes %j", (value, written) => {
    expect(canonicalJson.text(value)).toBe(written);
  });

  it("is JSON that reads back as the value, but for empty maps and the sign of zero", () => {
    const value = fc.jsonValue().map((given) => withoutEmptyMaps(given));
    fc.assert(
      fc.property(value, (given) => {
        expect(JSON.parse(canonicalJson.text(given))).toEqual(given);
      }),
    );
  });

  it("is ASCII, so that its length is its size in bytes", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        const written = canonicalJson.text(value);
        expect(written.length).toBe(canonicalJson.byteLength(written));
      }),
    );
  });
});

describe("canonicalJson.sortedText", () => {
  it("sorts the keys of every map by their bytes, not their UTF-16 units", () => {
    expect(canonicalJson.sortedText({ b: 1, a: { d: 1, c: 2 } })).toBe('{"a":{"c":2,"d":1},"b":1}');
    expect(canonicalJson.sortBytewise(["\u{1f600}", "\uff00", "z"])).toEqual(["z", "\uff00", "\u{1f600}"]);
  });

  it("does not depend on the order in which keys were written", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (map) => {
        const reversed = Object.fromEntries(Object.entries(map).reverse());
        expect(canonicalJson.sortedText(reversed)).toBe(canonicalJson.sortedText(map));
      }),
    );
  });

  it("keeps the order of lists", () => {
    expect(canonicalJson.sortedText([2, 1])).not.toBe(canonicalJson.sortedText([1, 2]));
  });
});

describe("canonicalJson.stableHash", () => {
  it("names its algorithm and is the same for the same value", () => {
    expect(canonicalJson.stableHash({ a: 1, b: 2 })).toBe(canonicalJson.stableHash({ b: 2, a: 1 }));
    expect(canonicalJson.stableHash({})).toBe(`sha256:${canonicalJson.sha256("[]")}`);
    expect(canonicalJson.sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });
});

function withoutEmptyMaps(value: unknown): unknown {
  if (Object.is(value, -0)) return 0;
  if (Array.isArray(value)) return value.map(withoutEmptyMaps);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "__proto__");
  return entries.length === 0 ? [] : Object.fromEntries(entries.map(([key, item]) => [key, withoutEmptyMaps(item)]));
}
