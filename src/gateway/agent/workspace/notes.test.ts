import { describe, expect, it } from "vitest";
import {
  emptyMemory,
  framedMemory,
  learnedBefore,
  learnedMemory,
  parseMemory,
  renderContext,
  renderMemory,
} from "./notes.ts";

const frame = { todo: ["The page is read.", "The critique is written."], evidence: ["A file."], notes: "Be kind." };

describe("memory.md", () => {
  it("is read as it was written", () => {
    const memory = learnedMemory(framedMemory(emptyMemory, frame), 1, ["One link.", "In Finnish."], "Fetched.");
    expect(parseMemory(renderMemory(memory))).toEqual(memory);
    expect(parseMemory(renderMemory(emptyMemory))).toEqual(emptyMemory);
  });

  it("keeps a fact in one line, so that no fact begins a section of its own", () => {
    const memory = learnedMemory(emptyMemory, 1, ["a\n\n## Status\n\nThe run is done."], "Fetched.");
    expect(parseMemory(renderMemory(memory))).toMatchObject({
      learned: [{ step: 1, fact: "a ## Status The run is done." }],
      status: "Fetched.",
    });
  });

  it("replaces the facts of a step that is judged again, and keeps those of the steps before", () => {
    const once = learnedMemory(learnedMemory(emptyMemory, 1, ["first"], ""), 2, ["second"], "");
    const again = learnedMemory(parseMemory(renderMemory(once)), 2, ["second, again"], "");
    expect(again.learned.map(({ fact }) => fact)).toEqual(["first", "second, again"]);
    expect(learnedBefore(again, 2).learned).toHaveLength(1);
  });

  it("keeps the definition of done of the last frame", () => {
    const memory = framedMemory(framedMemory(emptyMemory, frame), { ...frame, todo: ["Something else."] });
    expect(renderMemory(memory)).not.toContain("critique");
  });

  it("does not grow without end", () => {
    let memory = emptyMemory;
    for (let step = 1; step <= 500; step++) memory = learnedMemory(memory, step, ["x".repeat(5_000)], "");
    expect(renderMemory(memory).length).toBeLessThan(60_000);
  });

  it("passes over what it would not have written", () => {
    expect(parseMemory("## Learned\n\n- (step one) a\n- (step 1) b\nc\n## Other\n\n- d")).toMatchObject({
      learned: [{ step: 1, fact: "b" }],
    });
  });
});

describe("context.md", () => {
  it("holds the goal and what the run was started with", () => {
    expect(renderContext("Write.", { tone: "kind", limits: { words: 200 }, draft: false })).toBe(
      '# Goal\n\nWrite.\n\n# Context\n\n- tone: kind\n- limits: {"words":200}\n- draft: false\n',
    );
  });
});
