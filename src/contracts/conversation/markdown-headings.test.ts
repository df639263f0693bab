import { expect, it } from "vitest";
import { headingLevel, headingLine, headings } from "./markdown-headings.ts";

const read = (markdown: string) => Array.from(headings(markdown), ({ level, text }) => [level, text]);

it("is one to six hashes, then a space, a tab or nothing", () => {
  expect(read("# One\n######\tSix\n#\n##  \n### x")).toEqual([
    [1, "One"],
    [6, "Six"],
    [1, ""],
    [2, ""],
    [3, "x"],
  ]);
  expect(read("#no\n####### seven\n # indented\ntext # inside\n\\# escaped\n#\u00a0other space\n")).toEqual([]);
});

it("loses closing hashes, but not the hash of a word", () => {
  expect(read("## Sub ##\n# Sub #####  \t\n# # #\n## ##\n# C#\n# a \\#\n# #1\n")).toEqual([
    [2, "Sub"],
    [1, "Sub"],
    [1, "#"],
    [2, "##"],
    [1, "C#"],
    [1, "a \\#"],
    [1, "#1"],
  ]);
});

it("ends its line at LF, CRLF or a lone CR", () => {
  const markdown = "# A\r\nx\r# B\ry\r\r\n# C\n# D";
  const lines = Array.from(headings(markdown), ({ start, end }) => markdown.slice(start, end));
  expect(lines).toEqual(["# A\r\n", "# B\r", "# C\n", "# D"]);
});

it("does not look for code fences", () => {
  expect(read("```sh\n# comment\n```\n")).toEqual([[1, "comment"]]);
});

it("is written on one line", () => {
  expect(headingLine(2, "Archived\r\n# Sections")).toBe("## Archived # Sections\n");
});

it("has a level from 1 to 6", () => {
  const levels = [0, -3, 9, 2.9, "3", " 4 ", "x", null, true, Number.NaN].map((value) => headingLevel(value, 2));
  expect(levels).toEqual([1, 1, 6, 2, 3, 4, 2, 2, 2, 2]);
});
