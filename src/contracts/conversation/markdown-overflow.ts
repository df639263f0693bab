// What happens to a markdown document that grew too large: whole sections are set aside, and a pointer says where they
// went. Nothing is rewritten, so the document can be put together again from what stayed and what was archived.
import { byteLength, sha256OfPieces, text } from "../canonical-json.ts";
import { trimmed, wholeNumber } from "../coerce.ts";
import { type JsonMap, seal, snapshotMap } from "../json.ts";
import * as conservation from "./compaction-conservation.ts";
import * as compactionItem from "./compaction-item.ts";
import { headingLevel } from "./markdown-headings.ts";
import * as markdownSections from "./markdown-sections.ts";

type CompactionItem = compactionItem.CompactionItem;

/** What stays, what goes to the archive, and the account of both. Unless sections were archived, everything stays. */
export type MarkdownSplit = {
  readonly status: "skipped" | "archived";
  /** The document to go on with; once sections were archived, its last item is the pointer to them. */
  readonly retained_items: readonly CompactionItem[];
  readonly archive_items: readonly CompactionItem[];
  readonly metadata: JsonMap;
  readonly events: readonly { readonly type: string; readonly metadata: JsonMap }[];
};

/** A complete policy; fields that the contract does not name are kept beside its own. */
type OverflowPolicy = JsonMap & {
  readonly target_bytes: number;
  readonly pointer_destination: string;
  readonly pointer_heading: string;
  readonly pointer_level: number;
  readonly pointer_content: string;
};

const none: readonly never[] = seal([]);

/** A document, its items, and what is to be done when it is too large. */
type Document = {
  readonly markdown: string;
  readonly items: readonly CompactionItem[];
  readonly policy: OverflowPolicy;
};

type Division = { readonly retained: readonly CompactionItem[]; readonly archived: readonly CompactionItem[] };

/**
 * Splits a document that is larger than `target_bytes`. The preamble and the first section stay; a later one stays if it
 * fits beside what stays and the pointer, even after one that did not. The same document and policy give the same split.
 * Throws `invalid_markdown_section_pointer` when something must go and the policy names no destination.
 */
export function splitForOverflow(markdown: string, policy: unknown): MarkdownSplit {
  const document = { markdown, items: markdownSections.parse(markdown), policy: normalizePolicy(policy) };
  const target = document.policy.target_bytes;
  if (target === 0 || byteLength(markdown) <= target) return skipped(document, "overflow_input_below_target");
  const sectionCount = document.items.length - 1; // the first item is the preamble
  if (sectionCount < 2) return skipped(document, "overflow_input_unsplittable");

  const pointer = pointerOf(document);
  // The document is too large even without the pointer, so at least one section goes.
  const division = divide(document.items, pointer, target);
  const metadata = account(document, division, {
    status: "archived",
    archive_id: `agents-api-markdown-overflow-${digestOf(division.archived).slice(0, 16)}`,
    strategy: "deterministic_markdown_section_overflow_archive",
    boundary: { retained_count: division.retained.length, archive_count: division.archived.length },
  });
  return seal({
    status: "archived",
    retained_items: division.retained,
    archive_items: division.archived,
    metadata,
    events: seal([seal({ type: "compaction_overflow_archived", metadata })]),
  });
}

function normalizePolicy(value: unknown): OverflowPolicy {
  const given = snapshotMap(value);
  const { destination } = snapshotMap(given.archive_pointer);
  return snapshotMap({
    ...given,
    target_bytes: wholeNumber(given.target_bytes ?? given.overflow_retained_bytes, 0) ?? 0,
    // Other names and defaults are for what is not given. What is given and blank is a mistake, and is told.
    pointer_destination: trimmed(given.pointer_destination ?? destination) ?? "",
    pointer_heading: trimmed(given.pointer_heading ?? "Archived Sections") ?? "",
    pointer_level: headingLevel(given.pointer_level, 2),
    pointer_content: typeof given.pointer_content === "string" ? given.pointer_content : "",
  }) as OverflowPolicy;
}

function pointerOf({ policy }: Document): CompactionItem {
  const { pointer_heading, pointer_destination, pointer_level, pointer_content } = policy;
  return markdownSections.archivePointer(pointer_heading, pointer_destination, pointer_level, pointer_content);
}

/** Keeps the preamble, the first section and of the others each that still fits, and closes what is kept with the pointer. */
function divide(items: readonly CompactionItem[], pointer: CompactionItem, target: number): Division {
  const retained: CompactionItem[] = [];
  const archived: CompactionItem[] = [];
  let used = 0;
  for (const [index, item] of items.entries()) {
    const grown = used + bytesOf(item);
    if (index > 1 && grown + bytesOf(pointerAfter(item, pointer)) > target) {
      archived.push(item);
    } else {
      retained.push(item);
      used = grown;
    }
  }
  const last = retained.at(-1);
  return { retained: seal([...retained, last ? pointerAfter(last, pointer) : pointer]), archived: seal(archived) };
}

/**
 * If the line before the pointer is not ended, the pointer ends it: otherwise its heading would be the end of that line,
 * and a document that was put together again would have lost the way to its archive.
 */
function pointerAfter(item: CompactionItem, pointer: CompactionItem): CompactionItem {
  const written = markdownSections.markdownOf(item);
  if (written.endsWith("\n") || written.endsWith("\r")) return pointer;
  const metadata = seal({ ...pointer.metadata, heading_line: `\n${pointer.metadata.heading_line}` });
  return compactionItem.create({ ...pointer, metadata });
}

function bytesOf(item: CompactionItem): number {
  return byteLength(markdownSections.markdownOf(item));
}

/** Of the list as canonical JSON, item by item: every item repeats the headings above it, so the whole may be very long. */
function digestOf(items: readonly CompactionItem[]): string {
  return sha256OfPieces(listed(items));
}

function* listed(items: readonly CompactionItem[]): Generator<string> {
  for (const [index, item] of items.entries()) yield (index === 0 ? "[" : ",") + text(item);
  yield "]";
}

/** Where every byte went. */
function account({ markdown, items, policy }: Document, { retained, archived }: Division, details: JsonMap): JsonMap {
  const archivePointer = { destination: policy.pointer_destination };
  return conservation.metadata({
    policy,
    original_items: items,
    retained_items: retained,
    archived_items: archived,
    extra: { ...details, archive_pointer: archivePointer, total_markdown_bytes: byteLength(markdown) },
  });
}

function skipped(document: Document, reason: string): MarkdownSplit {
  const everything = { retained: document.items, archived: none };
  const metadata = account(document, everything, { reason, status: "skipped", archive_id: "" });
  return seal({ status: "skipped", retained_items: document.items, archive_items: none, metadata, events: none });
}
