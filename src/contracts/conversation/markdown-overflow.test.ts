import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CompactionItem } from "./compaction-item.ts";
import { splitForOverflow } from "./markdown-overflow.ts";
import * as markdownSections from "./markdown-sections.ts";

const diary = "# Me\nAna\n# May\nlong long long long long long\n# June\nlong long long long long long\n# July\nshort\n";
const policy = { target_bytes: 90, pointer_destination: "file:diary-1" };
const pointerBytes = "## Archived Sections\n[Archived section: file:diary-1]\n".length;

/** What the archive and the rest of the document make together. */
function restored({ retained_items, archive_items }: ReturnType<typeof splitForOverflow>): string {
  const own = retained_items.filter(({ type }) => type !== "markdown_section_pointer");
  const order = ({ metadata }: CompactionItem) => Number(metadata.order);
  return markdownSections.reconstruct([...own, ...archive_items].sort((left, right) => order(left) - order(right)));
}

describe("a document that is too large", () => {
  it("keeps its first section and what fits, and points to the rest", () => {
    const split = splitForOverflow(diary, policy);
    expect(markdownSections.reconstruct(split.retained_items)).toBe(
      "# Me\nAna\n# July\nshort\n## Archived Sections\n[Archived section: file:diary-1]\n",
    );
    expect(split.archive_items.map(({ id }) => id)).toEqual(["section:may", "section:june"]);
    expect(restored(split)).toBe(diary);
    expect(split.metadata).toMatchObject({
      status: "archived",
      boundary: { retained_count: 4, archive_count: 2 },
      conservation: { passed: true },
    });
  });

  it("loses nothing, wherever it is split", () => {
    const line = fc.constantFrom("# A", "## B", "### A ###", "#", "text", "ünï", "", "x".repeat(40));
    const end = fc.constantFrom("\n", "\r\n", "\r", "");
    const document = fc.array(fc.tuple(line, end).map((pieces) => pieces.join("")));
    fc.assert(
      fc.property(document, fc.nat(400), (lines, target_bytes) => {
        const markdown = lines.join("");
        const split = splitForOverflow(markdown, {
          target_bytes,
          pointer_destination: "x",
          conservation_enabled: true,
        });
        expect(restored(split)).toBe(markdown);
        expect(split.metadata.conservation).toMatchObject({ passed: true });
        expect(split.status === "archived").toBe(split.archive_items.length > 0);
        const again = markdownSections.parse(markdownSections.reconstruct(split.retained_items));
        expect(again).toHaveLength(split.retained_items.length);
      }),
    );
  });

  it("fills the target to the byte, the pointer included", () => {
    const first = "# A\na\n";
    const second = "# B\nb\n";
    const large = `# C\n${"c".repeat(100)}\n`;
    const target = first.length + second.length + pointerBytes;
    const kept = (target_bytes: number) =>
      splitForOverflow(first + large + second, { ...policy, target_bytes }).retained_items.map(({ id }) => id);
    expect(kept(target)).toContain("section:b");
    expect(kept(target - 1)).not.toContain("section:b");
  });

  it("keeps the preamble and the first section even if they are too large themselves", () => {
    const split = splitForOverflow(`${"p".repeat(99)}\n# A\na\n# B\nb\n`, { ...policy, target_bytes: 1 });
    expect(split.retained_items.map(({ id }) => id)).toEqual([
      "__preamble",
      "section:a",
      "section:archived-sections:pointer",
    ]);
  });

  it("ends its last line before the pointer", () => {
    const split = splitForOverflow(diary.trimEnd(), policy);
    expect(markdownSections.reconstruct(split.retained_items)).toContain("short\n## Archived Sections\n");
    expect(restored(split)).toBe(diary.trimEnd());
  });

  it("tells of it once, and names the archive after what is in it", () => {
    const { metadata, events } = splitForOverflow(diary, policy);
    expect(events).toEqual([{ type: "compaction_overflow_archived", metadata }]);
    expect(metadata.archive_id).toMatch(/^agents-api-markdown-overflow-[0-9a-f]{16}$/);
    expect(splitForOverflow(diary, { ...policy }).metadata.archive_id).toBe(metadata.archive_id);
    expect(splitForOverflow(diary.replace("May", "Mai"), policy).metadata.archive_id).not.toBe(metadata.archive_id);
    expect(splitForOverflow(diary, { ...policy, target_bytes: 70 }).metadata.archive_id).not.toBe(metadata.archive_id);
  });

  it("is split, since nothing of it is lost, even when the policy demands more than there is; the account says so", () => {
    const split = splitForOverflow(diary, {
      ...policy,
      conservation_enabled: true,
      minimum_conserved_byte_ratio: 2,
    });
    expect(split).toMatchObject({ status: "archived", metadata: { conservation: { passed: false } } });
    expect(restored(split)).toBe(diary);
  });
});

