// What a store can do with each metadata field, so that "unknown" can be told from "this store cannot say".
import { stringList } from "../coerce.ts";
import { asMap, emptyMap, seal } from "../json.ts";
import { metadataFields } from "./memory-metadata.ts";

export type MemoryCapabilities = {
  readonly persisted_metadata_fields: readonly string[];
  readonly readable_metadata_fields: readonly string[];
  readonly filterable_fields: readonly string[];
  readonly rankable_fields: readonly string[];
  /** The validators whose results the store understands. */
  readonly validator_ids: readonly string[];
};

/** What is done with a field. */
export type MemoryOperation = "persist" | "read" | "filter" | "rank";

const FILTERABLE = [
  "source_type",
  "workspace",
  "confidence",
  "validator",
  "authority_tier",
  "created_at",
  "updated_at",
] as const;

const RANKABLE = ["confidence", "authority_tier", "created_at", "updated_at"] as const;

const fieldsFor: ReadonlyMap<string, (capabilities: MemoryCapabilities) => readonly string[]> = new Map([
  ["persist", (capabilities) => capabilities.persisted_metadata_fields],
  ["read", (capabilities) => capabilities.readable_metadata_fields],
  ["filter", (capabilities) => capabilities.filterable_fields],
  ["rank", (capabilities) => capabilities.rankable_fields],
] satisfies [MemoryOperation, (capabilities: MemoryCapabilities) => readonly string[]][]);

/** A store that keeps text and nothing about it. */
export function none(): MemoryCapabilities {
  return normalize({});
}

/** A store that keeps and tells everything. */
export function all(validatorIds: readonly string[] = []): MemoryCapabilities {
  return normalize({
    persisted_metadata_fields: metadataFields,
    readable_metadata_fields: metadataFields,
    filterable_fields: FILTERABLE,
    rankable_fields: RANKABLE,
    validator_ids: validatorIds,
  });
}

/** The capabilities that a map states; what it does not state is not there. */
export function normalize(value: unknown): MemoryCapabilities {
  const given = asMap(value) ?? emptyMap;
  return seal({
    persisted_metadata_fields: seal(stringList(given.persisted_metadata_fields)),
    readable_metadata_fields: seal(stringList(given.readable_metadata_fields)),
    filterable_fields: seal(stringList(given.filterable_fields)),
    rankable_fields: seal(stringList(given.rankable_fields)),
    validator_ids: seal(stringList(given.validator_ids)),
  });
}

/** The requested fields with which the store cannot do this, each once, in the order asked. */
export function unsupported(
  capabilities: MemoryCapabilities,
  requested: readonly string[],
  operation: MemoryOperation,
): readonly string[] {
  const supported = new Set(fieldsFor.get(operation)?.(capabilities));
  return [...new Set(requested)].filter((field) => !supported.has(field));
}
