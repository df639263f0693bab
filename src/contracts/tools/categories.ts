// The categories of a tool, by which a policy speaks of many tools at once.
import { stringList, trimmed } from "../coerce.ts";
import { perDefinition } from "./per-definition.ts";

/** Looks up the category under which an ability is registered. */
export type AbilityCategory = (ability: string) => string | undefined;

/** The categories a tool states, then those of the registered abilities it names; each once. */
export function categoriesOf(definition: unknown, abilityCategory?: AbilityCategory): readonly string[] {
  const { categories, abilities } = statedBy(definition);
  if (abilityCategory === undefined || abilities.length === 0) return categories;
  // Looked up each time: abilities come and go while a declaration stays.
  const registered = abilities.flatMap((ability) => trimmed(abilityCategory(ability)) ?? []);
  return [...new Set([...categories, ...registered])];
}

/** True when some of the tool's categories may depend on which abilities are registered. */
export function namesAbilities(definition: unknown): boolean {
  return statedBy(definition).abilities.length > 0;
}

const statedBy = perDefinition(
  ({ category, ability_category, categories, ability_categories, ability, abilities }) => ({
    categories: united(category, ability_category, categories, ability_categories),
    abilities: united(ability, abilities),
  }),
);

function united(...lists: unknown[]): readonly string[] {
  return Object.freeze([...new Set(lists.flatMap(stringList))]);
}