describe("a document that stays whole", () => {
  it("is no larger than the target, in bytes", () => {
    const umlauts = "# Ä\n# Ö\n";
    const reason = (target_bytes: unknown) => splitForOverflow(umlauts, { ...policy, target_bytes }).metadata.reason;
    expect(reason(10)).toBe("overflow_input_below_target");
    expect(reason(9)).toBeUndefined();
    expect([0, -1, "many", true].map(reason)).toEqual(Array(4).fill("overflow_input_below_target"));
  });

  it("has fewer than two sections", () => {
    for (const markdown of ["text ".repeat(50), `p\n# A\n${"a".repeat(100)}`]) {
      const { status, metadata } = splitForOverflow(markdown, { target_bytes: 5 });
      expect([status, metadata.reason]).toEqual(["skipped", "overflow_input_unsplittable"]);
    }
  });

  it("needs no destination", () => {
    expect(splitForOverflow(diary, undefined).metadata).toMatchObject({ archive_pointer: { destination: "" } });
    expect(() => splitForOverflow(diary, { target_bytes: 5, pointer_destination: " " })).toThrow(
      "invalid_markdown_section_pointer: destination",
    );
  });
});

describe("the policy", () => {
  it("is known by other names too, of which the shorter win", () => {
    const named = {
      overflow_retained_bytes: " 90 ",
      archive_pointer: { destination: " file:diary-1 ", store: "disk" },
    };
    const { metadata, retained_items } = splitForOverflow(diary, named);
    expect(retained_items).toEqual(splitForOverflow(diary, policy).retained_items);
    expect(metadata.archive_pointer).toEqual({ destination: "file:diary-1" });
    expect(metadata).toMatchObject({
      policy: { target_bytes: 90, pointer_destination: "file:diary-1" },
    });
    expect(splitForOverflow(diary, { ...named, ...policy, target_bytes: 5000 }).status).toBe("skipped");
  });

  it("is not helped out where it gives an empty destination or heading", () => {
    const elsewhere = { ...policy, archive_pointer: { destination: "file:diary-1" } };
    const mistake = (field: string) => `invalid_markdown_section_pointer: ${field}`;
    expect(() => splitForOverflow(diary, { ...elsewhere, pointer_destination: "" })).toThrow(mistake("destination"));
    expect(() => splitForOverflow(diary, { ...policy, pointer_heading: "" })).toThrow(mistake("heading"));
    const absent = { ...elsewhere, pointer_destination: null, pointer_heading: null };
    expect(splitForOverflow(diary, absent).retained_items).toEqual(splitForOverflow(diary, policy).retained_items);
  });

  it("shapes the pointer", () => {
    const shaped = { ...policy, pointer_heading: " Older ", pointer_level: 9, pointer_content: "Ask Ana.\n" };
    const pointer = splitForOverflow(diary, shaped).retained_items.at(-1);
    expect(pointer).toMatchObject({ content: "Ask Ana.\n", metadata: { heading_line: "###### Older\n" } });
  });

  it("cannot smuggle anything in", () => {
    const polluting = JSON.parse('{"__proto__":{"polluted":true},"target_bytes":90,"pointer_destination":"x"}');
    expect(splitForOverflow(diary, polluting).status).toBe("archived");
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(() => splitForOverflow(7 as never, policy)).toThrow("invalid_markdown_section_item");
  });
});
