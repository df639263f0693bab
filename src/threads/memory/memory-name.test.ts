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

  it.each(["", "/", "a//b", "../a", "a/./b", "!!!", "x".repeat(201)])("must be one: %j", (given) => {
    expect(memoryName(given)).toBeUndefined();
  });
});
