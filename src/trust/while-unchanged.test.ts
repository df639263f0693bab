import { expect, it } from "vitest";
import { whileUnchanged } from "./while-unchanged.ts";

it("makes something of a row once, and again when any column has changed", () => {
  const made: object[] = [];
  const of = whileUnchanged((row: { label: string; used: number | null }) => {
    made.push(row);
    return `${row.label} ${row.used}`;
  });
  expect(of("a", { label: "CI", used: null })).toBe("CI null");
  expect(of("a", { label: "CI", used: null })).toBe("CI null");
  expect(made).toHaveLength(1);
  expect(of("a", { label: "CI", used: 7 })).toBe("CI 7");
  expect(of("b", { label: "CI", used: 7 })).toBe("CI 7");
  expect(of("a", { label: "CI", used: null })).toBe("CI null");
  expect(made).toHaveLength(4);
});

it("forgets the rows that it has known for longest when there are many", () => {
  const made: string[] = [];
  const of = whileUnchanged(({ label }: { label: string }) => made.push(label), 2);
  for (const label of ["a", "b", "c", "c", "b", "a"]) of(label, { label });
  expect(made).toEqual(["a", "b", "c", "a"]);
});
