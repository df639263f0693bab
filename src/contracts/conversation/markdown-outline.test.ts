import { expect, it } from "vitest";
import { createOutline, keyPart } from "./markdown-outline.ts";

const keysOf = (...headings: [level: number, text: string][]) => {
  const place = createOutline();
  return headings.map(([level, text]) => place(level, text).key);
};

it("makes a key of the ASCII letters and digits of a heading", () => {
  const parts = ["Sub A", "  C++ / C#  ", "Über uns", "日本", "", "a_b--c", "2024-01", "\u212a\u0130I"].map(keyPart);
  expect(parts).toEqual(["sub-a", "c-c", "ber-uns", "untitled", "untitled", "a-b-c", "2024-01", "i"]);
});

it("counts repeats below the same headings only", () => {
  expect(keysOf([1, "One"], [2, "A"], [1, "Two"], [2, "A"], [1, "ONE!"], [2, "a"], [2, "A"])).toEqual([
    "one",
    "one/a",
    "two",
    "two/a",
    "one-2",
    "one/a-2",
    "one/a-3",
  ]);
});

it("never gives a key twice, even if a heading reads like a repeat of another", () => {
  expect(keysOf([1, "One"], [1, "One"], [1, "One 2"], [1, "One"])).toEqual(["one", "one-2", "one-2-2", "one-3"]);
  expect(keysOf([1, "One 2"], [1, "One"], [1, "One"])).toEqual(["one-2", "one", "one-3"]);
});

it("leaves no hole for levels that were skipped", () => {
  const place = createOutline();
  const paths = (
    [
      [4, "a"],
      [6, "b"],
      [3, "c"],
      [2, "d"],
      [3, "e"],
      [1, "f"],
    ] as const
  ).map(([level, text]) => place(level, text).path);
  expect(paths).toEqual([["a"], ["a", "b"], ["a", "b", "c"], ["a", "d"], ["a", "d", "e"], ["f"]]);
});
