import { describe, expect, it } from "vitest";
import { contextSection } from "./context-section.ts";
import { memoryValidator } from "./define-validator.ts";
import { checkMemory } from "./memory.ts";
import { memorySource } from "./memory-source.ts";

const read = (): string => "";

describe("memorySource", () => {
  it("cleans the id, and knows where the content comes from", () => {
    expect(memorySource("Team Rules/Main")).toMatchObject({ id: "team-rules/main", from: "memories" });
    expect(memorySource("a", { read })).toMatchObject({ from: "read" });
    expect(memorySource("a", { composable: true })).toMatchObject({ from: "sections" });
  });

  it.each([
    [{ layer: "everybody" }, "layer must be"],
    [{ retrieval_policy: "on-intent" }, "retrieval_policy must be"],
    [{ authorityTier: "king" }, "authorityTier must be"],
    [{ folder: "/a" }, "folder must be"],
    [{ limit: 0 }, "limit must be"],
    [{ policy: "always" }, "policy is no field"],
    [{ composable: true, read }, "read must not stand beside"],
    [{ read, folder: "a" }, "folder is only for"],
    [{ modes: ["chat", "聊天"] }, "modes must be"],
    [{ retrieval_policy: "on_tool_need" }, "tools must be given"],
    [{ retrieval_policy: "on_intent", read }, "isIntended must be given"],
  ])("refuses %o", (given, words) => {
    expect(() => memorySource("a", given as never)).toThrow(words);
  });

  it("refuses a folder that no database could name", () => {
    for (const folder of ["a\0b", "a\ud800"]) expect(() => memorySource("a", { folder })).toThrow("folder must be");
  });

  it("needs an id", () => {
    expect(() => memorySource("//")).toThrow("invalid_definition");
  });
});

describe("contextSection", () => {
  const render = () => "A";

  it.each([
    [{ retrieval_policy: "on_intent" }, "retrieval_policy must be"],
    [{ retrieval_policy: "on_tool_need" }, "retrieval_policy must be"],
    [{ retrieval_policy: "nevr" }, "retrieval_policy must be"],
    [{ retrieval_policy: null }, "retrieval_policy must be"],
    [{ modes: ["聊天"] }, "modes must be"],
    [{ modes: "chat" }, "modes must be"],
    [{ priority: 1.5 }, "priority must be"],
  ])("refuses %o", (given, words) => {
    expect(() => contextSection("rules", "a", { render, ...given } as never)).toThrow(words);
  });

  it.each(["always", "manual", "never"] as const)("may be %s", (retrieval_policy) => {
    expect(() => contextSection("rules", "a", { render, retrieval_policy })).not.toThrow();
  });
});

describe("what a runtime is given to remember with", () => {
  const section = contextSection("rules", "a", { render: () => "A" });

  it("must be made by its own functions", () => {
    expect(() => checkMemory({ sources: [{ id: "a" } as never] })).toThrow("memorySource()");
    expect(() => checkMemory({ sections: [{ slug: "a" } as never] })).toThrow("contextSection()");
    expect(() => memoryValidator({ id: " ", validate: () => null as never })).toThrow("id must be a name");
    expect(() => contextSection("rules", "a", {} as never)).toThrow("render must be a function");
  });

  it("must not hold a source twice, or a section that nobody would ever read", () => {
    expect(() => checkMemory({ sources: [memorySource("a"), memorySource("A")] })).toThrow("twice");
    expect(() => checkMemory({ sections: [section] })).toThrow("no composable source");
    expect(() =>
      checkMemory({ sources: [memorySource("Rules", { composable: true })], sections: [section] }),
    ).not.toThrow();
  });
});
