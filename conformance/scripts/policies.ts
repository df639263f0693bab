// The policies of tools with those who have a say in them: providers, checkers, memories and filters that answer what
// a vector says.
import { createHooks } from "../../src/contracts/hooks.ts";
import type { UnknownMap } from "../../src/contracts/json.ts";
import * as actionPolicy from "../../src/contracts/tools/action-policy.ts";
import { createToolSources } from "../../src/contracts/tools/sources.ts";
import * as tiers from "../../src/contracts/tools/tiers.ts";
import * as visibility from "../../src/contracts/tools/visibility.ts";

export type VisibilityScript = {
  tools: UnknownMap;
  context?: UnknownMap;
  providers?: readonly unknown[];
  access_allowed?: readonly string[];
  write_categories?: readonly unknown[];
};

export function resolveVisibility(script: VisibilityScript) {
  const { tools, context = {}, providers = [], access_allowed, write_categories } = script;
  return visibility.resolve(tools, context, {
    fragments: providers,
    ...(access_allowed && { isAccessible: (name: string) => access_allowed.includes(name) }),
    ...(write_categories && { writeCategories: write_categories }),
  });
}

export type ActionScript = {
  context: UnknownMap;
  providers?: readonly unknown[];
  remembered?: UnknownMap;
  filter_returns?: unknown;
};

export function resolveAction(script: ActionScript) {
  const { context, providers = [], remembered } = script;
  return actionPolicy.resolve(context, {
    providers: providers.map((answer) => () => answer),
    memory: remembered ? { recall: ({ tool_name }) => remembered[tool_name] } : null,
    ...("filter_returns" in script && { filter: () => script.filter_returns }),
  });
}

export type TierScript = { tools: UnknownMap; context?: UnknownMap; top_used?: unknown; hard_cap?: unknown };

export function resolveTiers({ tools, context, top_used, hard_cap }: TierScript) {
  return tiers.resolve(tools, context, { topUsed: top_used, hardCap: hard_cap });
}

export type SourcesScript = {
  sources: readonly { slug: string; tools: unknown; priority?: number }[];
  unregister?: readonly string[];
  order?: unknown;
  context?: UnknownMap;
};

export async function gatherTools(script: SourcesScript) {
  const hooks = createHooks();
  const registry = createToolSources({ hooks });
  for (const { tools, ...source } of script.sources) registry.register({ ...source, tools: () => tools });
  for (const slug of script.unregister ?? []) registry.unregister(slug);
  if ("order" in script) hooks.filter("toolSourceOrder", () => script.order);
  const tools = await registry.gather(script.context);
  return { names: Object.keys(tools), tools };
}
