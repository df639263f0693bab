// Where memories are kept: the port of the Agents API, with a search beside it. A memory is one text under a name, with
// what is known about where it came from.
import type { ConsentDecision } from "../trust/consent.ts";
import type { MemoryCapabilities } from "./memory-capabilities.ts";
import type { MemoryMetadata, MetadataField } from "./memory-metadata.ts";
import type { MemoryQuery } from "./memory-query.ts";
import type { MemoryScope } from "./memory-scope.ts";

/** `unsupported_metadata_fields` tells what is unknown from what the store cannot tell. */
export type MemoryRead = {
  readonly exists: boolean;
  readonly content: string;
  readonly hash: string;
  readonly bytes: number;
  /** Unix seconds. */
  readonly updated_at: number | null;
  readonly metadata: MemoryMetadata | null;
  readonly unsupported_metadata_fields: readonly string[];
};

export type MemoryWritten = {
  readonly success: boolean;
  readonly hash: string;
  readonly bytes: number;
  /** `conflict`: the content is not the one that the writer has read. */
  readonly error: string | null;
  readonly metadata: MemoryMetadata | null;
  readonly unsupported_metadata_fields: readonly string[];
};

export type MemoryEntry = {
  readonly filename: string;
  readonly layer: string;
  readonly bytes: number;
  readonly updated_at: number | null;
  readonly metadata: MemoryMetadata | null;
  readonly unsupported_metadata_fields: readonly string[];
};

/** An entry with its content, for whoever is about to use it. */
export type FoundMemory = MemoryEntry & { readonly content: string; readonly hash: string };

export type MemoryWriteOptions = {
  /** The hash of the content that is replaced: another one refuses the write. */
  readonly ifMatch?: string | null;
  readonly metadata?: MemoryMetadata;
  /** What allowed it to be stored; kept beside it. */
  readonly consent?: ConsentDecision;
};

export interface MemoryStore {
  capabilities(): MemoryCapabilities;
  read(scope: MemoryScope, fields?: readonly MetadataField[]): Promise<MemoryRead>;
  write(scope: MemoryScope, content: string, options?: MemoryWriteOptions): Promise<MemoryWritten>;
  exists(scope: MemoryScope): Promise<boolean>;
  /** Deleting what is not there succeeds too. */
  delete(scope: MemoryScope): Promise<MemoryWritten>;
  /** The entries directly in a scope; its filename says nothing here. */
  listLayer(scope: MemoryScope, query?: MemoryQuery): Promise<readonly MemoryEntry[]>;
  /** The entries below a folder of a scope, under their whole names. */
  listSubtree(scope: MemoryScope, prefix: string, query?: MemoryQuery): Promise<readonly MemoryEntry[]>;
  /** The entries of a scope that hold every word, with their content, best first unless the query orders them. */
  search(
    scope: MemoryScope,
    words: string,
    query?: MemoryQuery,
    options?: { readonly limit?: number },
  ): Promise<readonly FoundMemory[]>;
  /** The entries of a scope with their content, as a query filters and orders them: what is about to be shown to a model. */
  retrieve(
    scope: MemoryScope,
    query?: MemoryQuery,
    options?: { readonly limit?: number },
  ): Promise<readonly FoundMemory[]>;
}
