import { describe, expect, it } from "vitest";
import { errorSignature } from "./repeated-error.ts";

describe("errorSignature", () => {
  it.each([
    ["digits", "Timeout after 30 s (attempt 1)", "Timeout after 4500 s (attempt 22)"],
    ["what is quoted", 'No page "home" here', 'No page "about us" here'],
    ["what is quoted in other ways", "No page 'home' nor `x`", "No page 'about us' nor `y z`"],
    ["paths", "ENOENT: no such file /tmp/a/b.txt", "ENOENT: no such file ./c/d.md"],
    ["paths of Windows", "Cannot open C:\\a\\b.txt now", "Cannot open D:\\c now"],
    ["addresses", "GET https://example.com/a?b=1 failed", "GET https://example.org/ failed"],
    ["space", "It  broke.\n", " It broke."],
    ["quotes that hold quotes of another kind", `Bad value "it's"`, `Bad value "that isn't"`],
  ])("ignores %s", (_, left, right) => {
    expect(errorSignature(left)).toBe(errorSignature(right));
  });

  it.each([
    ["other words", "Timeout after 30 s", "Refused after 30 s"],
    ["words between two apostrophes", "It can't read, it doesn't", "It can't write, it doesn't"],
    ["words between two possessives", "The users' files and others' too", "The users' names and others' too"],
    ["a path where there was none", "No file", "No file /tmp/x"],
  ])("tells apart %s", (_, left, right) => {
    expect(errorSignature(left)).not.toBe(errorSignature(right));
  });

  it("is short and quick, however long the error", () => {
    for (const piece of ["a", "'", '"', "1", "/", " ", "a'", "'a "]) {
      expect(errorSignature(piece.repeat(500_000))).toHaveLength(64);
    }
  });
});
