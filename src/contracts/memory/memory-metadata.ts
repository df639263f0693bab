// What is known about a memory besides its text: where it came from, who wrote it, and how far it may be trusted.
import { numeric, scalarText } from "../coerce.ts";
import { asMap, emptyMap, isContainer, seal, type UnknownMap } from "../json.ts";
import * as workspace from "../workspace.ts";

/** A field that is absent is unknown. The words of `source_type` and `authority_tier` are usual ones, not the only ones. */
export type MemoryMetadata = {
  readonly source_type?: string;
  /** Where it can be looked up: a URL, a path, an id. */
  readonly source_ref?: string;
  readonly created_by_user_id?: number;
  readonly created_by_agent_id?: number;
  readonly workspace?: workspace.Workspace;
  /** From 0 to 1. */
  readonly confidence?: number;
  /** The id of the validator that can check it again. */
  readonly validator?: string;
  readonly authority_tier?: string;
  /** Unix seconds, and so is the next. */
  readonly created_at?: number;
  readonly updated_at?: number;
};

export type MetadataField = keyof MemoryMetadata;

export const metadataFields = seal([
  "source_type",
  "source_ref",
  "created_by_user_id",
  "created_by_agent_id",
  "workspace",
  "confidence",
  "validator",
  "authority_tier",
  "created_at",
  "updated_at",
] as const satisfies readonly MetadataField[]);

const readers: { readonly [Field in MetadataField]: (value: unknown) => MemoryMetadata[Field] | undefined } = {
  source_type: scalarText,
  source_ref: scalarText,
  created_by_user_id: integer,
  created_by_agent_id: integer,
  workspace: (value) => (isContainer(value) ? workspace.normalize(value) : undefined),
  confidence: confidenceOf,
  validator: scalarText,
  authority_tier: scalarText,
  created_at: integer,
  updated_at: integer,
};

type Trust = { readonly confidence: number; readonly authority_tier: string };

// Little trust unless the source is known to deserve more.
const usualTrust: Trust = { confidence: 0.5, authority_tier: "low" };

const trustBySource: ReadonlyMap<string, Trust> = new Map([
  ["user_asserted", { confidence: 0.9, authority_tier: "high" }],
  // Read off the workspace, it is probably right and yet nobody's word.
  ["workspace_extracted", { confidence: 0.8, authority_tier: "low" }],
  ["imported", { confidence: 0.7, authority_tier: "medium" }],
  ["curated", { confidence: 1, authority_tier: "canonical" }],
  ["system_generated", { confidence: 1, authority_tier: "canonical" }],
]);

/**
 * The known fields of a map, frozen and in their own order; what is not there or cannot be read is left out. Throws
 * `invalid_agent_workspace_scope` for a workspace that is none.
 */
export function normalize(value: unknown): MemoryMetadata {
  return pick(asMap(value) ?? emptyMap, metadataFields);
}

/** The metadata with what a write must know filled in; what is stated stays, also a confidence of 0. `now` is Unix seconds. */
export function withDefaults(metadata: MemoryMetadata, now: number): MemoryMetadata {
  const source_type = metadata.source_type ?? "agent_inferred";
  const trust = trustBySource.get(source_type) ?? usualTrust;
  return normalize({ source_type, ...trust, created_at: now, updated_at: now, ...metadata });
}

/** The metadata reduced to some of its fields. */
export function onlyFields(metadata: MemoryMetadata, fields: readonly string[]): MemoryMetadata {
  const wanted = new Set(fields);
  return pick(
    metadata,
    metadataFields.filter((field) => wanted.has(field)),
  );
}

function pick(given: UnknownMap, fields: readonly MetadataField[]): MemoryMetadata {
  const metadata: Record<string, MemoryMetadata[MetadataField]> = {};
  for (const field of fields) {
    const read = readers[field](given[field]);
    if (read !== undefined) metadata[field] = read;
  }
  return seal(metadata);
}

function integer(value: unknown): number | undefined {
  const number = numeric(value);
  return number === undefined ? undefined : Math.trunc(number) + 0; // the sum of -0 and 0 is 0
}

/** A text that is no number states a confidence all the same, and none that could be trusted: 0. */
function confidenceOf(value: unknown): number | undefined {
  const number = numeric(value) ?? (typeof value === "string" ? 0 : undefined);
  return number === undefined ? undefined : Math.min(1, Math.max(0, number));
}
