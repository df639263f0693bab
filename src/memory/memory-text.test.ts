import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readMemoryText, subjectName, writeMemoryText } from "./memory-text.ts";

describe("the text of a memory", () => {
  it("says at its head what it is about", () => {
    const text = writeMemoryText({ content: "Short.", about: "tone", kind: "preference" });
    expect(text).toBe("---\nabout: tone\nkind: preference\n---\nShort.");
    expect(readMemoryText(text)).toEqual({ content: "Short.", about: "tone", kind: "preference" });
  });

  it("is what was written, whatever it begins with", () => {
    const content = fc.oneof(fc.string(), fc.constantFrom("---\nabout: x\n---\nY", "---\n---\n", "---", ""));
    const about = fc.constantFrom(null, "tone");
    const kind = fc.constantFrom(null, "preference" as const, "authoritative_fact" as const);
    fc.assert(
      fc.property(content, about, kind, (...[words, topic, sort]) => {
        const text = { content: words, about: topic, kind: sort };
        expect(readMemoryText(writeMemoryText(text))).toEqual(text);
      }),
    );
  });

  it.each([
    "---\nabout: tone\nShort.",
    "---\nkind: preference\nabout: tone\n---\nShort.",
    "---\nkind: whatever\n---\nShort.",
    " ---\nabout: tone\n---\nShort.",
  ])("has no head unless that is written exactly: %j", (text) => {
    expect(readMemoryText(text)).toEqual({ content: text, about: null, kind: null });
  });

  it("names one thing in one way", () => {
    expect(["Tone", " tone ", "TO\tNE", " "].map(subjectName)).toEqual(["tone", "tone", "to ne", null]);
  });
});
