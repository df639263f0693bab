import { describe, expect, it } from "vitest";
import { memoryName } from "./memory-name.ts";

describe("the name of a memory", () => {
  it.each([
    ["Answers/Tone", "answers/tone"],
    [" the user's birthday ", "the-user-s-birthday"],
    ["заметки/тон", "заметки/тон"],
    ["notes.md", "notes.md"],
  ])("has one spelling: %j", (given, name) => {
    expect(memoryName(given)).toBe(name);
  });

  it("begins and ends with no dash that stands for something else", () => {
    expect(memoryName("!!a - b!!/--c--")).toBe("a---b/c");
  });

  it("is not even looked at when it is too long, whatever would be left of it", () => {
    expect(memoryName(`${"!".repeat(2_000)}a`)).toBeUndefined();
  });

  it.each(["", "/", "a//b", "../a", "a/./b", "!!!", "x".repeat(201)])("must be one: %j", (given) => {
    expect(memoryName(given)).toBeUndefined();
  });
});
