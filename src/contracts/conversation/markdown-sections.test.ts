import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { archivePointer, group, parse, pointerItem, reconstruct, summaryItem } from "./markdown-sections.ts";

const guide = "Read me.\n# Guide\nHello.\n## Install\nRun it.\n# Guide\nAgain.\n";
const section = (index: number, markdown = guide) => {
  const item = parse(markdown)[index];
  if (item === undefined) throw new Error(`The document has no item ${index}.`);
  return item;
};

describe("a document that is taken apart", () => {
  it("is put together again byte for byte, whatever it holds", () => {
    const piece = fc.oneof(
      fc.constantFrom("#", "##", "######", "####### ", "# ", "#\t", " #", " ## ", "\n", "\r", "\r\n", "\0", "\v", "\f"),
      fc.constantFrom(
        "# One\n",
        "## One ##\r\n",
        "# One 2\r",
        "\u2028",
        "\u0085",
        "\ufeff",
        "\ud800",
        "\udc00",
        "```\n",
      ),
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme" }),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const markdown = pieces.join("");
        const items = parse(markdown);
        expect(reconstruct(items)).toBe(markdown);
        expect(reconstruct(JSON.parse(JSON.stringify(items)))).toBe(markdown);
        expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
      }),
      { numRuns: 500 },
    );
  });

  // Work that grows faster than the text would run into the limit of the test.
  it("may be large, and badly arranged", () => {
    const title = "t".repeat(200_000);
    for (const markdown of [
      "# Same\ntext\r".repeat(100_000),
      "# One\n# One 2\n# One-2\n".repeat(30_000),
      `# ${title}\n## ${title}\n${"### x\n".repeat(50_000)}`,
      "#".repeat(5_000_000),
      `# ${"- ".repeat(2_000_000)}`,
      "x\r".repeat(2_000_000),
    ]) {
      const items = parse(markdown);
      expect(reconstruct(items) === markdown).toBe(true);
      expect([...group(items, 3).values()].flat()).toHaveLength(items.length);
    }
  });

  it("must be text", () => {
    expect(() => parse(undefined as never)).toThrow("invalid_markdown_section_item: markdown must be a string");
  });
});

describe("an item that is put into a document", () => {
  it.each([
    ["is of a type at all", { content: "x" }],
    ["is of a type that is known, whatever else it lacks", { type: "other" }],
    ["is of a known type", { type: "note", content: "", metadata: { heading_line: "# A\n" } }],
    ["has its heading line", { type: "markdown_section_summary", content: "x", metadata: { heading_line: "" } }],
    ["holds text", { type: "markdown_preamble", content: ["x"] }],
  ])("%s", (_, item) => {
    expect(() => reconstruct([item])).toThrow("invalid_markdown_section_item");
  });

  it("is an item", () => {
    expect(() => reconstruct(["# A\n"])).toThrow("invalid_markdown_section_item: an item must be a map");
    expect(() => reconstruct("# A\n")).toThrow("invalid_markdown_section_item: items must be a list");
    expect(reconstruct({})).toBe("");
  });

  it("may have nothing to say", () => {
    const heading = { type: "markdown_section", metadata: { heading_line: "# A\n" } };
    expect(reconstruct([{ type: "markdown_preamble" }, heading, { ...heading, content: null }])).toBe("# A\n# A\n");
  });

  it("may stand for the section that was there", () => {
    const [preamble, first, second, third] = parse(guide);
    const shortened = [preamble, summaryItem(first, "Hi.\n"), pointerItem(second, "s3://a"), third];
    expect(reconstruct(shortened)).toBe(
      "Read me.\n# Guide\nHi.\n## Install\n[Archived section: s3://a]\n# Guide\nAgain.\n",
    );
  });
});

