// Which of several items about the same thing stands. A wish yields to a nearer one, a fact to a higher authority, and
// no wish overrules a fact.
import { authorityRank, specificityRank } from "./authority-tier.ts";
import type { ContextItem } from "./context-item.ts";

export type ConflictStrategy = "authority_tier" | "specificity_then_authority";

/** The items are the ones that were passed in, so that a caller finds its own again. */
export type ContextConflict<Item extends ContextItem = ContextItem> = {
  readonly conflict_key: string;
  readonly winner: Item;
  readonly rejected: readonly Item[];
  readonly strategy: ConflictStrategy;
  /** A sentence for people. */
  readonly reason: string;
};

/** One answer for each key, in the order the keys were first seen; an item alone under its key has won. */
export function resolveConflicts<Item extends ContextItem>(items: readonly Item[]): readonly ContextConflict<Item>[] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    if (item.conflict_key === null || item.conflict_key === "") continue;
    const group = groups.get(item.conflict_key);
    if (group) group.push(item);
    else groups.set(item.conflict_key, [item]);
  }
  return [...groups].map(([key, group]) => (group.some(isFact) ? resolveFacts(key, group) : resolveWishes(key, group)));
}

function isFact({ conflict_kind }: ContextItem): boolean {
  return conflict_kind === "authoritative_fact";
}

/** The fact of the highest authority, the earliest of equals; the others stay in the order they came in. */
function resolveFacts<Item extends ContextItem>(key: string, group: readonly Item[]): ContextConflict<Item> {
  const winner = group
    .filter(isFact)
    .reduce((best, fact) => (authorityRank(fact.authority_tier) > authorityRank(best.authority_tier) ? fact : best));
  const rejected = without(group, winner);
  return Object.freeze({
    conflict_key: key,
    winner,
    rejected: Object.freeze(rejected),
    strategy: "authority_tier",
    reason: rejected.length === 0 ? unopposed(key) : factReason(key, winner, rejected),
  });
}

/** The nearest wish, the earliest of equals; the others follow by rank. */
function resolveWishes<Item extends ContextItem>(
  key: string,
  group: readonly [Item, ...Item[]],
): ContextConflict<Item> {
  // Authority decides between equally specific tiers. There are none, so that only the order is left, which sorting keeps.
  const ranked = group.toSorted(
    (left, right) => specificityRank(right.authority_tier) - specificityRank(left.authority_tier),
  );
  const [winner = group[0], ...rejected] = ranked;
  return Object.freeze({
    conflict_key: key,
    winner,
    rejected: Object.freeze(rejected),
    strategy: "specificity_then_authority",
    reason: rejected.length === 0 ? unopposed(key) : wishReason(key, winner, rejected),
  });
}

/** The group without one place of it: the same item may have been passed in twice. */
function without<Item>(group: readonly Item[], winner: Item): Item[] {
  return group.toSpliced(group.indexOf(winner), 1);
}

function unopposed(key: string): string {
  return `Nothing else speaks about "${key}".`;
}

function factReason(key: string, winner: ContextItem, rejected: readonly ContextItem[]): string {
  const facts = rejected.filter(isFact);
  const lower = facts.filter(({ authority_tier }) => authority_tier !== winner.authority_tier);
  const sentences: string[] = [];
  if (lower.length > 0) {
    sentences.push(`"${winner.authority_tier}" outranks ${tiersOf(lower)} for facts about "${key}".`);
  }
  if (facts.length > lower.length) {
    sentences.push(`Of the facts about "${key}" from "${winner.authority_tier}" the first stands.`);
  }
  if (facts.length < rejected.length) sentences.push(`No preference overrules a fact about "${key}".`);
  return sentences.join(" ");
}

function wishReason(key: string, winner: ContextItem, rejected: readonly ContextItem[]): string {
  const broader = rejected.filter(({ authority_tier }) => authority_tier !== winner.authority_tier);
  const sentences: string[] = [];
  if (broader.length > 0) {
    const tiers = tiersOf(broader);
    sentences.push(`"${winner.authority_tier}" is more specific than ${tiers} for preferences about "${key}".`);
  }
  if (broader.length < rejected.length) {
    sentences.push(`Of the preferences about "${key}" from "${winner.authority_tier}" the first stands.`);
  }
  return sentences.join(" ");
}

function tiersOf(items: readonly ContextItem[]): string {
  const tiers = [...new Set(items.map(({ authority_tier }) => `"${authority_tier}"`))];
  return tiers.length < 2 ? tiers.join("") : `${tiers.slice(0, -1).join(", ")} and ${tiers.at(-1)}`;
}
