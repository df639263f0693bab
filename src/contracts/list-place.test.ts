import { describe, expect, it } from "vitest";
import { comparePlaces, readPlace, writePlace } from "./list-place.ts";

describe("a place in a list", () => {
  it("stands by its time, and at one time by its id", () => {
    const places = [
      { created_at: 1, id: "z" },
      { created_at: 2, id: "A" },
      { created_at: 2, id: "a" },
      { created_at: 2, id: "é" },
      { created_at: 10, id: "a" },
    ];
    expect(places.toReversed().sort(comparePlaces)).toEqual(places);
  });

  it.each(["a", "a:b", ":", " a ", "😀", "1:2"])("is read as it was written with the id %j", (id) => {
    const place = { created_at: 1_700_000_000_000_000, id };
    expect(readPlace(writePlace(place))).toEqual(place);
  });

  it.each([
    "",
    "2",
    "x:a",
    "-1:a",
    "1.5:a",
    "1:",
    "1: ",
    ":a",
    `${"9".repeat(16)}:a`,
    "1:\0",
    `1:${"a".repeat(2_001)}`,
  ])("is not what %j is", (text) => {
    expect(readPlace(text)).toBeUndefined();
  });
});
