import { describe, expect, it } from "vitest";
import * as citations from "./citations.ts";

describe("citations", () => {
  it("keeps a host's own fields first, then the known ones, and the score last", () => {
    const [citation] = citations.normalize([{ score: "0.5", source: " kb ", access_status: "denied" }]);
    expect(Object.entries(citation ?? {})).toEqual([
      ["access_status", "denied"],
      ["source", "kb"],
      ["score", 0.5],
    ]);
  });

  it("takes numbers as text but not booleans, and no boolean as a score", () => {
    expect(citations.normalize([{ source_id: 5, source: true, score: true }])).toEqual([{ source_id: "5" }]);
  });

  it("reads a map of citations as no list", () => {
    expect(citations.normalize({ a: { source: "s" } })).toEqual([]);
  });

  it("gives the same again when normalised twice", () => {
    const once = citations.normalize([{ source: " a ", score: "1e2", custom: { nested: [1] } }]);
    expect(citations.normalize(once)).toEqual(once);
  });

  it("shares nothing mutable with its input and changes nothing in it", () => {
    const given = { citations: [{ source: " a ", custom: { nested: [1] } }] };
    const metadata = citations.normalizeMetadata(given);
    expect(given.citations[0]?.source).toBe(" a ");
    given.citations[0]?.custom.nested.push(2);
    expect(metadata).toEqual({ citations: [{ source: "a", custom: { nested: [1] } }] });
    expect(Object.isFrozen(metadata.citations)).toBe(true);
  });
});
