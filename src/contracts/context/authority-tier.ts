// Whose word a piece of context is. Authority says who is right about a fact; specificity says whose wish is nearest to
// what is being done, and is not the reverse of it.
import { lowered, trim } from "../coerce.ts";
import { holdfastError } from "../error.ts";

const ranks = {
  platform_authority: { authority: 8, specificity: 1, governance: true },
  support_authority: { authority: 7, specificity: 2, governance: true },
  workspace_shared: { authority: 6, specificity: 6, governance: false },
  user_workspace_private: { authority: 5, specificity: 7, governance: false },
  user_global: { authority: 4, specificity: 5, governance: false },
  agent_identity: { authority: 3, specificity: 3, governance: false },
  agent_memory: { authority: 2, specificity: 4, governance: false },
  conversation: { authority: 1, specificity: 8, governance: false },
} as const;

export type AuthorityTier = keyof typeof ranks;

/** All tiers, highest authority first. */
export const authorityTiers = Object.freeze(Object.keys(ranks)) as readonly AuthorityTier[];

/** The tier that a text names; throws `invalid_agent_context_item` when there is none. */
export function normalize(value: unknown): AuthorityTier {
  const word = typeof value === "string" ? lowered(trim(value)) : undefined;
  const tier = authorityTiers.find((known) => known === word);
  if (tier === undefined) {
    throw holdfastError("invalid_agent_context_item", `the authority tier must be one of ${authorityTiers.join(", ")}`);
  }
  return tier;
}

/** The higher, the more right about facts. */
export function authorityRank(tier: AuthorityTier): number {
  return ranks[tier].authority;
}

/** The higher, the nearer to what is being done. No two tiers share a rank. */
export function specificityRank(tier: AuthorityTier): number {
  return ranks[tier].specificity;
}

/** True for those who govern the place rather than work in it. */
export function isGovernance(tier: AuthorityTier): boolean {
  return ranks[tier].governance;
}
