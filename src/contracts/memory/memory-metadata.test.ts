import { describe, expect, it } from "vitest";
import { metadataFields, normalize, onlyFields, withDefaults } from "./memory-metadata.ts";

describe("memory metadata", () => {
  it("keeps the known fields in their order and drops what it cannot read", () => {
    const given = { updated_at: "200.9", confidence: "0.75", source_type: "", created_by_user_id: 0, other: 1 };
    const metadata = normalize({ ...given, source_ref: ["x"], created_at: null, validator: {} });
    expect(metadata).toEqual({ source_type: "", created_by_user_id: 0, confidence: 0.75, updated_at: 200 });
    expect(Object.keys(metadata)).toEqual(["source_type", "created_by_user_id", "confidence", "updated_at"]);
    expect(Object.isFrozen(metadata)).toBe(true);
  });

  it.each([
    [7, 1],
    [-3, 0],
    ["abc", 0],
    [Number.NaN, undefined],
    [[], undefined],
  ])("reads the confidence %j as %j", (given, confidence) => {
    expect(normalize({ confidence: given }).confidence).toBe(confidence);
  });

  it("reads a workspace or throws, and takes nothing else for one", () => {
    expect(normalize({ workspace: { workspace_type: "Site", workspace_id: 1 } })).toEqual({
      workspace: { workspace_type: "site", workspace_id: "1" },
    });
    expect(normalize({ workspace: "site:1" })).toEqual({});
    expect(() => normalize({ workspace: {} })).toThrow("invalid_agent_workspace_scope: workspace_type");
    expect(() => normalize({ workspace: ["site"] })).toThrow("invalid_agent_workspace_scope");
  });

  it.each([
    [undefined, 0.5, "low"],
    ["agent_inferred", 0.5, "low"],
    ["user_asserted", 0.9, "high"],
    ["workspace_extracted", 0.8, "low"],
    ["imported", 0.7, "medium"],
    ["curated", 1, "canonical"],
    ["system_generated", 1, "canonical"],
    ["gossip", 0.5, "low"],
    ["", 0.5, "low"],
    ["constructor", 0.5, "low"],
  ])("trusts the source %j with %d and %s", (source_type, confidence, authority_tier) => {
    expect(withDefaults(normalize({ source_type }), 5)).toEqual({
      source_type: source_type ?? "agent_inferred",
      confidence,
      authority_tier,
      created_at: 5,
      updated_at: 5,
    });
  });

  it("keeps what is stated, also when it is nothing much", () => {
    const stated = { source_type: "curated", confidence: 0, authority_tier: "", created_at: 0, updated_at: 1 };
    expect(withDefaults(stated, 5)).toEqual(stated);
  });

  it("can be reduced to some of its fields", () => {
    const metadata = withDefaults({ source_ref: "r" }, 5);
    expect(onlyFields(metadata, ["confidence", "source_ref", "workspace", "other"])).toEqual({
      source_ref: "r",
      confidence: 0.5,
    });
    expect(onlyFields(metadata, [])).toEqual({});
    expect(onlyFields(metadata, metadataFields)).toEqual(metadata);
  });
});
