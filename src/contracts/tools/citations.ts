// Where a tool's answer came from: a list of small maps in its metadata. Hosts add fields of their own to a citation,
// and those pass through untouched.
import { numeric, trim } from "../coerce.ts";
import { emptyMap, isEmpty, isMap, type Json, type JsonMap, seal, snapshot, snapshotMap } from "../json.ts";

const textFields = [
  "source",
  "source_id",
  "item_id",
  "fragment_id",
  "source_title",
  "source_url",
  "excerpt",
] as const satisfies readonly string[];

const knownFields: ReadonlySet<string> = new Set([...textFields, "score"]);

/** The usable citations of a list, in order; anything but a list has none. */
export function normalize(value: unknown): readonly JsonMap[] {
  const given = snapshot(value);
  const citations: JsonMap[] = [];
  if (Array.isArray(given)) {
    for (const item of given) {
      const citation = isMap(item) ? normalizeOne(item as JsonMap) : emptyMap;
      if (!isEmpty(citation)) citations.push(citation);
    }
  }
  return seal(citations);
}

/** The metadata with its `citations`, where it has the field, normalised; anything but a map becomes an empty one. */
export function normalizeMetadata(value: unknown): JsonMap {
  if (!isMap(value)) return emptyMap;
  const metadata = snapshotMap(value);
  if (!Object.hasOwn(metadata, "citations")) return metadata;
  return seal({ ...metadata, citations: normalize(metadata.citations) });
}

function normalizeOne(given: JsonMap): JsonMap {
  const citation: Record<string, Json> = {};
  for (const key of Object.keys(given)) {
    const item = given[key];
    if (item !== undefined && !knownFields.has(key)) citation[key] = item;
  }
  for (const field of textFields) {
    const text = textOf(given[field]);
    if (text !== "") citation[field] = text;
  }
  const score = numeric(given.score);
  if (score !== undefined) citation.score = score;
  return seal(citation);
}

function textOf(value: Json | undefined): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? trim(value) : "";
}
