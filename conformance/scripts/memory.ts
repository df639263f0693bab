// What the vectors about memory ask for in several questions at once, and the calls of memoryStore.sequence against a
// database in memory.
import { createMemoryStore } from "../../src/backend/sql/memories.ts";
import { migrate } from "../../src/backend/sql/migrate.ts";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import type { CapabilityTarget } from "../../src/contracts/memory/guideline.ts";
import { mapCapability } from "../../src/contracts/memory/guideline.ts";
import { limitedStore } from "../../src/contracts/memory/limited-store.ts";
import * as memoryCapabilities from "../../src/contracts/memory/memory-capabilities.ts";
import type { MetadataField } from "../../src/contracts/memory/memory-metadata.ts";
import * as memoryMetadata from "../../src/contracts/memory/memory-metadata.ts";
import * as memoryQuery from "../../src/contracts/memory/memory-query.ts";
import * as memoryScope from "../../src/contracts/memory/memory-scope.ts";
import {
  createMemorySources,
  type MemorySource,
  type MemorySourceArguments,
  type MemorySources,
} from "../../src/contracts/memory/memory-sources.ts";
import type { MemoryStore } from "../../src/contracts/memory/memory-store.ts";
import * as memoryValidator from "../../src/contracts/memory/memory-validator.ts";
import { heldClock } from "../../src/testing/held-clock.ts";

export function askScope(given: unknown) {
  const scope = memoryScope.normalize(given);
  return { ...scope, key: memoryScope.key(scope) };
}

type Registration = { id: string; args?: MemorySourceArguments };
type SourceQuery = { kind: string; layer?: string; mode?: string; retrieval_policy?: string; id?: string };

export function registerSource({ id, args }: Registration) {
  return createMemorySources().register(id, args);
}

export function resolveSources(given: {
  register: readonly Registration[];
  unregister?: readonly string[];
  query: SourceQuery;
}) {
  const sources = createMemorySources();
  for (const { id, args } of given.register) sources.register(id, args);
  for (const id of given.unregister ?? []) sources.unregister(id);
  if (given.query.kind === "get") return sources.get(given.query.id ?? "");
  return select(sources, given.query).map(({ id }) => id);
}

function select(sources: MemorySources, query: SourceQuery): readonly MemorySource[] {
  switch (query.kind) {
    case "all":
      return sources.all();
    case "by_layer":
      return sources.byLayer(query.layer ?? "");
    case "for_mode":
      return sources.forMode(query.mode ?? "", query.retrieval_policy);
    case "always":
      return sources.alwaysInjected(query.mode ?? "");
    case "composable":
      return sources.composable();
    default:
      throw new Error(`no query is called "${query.kind}"`);
  }
}

export function applyQuery(given: { entries: readonly { filename: string; metadata: unknown }[]; query: never }) {
  const entries = given.entries.map(({ filename, metadata }) => ({
    filename,
    metadata: metadata === null ? null : memoryMetadata.normalize(metadata),
  }));
  return memoryQuery.apply(entries, given.query).map(({ filename }) => filename);
}

type Validation = { kind: string; message?: string; confidence?: number };

export function validationResult({ kind, message, confidence }: Validation) {
  switch (kind) {
    case "valid":
      return memoryValidator.valid(confidence, message);
    case "stale":
      return memoryValidator.stale(message, confidence);
    case "unsupported":
      return memoryValidator.unsupported(message);
    case "error":
      return memoryValidator.error(message ?? "");
    default:
      throw new Error(`no result is called "${kind}"`);
  }
}

export function capabilitiesOf(given: unknown): memoryCapabilities.MemoryCapabilities {
  if (given === "all") return memoryCapabilities.all();
  return given === "none" ? memoryCapabilities.none() : memoryCapabilities.normalize(given);
}

export function mapGuidelineCapability(given: {
  cap: string;
  user_id: number;
  caps?: readonly string[];
  post?: CapabilityTarget | null;
}) {
  return mapCapability(given.cap, given.user_id, { target: given.post ?? null, proposed: given.caps ?? [] });
}

type Call = {
  do: string;
  with: {
    content?: string;
    if_match?: string | null;
    metadata?: unknown;
    metadata_fields?: readonly MetadataField[];
    prefix?: string;
    query?: memoryQuery.MemoryQuery;
  };
};

// What a case does not say about its scopes is the same in all of its calls.
const usualScope = { layer: "user", workspace_type: "site", workspace_id: "1", user_id: 7, agent_id: 11, filename: "" };

export async function runMemoryStore(given: { capabilities: unknown; timestamp: number; calls: readonly Call[] }) {
  const driver = await sqlite(":memory:", { clock: heldClock(given.timestamp * 1000) }).open();
  try {
    await migrate(driver);
    const store = limitedStore(createMemoryStore(driver), capabilitiesOf(given.capabilities));
    const results: unknown[] = [];
    for (const call of given.calls) results.push(await answer(store, call));
    return results;
  } finally {
    await driver.close();
  }
}

function answer(store: MemoryStore, { do: verb, with: given }: Call): Promise<unknown> {
  const scope = memoryScope.normalize({ ...usualScope, ...given });
  switch (verb) {
    case "write":
      return store.write(scope, given.content ?? "", {
        ifMatch: given.if_match ?? null,
        ...(given.metadata != null && { metadata: memoryMetadata.normalize(given.metadata) }),
      });
    case "read":
      return store.read(scope, given.metadata_fields);
    case "exists":
      return store.exists(scope);
    case "delete":
      return store.delete(scope);
    case "list_layer":
      return store.listLayer(scope, given.query);
    case "list_subtree":
      return store.listSubtree(scope, given.prefix ?? "", given.query);
    default:
      throw new Error(`no call is "${verb}"`);
  }
}
