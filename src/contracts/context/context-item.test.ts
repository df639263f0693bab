import { describe, expect, it } from "vitest";
import { normalize } from "./context-item.ts";

describe("a context item", () => {
  it("needs a tier and nothing else", () => {
    expect(normalize({ authority_tier: "conversation" })).toEqual({
      content: "",
      scope: {},
      authority_tier: "conversation",
      provenance: {},
      conflict_kind: "preference",
      conflict_key: null,
      metadata: {},
    });
  });

  it("is frozen, and shares nothing with what it was made of", () => {
    const given = { authority_tier: "conversation", scope: { place: { id: 1 } } };
    const item = normalize(given);
    given.scope.place.id = 2;
    expect(item.scope).toEqual({ place: { id: 1 } });
    expect(Object.isFrozen(item.scope.place)).toBe(true);
  });

  it("writes numbers out where a text belongs", () => {
    expect(normalize({ authority_tier: "conversation", content: 5, conflict_key: 7 })).toMatchObject({
      content: "5",
      conflict_key: "7",
    });
  });

  it("has no use for lists where a map belongs", () => {
    const item = normalize({ authority_tier: "conversation", scope: [1], provenance: ["a"], metadata: [{}] });
    expect(item).toMatchObject({ scope: {}, provenance: {}, metadata: {} });
  });

  it("has its citations read and the rest of its metadata left alone", () => {
    const { metadata } = normalize({
      authority_tier: "conversation",
      metadata: { citations: [{ source: " docs ", score: "0.5" }, 3], note: " kept " },
    });
    expect(metadata).toEqual({ citations: [{ source: "docs", score: 0.5 }], note: " kept " });
  });

  it("is asked for its tier before its kind", () => {
    expect(() => normalize({ authority_tier: "boss", conflict_kind: "opinion" })).toThrow("authority tier");
    expect(() => normalize({ authority_tier: "conversation", conflict_kind: "opinion" })).toThrow("conflict kind");
    expect(() => normalize({ authority_tier: "conversation", conflict_kind: "" })).toThrow("conflict kind");
    expect(() => normalize(null)).toThrow("authority tier");
  });
});
