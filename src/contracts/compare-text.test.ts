import { expect, it } from "vitest";
import { compareText } from "./compare-text.ts";

const texts = [
  "",
  "A",
  "B",
  "Z",
  "a",
  "aB",
  "aa",
  "a-b",
  "a_b",
  "z",
  "é",
  "ß",
  "\uE000",
  "\uFFFD",
  "😀",
  "😁",
  "😀a",
  "a😀",
];

it("orders text as its UTF-8 bytes, beyond the basic plane too", () => {
  const bytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));
  for (const one of texts) {
    for (const other of texts) {
      expect(Math.sign(compareText(one, other)), JSON.stringify([one, other])).toBe(bytes(one, other));
    }
  }
});
