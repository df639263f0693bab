import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { authorityRank, authorityTiers, specificityRank } from "./authority-tier.ts";
import { resolveConflicts } from "./conflict.ts";
import { type ContextItem, normalize } from "./context-item.ts";

const item = (authority_tier: string, conflict_kind = "preference", conflict_key: string | null = "k") =>
  normalize({ authority_tier, conflict_kind, conflict_key });

const anyItem = fc
  .record({
    content: fc.string({ maxLength: 3 }),
    authority_tier: fc.constantFrom(...authorityTiers),
    conflict_kind: fc.constantFrom("preference", "authoritative_fact"),
    conflict_key: fc.constantFrom(null, "", "a", "b", "__proto__", "0"),
  })
  .map(normalize);

const anyItems = fc.array(anyItem, { maxLength: 12 });

const isFact = ({ conflict_kind }: ContextItem) => conflict_kind === "authoritative_fact";

describe("resolveConflicts", () => {
  it("lets every item with a key win or lose exactly once, and leaves the others alone", () => {
    fc.assert(
      fc.property(anyItems, (items) => {
        const resolved = resolveConflicts(items).flatMap(({ winner, rejected }) => [winner, ...rejected]);
        const keyed = items.filter(({ conflict_key }) => conflict_key);
        expect(resolved).toHaveLength(keyed.length);
        // The very items, not copies of them.
        expect(new Set(resolved)).toEqual(new Set(keyed));
        for (const each of resolved) expect(keyed.some((other) => other === each)).toBe(true);
      }),
    );
  });

  it("never lets a wish overrule a fact, nor a fact one of a higher authority or an earlier one of its own", () => {
    fc.assert(
      fc.property(anyItems, (items) => {
        for (const { winner, rejected, strategy } of resolveConflicts(items)) {
          const facts = [winner, ...rejected].filter(isFact);
          expect(strategy).toBe(facts.length > 0 ? "authority_tier" : "specificity_then_authority");
          if (facts.length === 0) continue;
          expect(isFact(winner)).toBe(true);
          const highest = Math.max(...facts.map(({ authority_tier }) => authorityRank(authority_tier)));
          const first = facts
            .toSorted((left, right) => items.indexOf(left) - items.indexOf(right))
            .find(({ authority_tier }) => authorityRank(authority_tier) === highest);
          expect(winner).toBe(first);
        }
      }),
    );
  });

  it("lets the nearest wish win, and the earliest of equals", () => {
    fc.assert(
      fc.property(anyItems, (items) => {
        const wishes = items.filter((each) => !isFact(each));
        for (const { winner, rejected } of resolveConflicts(wishes)) {
          for (const other of rejected) {
            const nearer = specificityRank(winner.authority_tier) - specificityRank(other.authority_tier);
            expect(nearer > 0 || (nearer === 0 && wishes.indexOf(winner) < wishes.indexOf(other))).toBe(true);
          }
        }
      }),
    );
  });

  it("comes to the same end when the winners are asked again", () => {
    fc.assert(
      fc.property(anyItems, (items) => {
        const first = resolveConflicts(items);
        expect(resolveConflicts(items)).toEqual(first);
        const winners = first.map(({ winner }) => winner);
        expect(resolveConflicts(winners).map(({ winner }) => winner)).toEqual(winners);
      }),
    );
  });

  it("answers in the order in which the keys were first seen", () => {
    const items = ["b", "a", "b"].map((key) => item("conversation", "preference", key));
    expect(resolveConflicts(items).map(({ conflict_key }) => conflict_key)).toEqual(["b", "a"]);
  });

  it("keeps losing facts in the order they came in, and losing wishes by their rank", () => {
    const tiers = ["agent_identity", "conversation", "workspace_shared"];
    const rejectedOf = (kind: string) =>
      resolveConflicts(tiers.map((tier) => item(tier, kind)))[0]?.rejected.map(({ authority_tier }) => authority_tier);
    expect(rejectedOf("authoritative_fact")).toEqual(["agent_identity", "conversation"]);
    expect(rejectedOf("preference")).toEqual(["workspace_shared", "agent_identity"]);
  });

  it("takes an item that was passed in twice for two", () => {
    const twice = item("conversation", "authoritative_fact");
    const [resolved] = resolveConflicts([twice, twice]);
    expect(resolved?.winner).toBe(twice);
    expect(resolved?.rejected).toEqual([twice]);
  });

  it.each([
    [[item("agent_memory")], 'Nothing else speaks about "k".'],
    [
      [item("agent_memory", "authoritative_fact"), item("workspace_shared", "authoritative_fact")],
      '"workspace_shared" outranks "agent_memory" for facts about "k".',
    ],
    [
      [item("agent_memory"), item("conversation"), item("user_global"), item("agent_memory")],
      '"conversation" is more specific than "user_global" and "agent_memory" for preferences about "k".',
    ],
    [[item("agent_memory", "authoritative_fact"), item("conversation")], 'No preference overrules a fact about "k".'],
    [
      [item("agent_memory"), item("agent_memory")],
      'Of the preferences about "k" from "agent_memory" the first stands.',
    ],
    [
      [item("user_global", "authoritative_fact"), item("user_global", "authoritative_fact")],
      'Of the facts about "k" from "user_global" the first stands.',
    ],
  ])("says why in a sentence (%#)", (items, reason) => {
    expect(resolveConflicts(items)[0]?.reason).toBe(reason);
  });
});
