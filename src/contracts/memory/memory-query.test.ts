import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryMetadata } from "./memory-metadata.ts";
import { apply, filterFields, type MemoryQuery, normalize } from "./memory-query.ts";

const entry = (name: string, metadata: MemoryMetadata | null) => ({ name, metadata });
const namesOf = (entries: readonly { name: string }[]) => entries.map(({ name }) => name);

const entries = [
  entry("a", { confidence: 0.9, authority_tier: "high", source_type: "user_asserted", created_at: 10 }),
  entry("b", { confidence: 0.5, authority_tier: "low", source_type: "agent_inferred", validator: "v" }),
  entry("c", null),
  entry("d", { authority_tier: "divine", created_at: 10 }),
  entry("e", { confidence: 0.9, authority_tier: "canonical", created_at: 20 }),
];

describe("a memory query", () => {
  it("asks for everything unless it is told otherwise", () => {
    expect(normalize()).toEqual({
      source_types: [],
      min_confidence: null,
      authority_tiers: [],
      validators: [],
      metadata_fields: expect.toSatisfy((fields: string[]) => fields.length === 10),
      order_by: null,
      order: "desc",
    });
    expect(namesOf(apply(entries))).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("keeps a filter that it cannot read, rather than show more", () => {
    const query = { source_types: [{}], min_confidence: "much", validators: "v" } as unknown as MemoryQuery;
    expect(normalize(query)).toMatchObject({ source_types: [""], min_confidence: 0, validators: ["v"] });
    expect(filterFields(query)).toEqual(["source_type", "confidence", "validator"]);
  });

  it("names the fields it filters on in a fixed order, and not the one it ranks by", () => {
    expect(
      filterFields({ validators: ["v"], authority_tiers: ["low"], min_confidence: 0, order_by: "created_at" }),
    ).toEqual(["confidence", "authority_tier", "validator"]);
  });

  it.each<[MemoryQuery, string[]]>([
    [{ min_confidence: 0.9 }, ["a", "e"]],
    [{ min_confidence: 0 }, ["a", "b", "e"]],
    [{ source_types: ["agent_inferred", "curated"] }, ["b"]],
    [{ validators: ["v", "w"] }, ["b"]],
    [{ authority_tiers: ["high", "canonical"], source_types: ["user_asserted"] }, ["a"]],
    [{ authority_tiers: ["divine"] }, ["d"]],
  ])("filters with %j", (query, names) => {
    expect(namesOf(apply(entries, query))).toEqual(names);
  });

  it.each<[MemoryQuery, string[]]>([
    [{ order_by: "confidence" }, ["a", "e", "b", "c", "d"]],
    [{ order_by: "confidence", order: "asc" }, ["b", "a", "e", "c", "d"]],
    [{ order_by: "authority_tier" }, ["e", "a", "b", "c", "d"]],
    [{ order_by: "authority_tier", order: "asc" }, ["b", "a", "e", "c", "d"]],
    [{ order_by: "created_at", order: "asc" }, ["a", "d", "e", "b", "c"]],
    [{ order_by: "toString" }, ["a", "b", "c", "d", "e"]],
  ])("ranks with %j, what lacks the value last and equals as they came", (query, names) => {
    expect(namesOf(apply(entries, query))).toEqual(names);
  });

  it("never changes what it is given, and finds the same twice", () => {
    const metadata = fc.option(
      fc.record(
        { confidence: fc.constantFrom(0, 0.5, 1), authority_tier: fc.constantFrom("low", "high", "x") },
        { requiredKeys: [] },
      ),
    );
    const query = fc.record(
      {
        min_confidence: fc.constantFrom(0, 0.5),
        order_by: fc.constantFrom("confidence", "authority_tier"),
        order: fc.constantFrom("asc" as const, "desc" as const),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(metadata), query, (described, asked) => {
        const given = Object.freeze(described.map((each, index) => entry(String(index), each)));
        const once = apply(given, asked);
        expect(apply(once, asked)).toEqual(once);
      }),
    );
  });
});
