import { describe, expect, it } from "vitest";
import { cleanId, cleanSlug, cleanWord, titleOf } from "./clean-name.ts";

describe("names", () => {
  it.each([
    ["On  Tool\u00a0Need", "on_tool_need"],
    ["_always_", "always"],
    ["on-intent", "on-intent"],
    ["-x-", "-x-"],
    ["\u212A", ""],
  ])("read %j as the word %j", (text, word) => {
    expect(cleanWord(text)).toBe(word);
  });

  it.each([
    ["--Sec One--", "sec-one"],
    ["a.b/c", "a-b-c"],
    ["_a_", "_a_"],
    ["!!", ""],
  ])("read %j as the slug %j", (text, slug) => {
    expect(cleanSlug(text)).toBe(slug);
  });

  it.each([
    ["/Workspace/Instructions.md/", "workspace/instructions.md"],
    ["  My Source!! / Two ", "my-source-/-two"],
    [" // ", ""],
    ["_a_", "_a_"],
  ])("read %j as the id %j", (text, id) => {
    expect(cleanId(text)).toBe(id);
  });

  it("have titles with a capital for every word", () => {
    expect(titleOf("my-source-/-two_b.md")).toBe("My Source   Two B Md");
  });
});
