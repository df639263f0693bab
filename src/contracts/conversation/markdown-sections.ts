// A markdown document as a list of items, one a heading, so that parts of it can be summarised or archived and the rest
// stays byte for byte what it was.
import { scalarText, trimmed } from "../coerce.ts";
import { type HoldfastError, holdfastError } from "../error.ts";
import { isEmpty, isMap, seal, type UnknownMap } from "../json.ts";
import * as compactionItem from "./compaction-item.ts";
import { headingLevel, headingLine, headings, oneLine } from "./markdown-headings.ts";
import { type Branch, branchBelow, createBranch, createOutline, keyPart } from "./markdown-outline.ts";

type CompactionItem = compactionItem.CompactionItem;

const PREAMBLE = "__preamble";

// What may stand under a heading: the section itself, or what took its place.
const sectionTypes: ReadonlySet<string> = new Set([
  "markdown_section",
  "markdown_section_summary",
  "markdown_section_pointer",
]);

/**
 * The preamble, which may be empty, and one item for each heading with the text up to the next. Putting them together
 * again gives the text that was taken apart, whatever it holds.
 */
export function parse(markdown: unknown): readonly CompactionItem[] {
  if (typeof markdown !== "string") throw invalidItem("markdown must be a string");
  const found = [...headings(markdown)];
  const place = createOutline();
  const items = [preambleItem(markdown.slice(0, found[0]?.start))];
  for (const [index, { level, text, start, end }] of found.entries()) {
    const { path, key, boundaryKey } = place(level, text);
    const metadata = seal({
      heading_path: seal(path),
      heading_key: key,
      heading_level: level,
      heading_text: text,
      heading_line: markdown.slice(start, end),
      boundary_heading_key: boundaryKey,
      order: index + 1,
    });
    const content = markdown.slice(end, found[index + 1]?.start);
    items.push(compactionItem.create({ id: `section:${key}`, type: "markdown_section", content, metadata }));
  }
  return seal(items);
}

/**
 * The document that items stand for. Of an item only its type, heading line and content are looked at, so it need not be
 * complete. Throws `invalid_markdown_section_item` for one that is not part of a document.
 */
export function reconstruct(items: unknown): string {
  if (Array.isArray(items)) return items.map(markdownOf).join("");
  if (isMap(items) && isEmpty(items)) return "";
  throw invalidItem("items must be a list");
}

/** The markdown of one item: its heading line, unless it is the preamble, and its content, if it has any. */
export function markdownOf(item: unknown): string {
  if (!isMap(item)) throw invalidItem("an item must be a map");
  const content = item.content ?? "";
  if (typeof content !== "string") throw invalidItem(`the content of ${labelOf(item)} must be a string`);
  return item.type === "markdown_preamble" ? content : headingLineOf(item) + content;
}

/** The item that says in short what a section said. The summary stands as it is: end it with a line end. */
export function summaryItem(section: unknown, summary: unknown): CompactionItem {
  const { id, type, metadata } = sectionItem(section);
  if (typeof summary !== "string") throw invalidItem("summary must be a string");
  return compactionItem.create({
    id: `${id}:summary`,
    type: "markdown_section_summary",
    content: summary,
    metadata: seal({ ...metadata, source_item_id: id, source_item_type: type }),
  });
}

/** The item that says where a section went. Throws `invalid_markdown_section_pointer` without a destination. */
export function pointerItem(section: unknown, destination: unknown): CompactionItem {
  const { id, metadata } = sectionItem(section);
  const target = pointerText(destination, "destination");
  return compactionItem.create({
    id: `${id}:pointer`,
    type: "markdown_section_pointer",
    content: pointerContent(target),
    metadata: seal({ ...metadata, source_item_id: id, pointer_destination: target }),
  });
}

/**
 * One pointer, under a heading of its own, for sections that went to the same place. Other content may replace the usual
 * words. Throws `invalid_markdown_section_pointer` without a heading or a destination.
 */
