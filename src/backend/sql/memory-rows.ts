// Memories as rows: their columns, and what the contract calls them.
import { hash } from "node:crypto";
import { holdfastError } from "../../contracts/error.ts";
import { type MemoryMetadata, type MetadataField, metadataFields } from "../../contracts/memory/memory-metadata.ts";
import { authorityRanks } from "../../contracts/memory/memory-query.ts";
import * as memoryScope from "../../contracts/memory/memory-scope.ts";
import type { FoundMemory, MemoryEntry } from "../../contracts/memory/memory-store.ts";
import { nameProblem } from "../memory-limits.ts";
import type { Row, Scalar } from "../sql-driver.ts";
import * as rows from "./rows.ts";

/** Where a memory is found: everything but its name as one hash, which is short however long the parts are. */
export type MemoryPlace = {
  readonly scope: string;
  readonly filename: string;
  readonly parts: memoryScope.MemoryScope;
};

/** Of SHA-256, so many hexadecimal digits: 160 bits. */
const SCOPE_LENGTH = 40;

/** Throws `invalid_argument` for names that no database holds as they are. */
export function placeOf(given: memoryScope.MemoryScope): MemoryPlace {
  const problem = nameProblem(given);
  if (problem !== undefined) throw holdfastError("invalid_argument", problem);
  const parts = memoryScope.normalize(given);
  const identity = [parts.layer, parts.workspace_type, parts.workspace_id, parts.user_id, parts.agent_id];
  const scope = hash("sha256", JSON.stringify(identity)).slice(0, SCOPE_LENGTH);
  return { scope, filename: parts.filename, parts };
}

/** No text of a database may hold a zero, nor half a character. */
export function storable(text: string): string {
  return text.replaceAll("\0", "").toWellFormed();
}

/** What the contract says about the content itself. */
export function digestOf(content: string): { hash: string; bytes: number } {
  return { hash: hash("sha1", content), bytes: Buffer.byteLength(content) };
}

/** Everything that a list tells. A memory without metadata has no source either. */
export const ENTRY = `filename, layer, bytes, source_type, source_ref, created_by_user_id, created_by_agent_id, about_type,
  about_id, confidence, validator, authority_tier, created_at, updated_at`;

/** The columns of the metadata with their values. */
export function metadataColumns(metadata: MemoryMetadata | null): Readonly<Record<string, Scalar>> {
  const { workspace, authority_tier } = metadata ?? {};
  return {
    source_type: textOf(metadata?.source_type),
    source_ref: textOf(metadata?.source_ref),
    created_by_user_id: metadata?.created_by_user_id ?? null,
    created_by_agent_id: metadata?.created_by_agent_id ?? null,
    about_type: textOf(workspace?.workspace_type),
    about_id: textOf(workspace?.workspace_id),
    confidence: metadata?.confidence ?? null,
    validator: textOf(metadata?.validator),
    authority_tier: textOf(authority_tier),
    authority_rank: authorityRanks.get(authority_tier ?? "") ?? null,
    created_at: metadata?.created_at ?? null,
    updated_at: metadata?.updated_at ?? null,
  };
}

function textOf(text: string | undefined): string | null {
  return text === undefined ? null : storable(text);
}

/** Reads rows for somebody who wants to know these fields. */
export function entryReader(
  fields: readonly string[],
  unsupported: readonly string[],
): { entry(row: Row): MemoryEntry; found(row: Row): FoundMemory } {
  const wanted = new Set(fields);
  const project = metadataFields.every((field) => wanted.has(field)) ? null : wanted;

  function entry(row: Row): MemoryEntry {
    return {
      filename: rows.text(row.filename),
      layer: rows.text(row.layer),
      bytes: rows.number(row.bytes),
      updated_at: rows.optionalNumber(row.updated_at),
      metadata: metadataOf(row, project),
      unsupported_metadata_fields: unsupported,
    };
  }

  return {
    entry,
    found: (row) => ({ ...entry(row), content: rows.text(row.content), hash: rows.text(row.hash) }),
  };
}

/** Null where nothing was ever said about the memory. */
export function metadataOf(row: Row, only: ReadonlySet<string> | null): MemoryMetadata | null {
  if (row.source_type === null) return null;
  const metadata: Partial<Record<MetadataField, unknown>> = {};
  for (const field of metadataFields) {
    if (only !== null && !only.has(field)) continue;
    const value = field === "workspace" ? workspaceOf(row) : row[field];
    if (value !== null && value !== undefined) metadata[field] = value;
  }
  return metadata as MemoryMetadata;
}

function workspaceOf({ about_type, about_id }: Row) {
  return about_type == null ? null : { workspace_type: about_type, workspace_id: about_id };
}
