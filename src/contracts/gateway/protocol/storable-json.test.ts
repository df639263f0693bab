import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isTooDeep, storableJson, storableText } from "./storable-json.ts";

const copy = (text: string) => JSON.stringify(storableJson(JSON.parse(text)));

describe("JSON of a foreign program", () => {
  it("stays as it is when it can be stored", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        fc.pre(!text.includes("__proto__") && !text.includes("\\u0000"));
        expect(copy(text)).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it("has NUL and halves of characters replaced, in text and in keys", () => {
    expect(copy(String.raw`{"a\u0000":["\ud800x","\udc00"],"\ud800":1,"😀":"😀"}`)).toBe(
      '{"a\ufffd":["\ufffdx","\ufffd"],"\ufffd":1,"😀":"😀"}',
    );
    expect(storableText("a\0b\ud800")).toBe("a\ufffdb\ufffd");
  });

  it("loses numbers that cannot be written, and keys named __proto__", () => {
    expect(copy('{"a":1e999,"b":[-1e999],"c":1e3}')).toBe('{"a":null,"b":[null],"c":1000}');
    const cleaned = storableJson(JSON.parse('{"a":{"__proto__":{"polluted":1},"b":1}}'));
    expect(cleaned).toEqual({ a: { b: 1 } });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("is too deep by its brackets, not by those in its text", () => {
    expect(isTooDeep("[".repeat(512) + "]".repeat(512))).toBe(false);
    expect(isTooDeep("[".repeat(513))).toBe(true);
    expect(isTooDeep('[{"a":['.repeat(171))).toBe(true);
    expect(isTooDeep("[],".repeat(10_000))).toBe(false);
    expect(isTooDeep(JSON.stringify("[".repeat(600)))).toBe(false);
    expect(isTooDeep(JSON.stringify(`\\"${"{".repeat(600)}`))).toBe(false);
    expect(isTooDeep(`"unclosed ${"[".repeat(600)}`)).toBe(false);
  });
});