export function archivePointer(
  heading: unknown,
  destination: unknown,
  level?: unknown,
  content?: unknown,
): CompactionItem {
  const text = oneLine(pointerText(heading, "heading"));
  const target = pointerText(destination, "destination");
  const depth = headingLevel(level, 2);
  const key = keyPart(text);
  return compactionItem.create({
    id: `section:${key}:pointer`,
    type: "markdown_section_pointer",
    content: typeof content === "string" && trimmed(content) ? content : pointerContent(target),
    metadata: seal({
      heading_path: seal([text]),
      heading_key: key,
      heading_level: depth,
      heading_text: text,
      heading_line: headingLine(depth, text),
      boundary_heading_key: key,
      pointer_destination: target,
    }),
  });
}

/**
 * Items by the headings they stand under, down to a level, in the order of the document. A heading that occurs twice is
 * one group. It is a Map because an object would put a heading like "2024" first.
 */
export function group(items: unknown, level?: unknown): ReadonlyMap<string, readonly CompactionItem[]> {
  const depth = headingLevel(level, 1);
  const preamble = createBranch(PREAMBLE);
  const root = createBranch();
  // Each heading stands in the path of all that is below it, so its part of their key is worked out once.
  const parts = new Map<string, string>();
  const grouped = new Map<Branch, CompactionItem[]>();
  for (const item of compactionItem.normalizeMany(items)) {
    let branch = root;
    if (item.type === "markdown_preamble") branch = preamble;
    else for (const text of pathOf(item).slice(0, depth)) branch = branchBelow(branch, partOf(text, parts));
    const members = grouped.get(branch);
    if (members) members.push(item);
    else grouped.set(branch, [item]);
  }
  return new Map(Array.from(grouped, ([{ key }, members]) => [key, members]));
}

function preambleItem(content: string): CompactionItem {
  const metadata = seal({
    heading_path: seal([]),
    heading_key: PREAMBLE,
    heading_level: 0,
    heading_text: "",
    heading_line: "",
    boundary_heading_key: PREAMBLE,
    order: 0,
  });
  return compactionItem.create({ id: PREAMBLE, type: "markdown_preamble", content, metadata });
}

/** An item under a heading. The preamble has none, so nothing could take its place. */
function sectionItem(value: unknown): CompactionItem {
  const item = compactionItem.normalize(value);
  headingLineOf(item);
  return item;
}

function headingLineOf(item: UnknownMap): string {
  const { type, metadata } = item;
  if (typeof type !== "string" || !sectionTypes.has(type)) throw invalidItem(`${labelOf(item)} is no section`);
  const line = isMap(metadata) ? metadata.heading_line : undefined;
  if (typeof line !== "string" || line === "") throw invalidItem(`${labelOf(item)} has no heading_line`);
  return line;
}

function labelOf({ id, type }: UnknownMap): string {
  return scalarText(id) ?? `an item of type ${scalarText(type) ?? "none"}`;
}

function pathOf(item: CompactionItem): readonly string[] {
  headingLineOf(item);
  const path = item.metadata.heading_path;
  const texts = Array.isArray(path) ? path.filter((text) => typeof text === "string") : [];
  if (texts.length === 0) throw invalidItem(`${item.id} has no heading_path`);
  return texts;
}

function partOf(text: string, parts: Map<string, string>): string {
  const known = parts.get(text);
  if (known !== undefined) return known;
  const part = keyPart(text);
  parts.set(text, part);
  return part;
}

function pointerText(value: unknown, field: string): string {
  const text = trimmed(value);
  if (text === undefined) throw holdfastError("invalid_markdown_section_pointer", `${field} must not be blank`);
  return text;
}

function pointerContent(destination: string): string {
  return `[Archived section: ${oneLine(destination)}]\n`;
}

function invalidItem(detail: string): HoldfastError {
  return holdfastError("invalid_markdown_section_item", detail);
}
