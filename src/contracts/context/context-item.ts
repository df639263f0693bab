// One thing that was retrieved for a prompt, with whose word it is, where it came from and what it may contradict.
import { lowered, scalarText, trim } from "../coerce.ts";
import { holdfastError } from "../error.ts";
import { asMap, emptyMap, type JsonMap, seal, snapshotMap } from "../json.ts";
import { normalizeMetadata } from "../tools/citations.ts";
import { type AuthorityTier, normalize as normalizeTier } from "./authority-tier.ts";

const conflictKinds = ["preference", "authoritative_fact"] as const;

/** A wish may be overruled by a nearer one; a fact only by a higher authority. */
export type ConflictKind = (typeof conflictKinds)[number];

export type ContextItem = {
  readonly content: string;
  /** What it applies to, in the host's own words. */
  readonly scope: JsonMap;
  readonly authority_tier: AuthorityTier;
  readonly provenance: JsonMap;
  readonly conflict_kind: ConflictKind;
  /** Items with one key speak about the same thing; without a key an item contradicts nothing. */
  readonly conflict_key: string | null;
  readonly metadata: JsonMap;
};

/** A frozen item; throws `invalid_agent_context_item` when its tier or its kind is unknown. */
export function normalize(value: unknown): ContextItem {
  const given = asMap(value) ?? emptyMap;
  const authority_tier = normalizeTier(given.authority_tier);
  const conflict_kind = kindOf(given.conflict_kind ?? "preference");
  return seal({
    content: scalarText(given.content) ?? "",
    scope: snapshotMap(given.scope),
    authority_tier,
    provenance: snapshotMap(given.provenance),
    conflict_kind,
    conflict_key: scalarText(given.conflict_key) ?? null,
    metadata: normalizeMetadata(given.metadata),
  });
}

function kindOf(value: unknown): ConflictKind {
  const word = typeof value === "string" ? lowered(trim(value)) : undefined;
  const kind = conflictKinds.find((known) => known === word);
  if (kind === undefined) {
    throw holdfastError("invalid_agent_context_item", `the conflict kind must be one of ${conflictKinds.join(", ")}`);
  }
  return kind;
}
