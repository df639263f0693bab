// What the vectors about context ask for in several questions at once, with sections that write what a case says.
import * as authorityTier from "../../src/contracts/context/authority-tier.ts";
import { resolveConflicts } from "../../src/contracts/context/conflict.ts";
import * as contextItem from "../../src/contracts/context/context-item.ts";
import {
  type ContextSectionArguments,
  type ContextSections,
  createContextSections,
  hasContent,
} from "../../src/contracts/context/context-sections.ts";
import * as retrievalPolicy from "../../src/contracts/context/retrieval-policy.ts";
import type { UnknownMap } from "../../src/contracts/json.ts";

export function rankTier({ tier: given }: { tier: unknown }) {
  const tier = authorityTier.normalize(given);
  return {
    tier,
    authority_rank: authorityTier.authorityRank(tier),
    specificity_rank: authorityTier.specificityRank(tier),
    governance: authorityTier.isGovernance(tier),
  };
}

export function resolveItems({ items }: { items: readonly unknown[] }) {
  return resolveConflicts(items.map(contextItem.normalize));
}

export function askPolicy({ policy: given, fallback }: { policy: unknown; fallback?: unknown }) {
  const policy = retrievalPolicy.normalize(given, fallback);
  return {
    policy,
    always: retrievalPolicy.isAlwaysInjected(policy),
    retrievable: retrievalPolicy.isRetrievable(policy),
  };
}

type Section = {
  context_slug: string;
  section_slug: string;
  priority: number;
  output?: unknown;
  args?: ContextSectionArguments;
};

export function registerSection(section: Section) {
  const registered = register(createContextSections(), section);
  if (registered === null) return null;
  const { callback: _callback, ...record } = registered;
  return record;
}

export async function composeSections(given: {
  sections: readonly Section[];
  context_slug: string;
  context?: UnknownMap;
}) {
  const registry = createContextSections();
  for (const section of given.sections) register(registry, section);
  const composed = await registry.compose(given.context_slug, given.context);
  return {
    slug: composed.slug,
    content: composed.content,
    has_content: hasContent(composed),
    metadata: composed.metadata,
    section_slugs: composed.sections.map(({ slug }) => slug),
  };
}

function register(registry: ContextSections, { context_slug, section_slug, priority, output, args }: Section) {
  return registry.register(context_slug, section_slug, priority, () => output, args);
}
