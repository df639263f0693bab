// Aliases: `uses:` runs another plugin under a name of its own, with its own configuration and state.
import { isPluginName } from "../../contracts/gateway/protocol/manifest.ts";
import type { PluginSettings } from "../config/gateway-config.ts";

export type AliasOutcome =
  /** From the name itself to the plugin that it stands for in the end. */
  { readonly chain: readonly string[] } | { readonly problem: string };

/**
 * Follows `uses:` through the configuration until a name that is discovered or built in (`exists`). A plugin without
 * `uses:` is a chain of one name, whether it exists or not.
 */
export function followAliases(
  settings: PluginSettings,
  configured: ReadonlyMap<string, PluginSettings>,
  exists: (name: string) => boolean,
): AliasOutcome {
  const { name, uses } = settings;
  if (uses === null) return { chain: [name] };
  if (uses === name) return { problem: `The alias ${name} cannot use itself.` };
  if (exists(name)) return { problem: `The alias ${name} would hide the plugin of that name; choose another name.` };
  const chain = [name];
  for (let next: string | null = uses; next !== null; next = configured.get(next)?.uses ?? null) {
    if (chain.includes(next))
      return { problem: `The alias ${name} leads in a circle: ${[...chain, next].join(", ")}.` };
    chain.push(next);
    // What begins with "core." is part of the gateway.
    if (!isPluginName(next)) return { problem: `The plugin ${next} cannot have aliases.` };
    if (exists(next)) return { chain };
  }
  return { problem: `The plugin ${chain.at(-1)}, which ${name} is an alias of, was not found.` };
}