describe("a replacement", () => {
  it("keeps the place of its source and says what that was", () => {
    const summary = summaryItem(section(2), "Short.\n");
    expect(summary.metadata).toMatchObject({ order: 2, source_item_id: "section:guide/install" });
    expect(summaryItem(summary, "Shorter.\n")).toMatchObject({
      id: "section:guide/install:summary:summary",
      metadata: { source_item_id: summary.id, source_item_type: "markdown_section_summary" },
    });
  });

  it("cannot take the place of the preamble, or of what is no section", () => {
    expect(() => summaryItem(section(0), "x")).toThrow("invalid_markdown_section_item");
    expect(() => pointerItem(section(0), "x")).toThrow("invalid_markdown_section_item");
    expect(() => pointerItem({ type: "note", content: "" }, "x")).toThrow("invalid_markdown_section_item");
    expect(() => pointerItem(undefined, "x")).toThrow("invalid_ai_compaction_item");
    expect(() => summaryItem(section(1), 5)).toThrow("invalid_markdown_section_item: summary must be a string");
  });

  it("points somewhere, on a line of its own", () => {
    for (const nowhere of [" ", undefined, 7]) {
      expect(() => pointerItem(section(1), nowhere)).toThrow("invalid_markdown_section_pointer: destination");
      expect(() => archivePointer("Archive", nowhere)).toThrow("invalid_markdown_section_pointer: destination");
    }
    const pointer = pointerItem(section(1), "a\n# b");
    expect(pointer).toMatchObject({
      content: "[Archived section: a # b]\n",
      metadata: { pointer_destination: "a\n# b" },
    });
  });
});

describe("an archive pointer", () => {
  it("has a heading of the level that is asked for, 1 to 6", () => {
    const lines = [0, 1, "3", 9, undefined].map((level) => archivePointer(" Old ", "x", level).metadata.heading_line);
    expect(lines).toEqual(["# Old\n", "# Old\n", "### Old\n", "###### Old\n", "## Old\n"]);
  });

  it("may say it in other words", () => {
    expect(archivePointer("Old", "x", 2, "See x.\n").content).toBe("See x.\n");
    expect(archivePointer("Old", "x", 2, " ").content).toBe("[Archived section: x]\n");
  });

  it("is a section when the document is read again", () => {
    const pointer = archivePointer("Archived\n# Sections", "x");
    expect(parse(reconstruct([pointer]))[1]?.metadata).toMatchObject({
      heading_path: pointer.metadata.heading_path,
      heading_key: pointer.metadata.heading_key,
    });
  });
});

describe("groups", () => {
  const keys = (markdown: string, level?: unknown) => [...group(parse(markdown), level).keys()];

  it("follow the document, also where headings are numbers or names of old", () => {
    expect(keys("# b\n# 2024\n# 1999\n# constructor\n# b\n")).toEqual([
      "__preamble",
      "b",
      "2024",
      "1999",
      "constructor",
    ]);
  });

  it("go down to the level that is asked for, and to the first without one", () => {
    const markdown = "# a\n## b\n### c\n";
    expect(keys(markdown)).toEqual(["__preamble", "a"]);
    expect(keys(markdown, 0)).toEqual(["__preamble", "a"]);
    expect(keys(markdown, "2")).toEqual(["__preamble", "a", "a/b"]);
    expect(keys(markdown, 99)).toEqual(["__preamble", "a", "a/b", "a/b/c"]);
  });

  it("hold replacements beside what was not replaced", () => {
    const [preamble, first, ...rest] = parse(guide);
    const groups = group([preamble, summaryItem(first, "x"), ...rest]);
    expect(groups.get("guide")?.map(({ id }) => id)).toEqual([
      "section:guide:summary",
      "section:guide/install",
      "section:guide-2",
    ]);
  });

  it("refuse an item that does not say where it stands", () => {
    const item = { type: "markdown_section", content: "", metadata: { heading_line: "# A\n" } };
    expect(() => group([item])).toThrow("invalid_markdown_section_item");
  });
});
