import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exactSnapshot, isContainer, isEmpty, isMap, seal, snapshot, snapshotMap } from "./json.ts";

const nested = (levels: number) => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { value };
  return value;
};

describe("snapshot", () => {
  it("is what JSON would carry", () => {
    const value = fc
      .jsonValue({ stringUnit: "binary" })
      .filter((given) => !JSON.stringify(given).includes("__proto__"));
    fc.assert(
      fc.property(value, (given) => {
        expect(JSON.stringify(snapshot(given))).toBe(JSON.stringify(given));
      }),
    );
  });

  it.each([
    ["what JSON leaves out of a map", { a: undefined, b: () => 1, c: Symbol("s"), d: 1 }, { d: 1 }],
    ["what JSON nulls in a list", [undefined, () => 1, Symbol("s")], [null, null, null]],
    ["holes in a list", Object.assign([], { 2: 1 }), [null, null, 1]],
    ["numbers that are none", [Number.NaN, Number.POSITIVE_INFINITY], [null, null]],
    ["a date", { at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
    ["a date that is none", new Date(Number.NaN), null],
    ["a toJSON of somebody's own", { toJSON: () => ({ a: [1] }) }, { a: [1] }],
    ["maps and sets, which have no keys", [new Map([[1, 2]]), new Set([1])], [{}, {}]],
    ["nothing", undefined, null],
    ["a map without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  ])("reads %s", (_title, value, expected) => {
    expect(snapshot(value)).toEqual(expected);
  });

  it("is frozen all the way down and shares nothing with the value", () => {
    const value = { list: [{ a: 1 }] };
    const copied = snapshot(value) as typeof value;
    value.list[0] = { a: 2 };
    expect(copied).toEqual({ list: [{ a: 1 }] });
    expect([copied, copied.list, copied.list[0]].every(Object.isFrozen)).toBe(true);
    expect(Object.isFrozen(value)).toBe(false);
  });

  it("returns a snapshot as it is, also inside another value", () => {
    const copied = snapshot({ a: [1] });
    expect(snapshot(copied)).toBe(copied);
    expect(snapshotMap({ copied }).copied).toBe(copied);
  });

  it("keeps two mentions of one value, which is no cycle", () => {
    const shared = { a: 1 };
    expect(snapshot({ left: shared, right: [shared, shared] })).toEqual({
      left: { a: 1 },
      right: [{ a: 1 }, { a: 1 }],
    });
  });

  it("drops a __proto__ key and keeps other words that objects inherit", () => {
    const copied = snapshotMap(JSON.parse('{"__proto__":{"polluted":1},"constructor":1,"toString":2}'));
    expect(Object.keys(copied)).toEqual(["constructor", "toString"]);
    expect(Object.getPrototypeOf(copied)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  const cycle: Record<string, unknown> = {};
  cycle.deep = { cycle: [cycle] };
  const returnsItself = {
    toJSON() {
      return this;
    },
  };
  it.each([
    ["a cycle", cycle],
    ["a bigint", { a: 1n }],
    ["513 levels", nested(513)],
    ["100,000 levels", nested(100_000)],
    ["a toJSON without end", returnsItself],
  ])("throws not_json for %s", (_title, value) => {
    expect(() => snapshot(value)).toThrow(expect.objectContaining({ code: "not_json" }));
  });

  it("takes 512 levels", () => {
    expect(snapshot(nested(512))).toEqual(nested(512));
  });
});

describe("snapshotMap", () => {
  it.each([[[1]], ["text"], [null], [undefined], [new Date(0)], [{ toJSON: () => [1] }]])(
    "is empty for %j",
    (value) => {
      expect(snapshotMap(value)).toEqual({});
    },
  );
});

describe("seal", () => {
  it("freezes what was built and lets snapshot know it again", () => {
    const sealed = seal({ a: 1 });
    expect(Object.isFrozen(sealed)).toBe(true);
    expect(snapshot(sealed)).toBe(sealed);
  });
});

describe("isMap, isContainer and isEmpty", () => {
  it.each([
    [{}, true, true],
    [{ a: 1 }, true, true],
    [[], false, true],
    [null, false, false],
    ["text", false, false],
    [() => 1, false, false],
  ])("tell %j apart", (value, map, container) => {
    expect([isMap(value), isContainer(value)]).toEqual([map, container]);
  });

  it("count a map's own keys only", () => {
    expect([isEmpty({}), isEmpty([]), isEmpty(Object.create({ inherited: 1 }))]).toEqual([true, true, true]);
    expect([isEmpty({ a: undefined }), isEmpty([undefined])]).toEqual([false, false]);
  });
});

describe("exactSnapshot", () => {
  it("refuses a number that the copy could not hold, at any depth, and nothing else", () => {
    for (const number of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => exactSnapshot({ a: [{ b: number }] })).toThrow("not_json");
    const fine = { a: [null, 0, "NaN"], at: new Date(0) };
    expect(exactSnapshot(fine)).toEqual(snapshot(fine));
  });
});
