import { describe, expect, it } from "vitest";
import { all, type MemoryOperation, none, normalize, unsupported } from "./memory-capabilities.ts";
import { metadataFields } from "./memory-metadata.ts";

describe("what a memory store can do", () => {
  it("is everything for one that keeps everything, as far as there is an order or a filter", () => {
    expect(unsupported(all(), metadataFields, "persist")).toEqual([]);
    expect(unsupported(all(), metadataFields, "read")).toEqual([]);
    expect(unsupported(all(), metadataFields, "filter")).toEqual([
      "source_ref",
      "created_by_user_id",
      "created_by_agent_id",
    ]);
    expect(unsupported(all(), ["confidence", "source_type"], "rank")).toEqual(["source_type"]);
    expect(all(["v"]).validator_ids).toEqual(["v"]);
  });

  it("is nothing for one that keeps only text, and for what is not stated", () => {
    expect(unsupported(none(), ["b", "a", "b"], "read")).toEqual(["b", "a"]);
    expect(normalize({ rankable_fields: ["confidence"] })).toEqual({ ...none(), rankable_fields: ["confidence"] });
  });

  it("is nothing in an operation that there is not", () => {
    expect(unsupported(all(), ["confidence"], "delete" as MemoryOperation)).toEqual(["confidence"]);
  });
});
