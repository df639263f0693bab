// Which memories are wanted and in which order: the question that every store answers alike.
import { numeric, scalarText, trimmed } from "../coerce.ts";
import { asMap, emptyMap, seal } from "../json.ts";
import { key } from "../workspace.ts";
import { type MemoryMetadata, type MetadataField, metadataFields } from "./memory-metadata.ts";

/** Filters narrow together. A memory that does not tell a field never passes a filter on it. */
export type MemoryQuery = {
  readonly source_types?: readonly string[];
  /** This much or more; also 0 leaves out what has no confidence at all. */
  readonly min_confidence?: number | null;
  readonly authority_tiers?: readonly string[];
  readonly validators?: readonly string[];
  /** What to tell about each memory; by default everything. */
  readonly metadata_fields?: readonly string[];
  readonly order_by?: string | null;
  readonly order?: "asc" | "desc";
};

/** A query of which every field is there. */
export type CompleteQuery = Required<MemoryQuery>;

/** What an entry must have so that it can be filtered and ranked. */
type Describable = { readonly metadata?: MemoryMetadata | null };

/** How much the usual tiers are worth; others have no rank. */
export const authorityRanks: ReadonlyMap<string, number> = new Map([
  ["low", 1],
  ["medium", 2],
  ["high", 3],
  ["canonical", 4],
]);

/** A frozen query with its defaults. A filter that cannot be read stays a filter, because without it more would be seen. */
export function normalize(value?: unknown): CompleteQuery {
  const given = asMap(value) ?? emptyMap;
  return seal({
    source_types: texts(given.source_types),
    min_confidence: leastConfidence(given.min_confidence),
    authority_tiers: texts(given.authority_tiers),
    validators: texts(given.validators),
    metadata_fields: Array.isArray(given.metadata_fields) ? texts(given.metadata_fields) : metadataFields,
    order_by: trimmed(given.order_by) ?? null,
    order: trimmed(given.order)?.toLowerCase() === "asc" ? "asc" : "desc",
  });
}

/** The fields that the query filters on, in a fixed order. To order by a field is not to filter on it. */
export function filterFields(query: MemoryQuery): readonly MetadataField[] {
  const { source_types, min_confidence, authority_tiers, validators } = normalize(query);
  const fields: MetadataField[] = [];
  if (source_types.length > 0) fields.push("source_type");
  if (min_confidence !== null) fields.push("confidence");
  if (authority_tiers.length > 0) fields.push("authority_tier");
  if (validators.length > 0) fields.push("validator");
  return fields;
}

/**
 * The entries that pass the filters, ranked if the query ranks them: those without the value last in both directions,
 * and equals in the order they came in.
 */
export function apply<Entry extends Describable>(entries: readonly Entry[], query?: MemoryQuery): Entry[] {
  const asked = normalize(query);
  const passed = entries.filter(({ metadata }) => matches(metadata ?? emptyMap, asked));
  if (asked.order_by === null) return passed;
  const field = asked.order_by;
  const direction = asked.order === "asc" ? 1 : -1;
  return passed
    .map((entry) => ({ entry, rank: rankOf(entry.metadata ?? emptyMap, field) }))
    .sort((left, right) => compareRanks(left.rank, right.rank, direction))
    .map(({ entry }) => entry);
}

function matches(metadata: MemoryMetadata, query: CompleteQuery): boolean {
  const { source_type, confidence, authority_tier, validator } = metadata;
  return (
    isAmong(source_type, query.source_types) &&
    (query.min_confidence === null || (confidence !== undefined && confidence >= query.min_confidence)) &&
    isAmong(authority_tier, query.authority_tiers) &&
    isAmong(validator, query.validators)
  );
}

function isAmong(value: string | undefined, wanted: readonly string[]): boolean {
  return wanted.length === 0 || (value !== undefined && wanted.includes(value));
}

type Rank = number | string | undefined;

function rankOf(metadata: MemoryMetadata, field: string): Rank {
  if (field === "authority_tier") return authorityRanks.get(metadata.authority_tier ?? "");
  if (field === "workspace") return metadata.workspace && key(metadata.workspace);
  return Object.hasOwn(metadata, field) ? metadata[field as Exclude<MetadataField, "workspace">] : undefined;
}

function compareRanks(left: Rank, right: Rank, direction: number): number {
  if (left === right) return 0;
  if (left === undefined) return 1;
  if (right === undefined) return -1;
  return left < right ? -direction : direction;
}

/** One text counts as a list of it. What is no text stays in the list as an empty one, which matches next to nothing. */
function texts(value: unknown): readonly string[] {
  if (value === undefined || value === null) return seal([]);
  const items = Array.isArray(value) ? value : [value];
  return seal(items.map((item) => scalarText(item) ?? ""));
}

function leastConfidence(value: unknown): number | null {
  return numeric(value) ?? (typeof value === "string" ? 0 : null);
}
