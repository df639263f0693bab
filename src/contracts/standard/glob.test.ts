import { expect, it } from "vitest";
import { directoryOfGlob, readGlob } from "./glob.ts";

const paths = ["/a.md", "/b.txt", "/notes/a.md", "/notes/deep/a.md", "/notes/deep/er/b1.md"];

it.each([
  ["*.md", ["/a.md"]],
  ["/*", ["/a.md", "/b.txt"]],
  ["**/*.md", ["/a.md", "/notes/a.md", "/notes/deep/a.md", "/notes/deep/er/b1.md"]],
  ["/notes/**", ["/notes/a.md", "/notes/deep/a.md", "/notes/deep/er/b1.md"]],
  ["notes/*/a.md", ["/notes/deep/a.md"]],
  ["notes/**/a.md", ["/notes/a.md", "/notes/deep/a.md"]],
  ["**/deep/**/b?.md", ["/notes/deep/er/b1.md"]],
  ["**", paths],
  ["/a.md", ["/a.md"]],
  ["/A.md", []],
  ["[ab].md", []],
  ["?.md", ["/a.md"]],
  ["**/*b*", ["/b.txt", "/notes/deep/er/b1.md"]],
] as const)("%j names %j", (glob, named) => {
  expect(paths.filter(readGlob(glob))).toEqual(named);
});

it.each([
  ["*.md", "/"],
  ["**", "/"],
  ["/a.md", "/"],
  ["/notes/**", "/notes"],
  ["notes/*/a.md", "/notes"],
  ["notes/deep/er/b?.md", "/notes/deep/er"],
])("%j names nothing but what is below %s, or in its place", (glob, directory) => {
  expect(directoryOfGlob(glob)).toBe(directory);
});

it("takes no longer for a glob that was made to take long", () => {
  expect(readGlob(`/${"*a".repeat(200)}`)(`/${"a".repeat(500)}b`)).toBe(false);
  expect(readGlob(`/${"**/a/".repeat(100)}b`)(`/${"a/".repeat(400)}c`)).toBe(false);
});

it("does not lead out of the thread", () => {
  expect(() => readGlob("../*")).toThrow(/^invalid_file_path: /);
});
