import { describe, expect, it, onTestFinished } from "vitest";
import { createMemoryStore } from "../../backend/sql/memories.ts";
import { migrate } from "../../backend/sql/migrate.ts";
import { sqlite } from "../../backend/sqlite/sqlite.ts";
import { limitedStore } from "./limited-store.ts";
import { all, none, normalize } from "./memory-capabilities.ts";
import { metadataFields } from "./memory-metadata.ts";
import * as memoryScope from "./memory-scope.ts";

const scope = (filename: string) =>
  memoryScope.normalize({ layer: "user", workspace_type: "site", workspace_id: "1", user_id: 7, filename });

async function open() {
  const driver = await sqlite(":memory:").open();
  onTestFinished(() => driver.close());
  await migrate(driver);
  return createMemoryStore(driver, { now: () => 100 });
}

const partial = normalize({
  persisted_metadata_fields: ["confidence", "validator", "updated_at"],
  readable_metadata_fields: ["confidence", "updated_at"],
  filterable_fields: ["confidence"],
});

describe("a limited store", () => {
  it("answers like the store below when nothing is forbidden", async () => {
    const below = await open();
    const store = limitedStore(below, all());
    const metadata = { source_type: "curated", source_ref: "r", validator: "v", created_at: 1 };
    expect(await store.write(scope("a"), "text", { metadata })).toEqual({
      success: true,
      hash: "372ea08cab33e71c02c651dbc83a474d32c676ea",
      bytes: 4,
      error: null,
      metadata: { ...metadata, confidence: 1, authority_tier: "canonical", updated_at: 100 },
      unsupported_metadata_fields: [],
    });
    expect(await store.read(scope("a"))).toEqual(await below.read(scope("a")));
    expect(await store.listLayer(scope(""))).toEqual(await below.listLayer(scope("")));
    expect(await store.search(scope(""), "text")).toEqual(await below.search(scope(""), "text"));
  });

  it("keeps from the store below what must not be kept", async () => {
    const below = await open();
    const store = limitedStore(below, partial);
    const metadata = { source_type: "curated", source_ref: "secret", validator: "v" };
    const written = await store.write(scope("a"), "text", { metadata });
    expect(written).toMatchObject({
      // The trust that follows from the source stays, although the source is not kept.
      metadata: { confidence: 1, validator: "v", updated_at: 100 },
      unsupported_metadata_fields: ["source_type", "source_ref", "authority_tier", "created_at"],
    });
    const kept = await below.read(scope("a"));
    expect(kept.metadata).not.toHaveProperty("source_ref");
    expect(kept.metadata?.source_type).not.toBe("curated");
  });

  it("tells what may be read, and names what may not", async () => {
    const store = limitedStore(await open(), partial);
    await store.write(scope("a"), "text", { metadata: { validator: "v" } });
    expect(await store.read(scope("a"), ["validator", "confidence", "source_type"])).toMatchObject({
      updated_at: 100,
      metadata: { confidence: 0.5 },
      unsupported_metadata_fields: ["validator", "source_type"],
    });
    const [entry] = await store.listLayer(scope(""));
    expect(entry).toMatchObject({
      metadata: { confidence: 0.5, updated_at: 100 },
      unsupported_metadata_fields: metadataFields.filter((field) => field !== "confidence" && field !== "updated_at"),
    });
  });

  it("finds nothing by a field that is not kept, and ranks nothing by it", async () => {
    const store = limitedStore(await open(), partial);
    await store.write(scope("a"), "text", { metadata: { source_type: "agent_inferred", confidence: 0.1 } });
    await store.write(scope("b"), "text", { metadata: { source_type: "curated", confidence: 0.2 } });
    const names = async (query: object) => (await store.listLayer(scope(""), query)).map(({ filename }) => filename);
    expect(await names({ source_types: ["agent_inferred"] })).toEqual([]);
    expect(await names({ min_confidence: 0.2 })).toEqual(["b"]);
    expect(await names({ order_by: "authority_tier" })).toEqual(["a", "b"]);
    expect(await names({ order_by: "confidence" })).toEqual(["b", "a"]);
    expect(await store.retrieve(scope(""), { validators: ["v"] })).toEqual([]);
    expect(await store.search(scope(""), "text", { authority_tiers: ["low"] })).toEqual([]);
  });

  it("says nothing about memories that nothing was said about, and nothing of what is not there", async () => {
    const store = limitedStore(await open(), none());
    expect(await store.write(scope("a"), "text")).toMatchObject({ metadata: null, unsupported_metadata_fields: [] });
    expect(await store.read(scope("a"))).toMatchObject({
      metadata: null,
      unsupported_metadata_fields: [...metadataFields],
    });
    expect(await store.read(scope("b"))).toMatchObject({ exists: false, unsupported_metadata_fields: [] });
  });

  it("passes on that a write was refused", async () => {
    const store = limitedStore(await open(), none());
    const refused = await store.write(scope("a"), "text", { ifMatch: "x", metadata: { source_type: "curated" } });
    expect(refused).toMatchObject({ success: false, error: "conflict", unsupported_metadata_fields: [] });
    expect(await store.exists(scope("a"))).toBe(false);
    expect(await store.delete(scope("a"))).toMatchObject({ success: true });
  });

  it("can do no more than the store below", async () => {
    const store = limitedStore(limitedStore(await open(), partial), all(["v"]));
    expect(store.capabilities()).toMatchObject({
      persisted_metadata_fields: ["confidence", "validator", "updated_at"],
      rankable_fields: [],
      validator_ids: [],
    });
  });
});
