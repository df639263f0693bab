// A memory store that is told to know less than the one below it: what must not be kept never reaches that store, and
// whoever asks is told which fields are missing because of it.
import { type MemoryCapabilities, unsupported } from "./memory-capabilities.ts";
import { type MemoryMetadata, metadataFields, onlyFields, withDefaults } from "./memory-metadata.ts";
import { type CompleteQuery, filterFields, type MemoryQuery, normalize } from "./memory-query.ts";
import type { MemoryEntry, MemoryStore } from "./memory-store.ts";

/** A view of a store that keeps and tells no more than the capabilities say, and no more than the store can. */
export function limitedStore(store: MemoryStore, capabilities: MemoryCapabilities): MemoryStore {
  const limits = shared(capabilities, store.capabilities());
  const kept = new Set(limits.persisted_metadata_fields);

  /** What may be told of a memory, for which the store below may have filled in more than it was given. */
  function limit<Told extends Pick<MemoryEntry, "metadata" | "updated_at">>(told: Told, fields: readonly string[]) {
    const metadata = told.metadata && onlyFields(told.metadata, limits.persisted_metadata_fields);
    const readable = fields.filter((field) => limits.readable_metadata_fields.includes(field));
    return {
      ...told,
      updated_at: kept.has("updated_at") ? told.updated_at : null,
      metadata: metadata && onlyFields(metadata, readable),
      unsupported_metadata_fields: unsupported(limits, fields, "read"),
    };
  }

  async function list<Entry extends MemoryEntry>(
    query: MemoryQuery | undefined,
    ask: (query: CompleteQuery) => Promise<readonly Entry[]>,
  ): Promise<Entry[]> {
    const asked = normalize(query);
    // No memory has a field that is not kept, so that none passes a filter on it, and none is before another by it.
    if (filterFields(asked).some((field) => !kept.has(field))) return [];
    const order_by = asked.order_by !== null && kept.has(asked.order_by) ? asked.order_by : null;
    const entries = await ask({ ...asked, order_by, metadata_fields: metadataFields });
    return entries.map((entry) => limit(entry, asked.metadata_fields));
  }

  return {
    capabilities: () => limits,
    async read(scope, fields = metadataFields) {
      const read = await store.read(scope);
      return read.exists ? limit(read, fields) : read;
    },
    async write(scope, content, { metadata, ...options } = {}) {
      if (metadata === undefined) return store.write(scope, content, options);
      const stated = withTrust(metadata);
      const written = await store.write(scope, content, {
        ...options,
        metadata: onlyFields(stated, limits.persisted_metadata_fields),
      });
      if (!written.success) return written;
      return {
        ...written,
        metadata: written.metadata && onlyFields(written.metadata, limits.persisted_metadata_fields),
        unsupported_metadata_fields: unsupported(limits, Object.keys(withDefaults(metadata, 0)), "persist"),
      };
    },
    exists: (scope) => store.exists(scope),
    delete: (scope) => store.delete(scope),
    listLayer: (scope, query) => list(query, (narrowed) => store.listLayer(scope, narrowed)),
    listSubtree: (scope, prefix, query) => list(query, (narrowed) => store.listSubtree(scope, prefix, narrowed)),
    search: (scope, words, query, options) => list(query, (narrowed) => store.search(scope, words, narrowed, options)),
    retrieve: (scope, query, options) => list(query, (narrowed) => store.retrieve(scope, narrowed, options)),
  };
}

/** The defaults that follow from the source, which may itself not be kept. The times are left to the store's clock. */
function withTrust(metadata: MemoryMetadata): MemoryMetadata {
  const { created_at: _created, updated_at: _updated, ...trust } = withDefaults(metadata, 0);
  return { ...trust, ...metadata };
}

function shared(wanted: MemoryCapabilities, possible: MemoryCapabilities): MemoryCapabilities {
  const among = (fields: readonly string[], others: readonly string[]) =>
    Object.freeze(fields.filter((field) => others.includes(field)));
  return Object.freeze({
    persisted_metadata_fields: among(wanted.persisted_metadata_fields, possible.persisted_metadata_fields),
    readable_metadata_fields: among(wanted.readable_metadata_fields, possible.readable_metadata_fields),
    filterable_fields: among(wanted.filterable_fields, possible.filterable_fields),
    rankable_fields: among(wanted.rankable_fields, possible.rankable_fields),
    validator_ids: among(wanted.validator_ids, possible.validator_ids),
  });
}
