// One piece of what is compacted, summarised or archived: a message, a section of a document, or what stands in for it.
import { createBrand } from "../brand.ts";
import { sha256, sortedText } from "../canonical-json.ts";
import { trimmed } from "../coerce.ts";
import { type HoldfastError, holdfastError } from "../error.ts";
import {
  asMap,
  emptyMap,
  isContainer,
  isEmpty,
  isMap,
  type Json,
  type JsonMap,
  seal,
  snapshot,
  snapshotMap,
} from "../json.ts";
import * as message from "./message.ts";

type Parts = {
  readonly id: string;
  /** Says what the content is; `message:text` and `markdown_section` are types of ours, others may name their own. */
  readonly type: string;
  readonly content: string | readonly Json[] | JsonMap;
  readonly metadata: JsonMap;
  readonly group?: string;
  readonly boundary?: JsonMap;
};

/** An item as it is stored and sent. */
export type CompactionItem = Parts & { readonly schema: "agents-api.compaction-item"; readonly version: 1 };

// Every item made here is frozen all the way down, so seeing one again is enough to know that it is canonical.
const produced = createBrand();

/**
 * The item in its canonical shape; one that this module made is returned as it is. Without an id it gets one from what
 * it holds, and from its index if there is one: the same content twice is two items. Throws `invalid_ai_compaction_item`.
 */
export function normalize(value: unknown, index: number | null = null): CompactionItem {
  return normalizeAt(value, index, "");
}

/** Every item of a list, told apart by its place; an error names the entry as `items[i]`. */
export function normalizeMany(values: unknown): readonly CompactionItem[] {
  if (!Array.isArray(values)) {
    if (isMap(values) && isEmpty(values)) return seal([]);
    throw invalid("items", "must be a list");
  }
  return seal(Array.from(values, (value, index) => normalizeAt(value, index, `items[${index}]`)));
}

/** The items of a transcript. Throws `invalid_ai_message_envelope` for what is not a message. */
export function fromMessages(messages: unknown): readonly CompactionItem[] {
  return seal(message.normalizeMany(messages).map(fromMessage));
}

/** An item of parts that are in shape: texts trimmed and not blank, values frozen. For items made here. */
export function create(parts: Parts): CompactionItem {
  const item = { schema: "agents-api.compaction-item", version: 1, ...parts } as const;
  produced.mark(item);
  return seal(item);
}

function fromMessage({ id, type, role, content, payload, metadata }: message.Message, index: number): CompactionItem {
  const told = { ...metadata, message: { role, payload } };
  return normalize({ id: trimmed(id), type: `message:${type}`, content, metadata: told }, index);
}

function normalizeAt(value: unknown, index: number | null, path: string): CompactionItem {
  if (isProduced(value)) return value;
  const given = asMap(copyOf(value, path));
  if (given === undefined) throw invalid(path, "must be a map");
  const at = (field: string) => (path === "" ? field : `${path}.${field}`);

  const type = textPart(given.type, at("type"));
  const group = given.group == null ? null : textPart(given.group, at("group"));
  const content = contentPart(given.content, at("content"));
  const metadata = given.metadata == null ? emptyMap : mapPart(given.metadata, at("metadata"));
  const boundary = given.boundary == null ? null : mapPart(given.boundary, at("boundary"));
  const id =
    given.id == null ? contentId({ index, type, content, metadata, group, boundary }) : textPart(given.id, at("id"));
  return create({ id, type, content, metadata, ...(group && { group }), ...(boundary && { boundary }) });
}

function isProduced(value: unknown): value is CompactionItem {
  return typeof value === "object" && value !== null && produced.has(value);
}

/** What is absent is hashed as null. */
function contentId(parts: { readonly [name: string]: Json }): string {
  return `item-${sha256(sortedText(parts)).slice(0, 16)}`;
}

function textPart(value: unknown, path: string): string {
  const text = trimmed(value);
  if (text === undefined) throw invalid(path, "must be a non-empty string");
  return text;
}

function contentPart(value: unknown, path: string): CompactionItem["content"] {
  if (typeof value !== "string" && !isContainer(value)) throw invalid(path, "must be a string, a list or a map");
  return value as CompactionItem["content"];
}

/** A list is taken too, but what it holds has no names and is dropped. */
function mapPart(value: unknown, path: string): JsonMap {
  if (!isContainer(value)) throw invalid(path, "must be a map");
  return snapshotMap(value);
}

function copyOf(value: unknown, path: string): Json {
  try {
    return snapshot(value);
  } catch (thrown) {
    throw invalid(path, "cannot be written as JSON", thrown);
  }
}

function invalid(path: string, reason: string, cause?: unknown): HoldfastError {
  return holdfastError("invalid_ai_compaction_item", `${path || "the item"} ${reason}`, cause);
}
