// The plugins of a gateway: what was discovered, what is built in, and the aliases that the configuration adds.
import { realpathSync } from "node:fs";
import { AGENT_PLUGIN } from "../../contracts/gateway/agent/agentic-event.ts";
import type { Manifest } from "../../contracts/gateway/protocol/manifest.ts";
import { emptyMap } from "../../contracts/json.ts";
import type { LocatedProblem } from "../../yaml/place.ts";
import type { GatewayConfig, PluginSettings } from "../config/gateway-config.ts";
import { followAliases } from "./aliases.ts";
import { DEFAULT_BACKOFF_BASE_MS, DEFAULT_MAX_ATTEMPTS, defaultTimeoutMs } from "./defaults.ts";
import type { DiscoveredPlugin } from "./discover.ts";
import type { Plugin } from "./plugin.ts";
import { scheduleProblem } from "./schedule-problem.ts";

/** A plugin that runs inside the gateway. */
export type BuiltInPlugin = {
  readonly manifest: Manifest;
  /** Where the same program lies as a plugin of its own: discovered there, it does not replace this one. */
  readonly folder?: string;
  readonly run: Plugin["run"];
};

export type PluginSources = {
  readonly config: Pick<GatewayConfig, "plugins" | "service">;
  /** Those of the program: they come before all others, and the first of a name before a second. */
  readonly own: readonly BuiltInPlugin[];
  readonly discovered: ReadonlyMap<string, DiscoveredPlugin>;
  /** By name: those that are shipped. Any other plugin replaces the one of its name. */
  readonly builtIns: ReadonlyMap<string, BuiltInPlugin>;
  /** How a discovered plugin is executed. */
  readonly runDiscovered: (plugin: DiscoveredPlugin) => Plugin["run"];
};

export type ResolvedPlugins = {
  readonly plugins: ReadonlyMap<string, Plugin>;
  /** With any of them the configuration is refused. */
  readonly problems: readonly LocatedProblem[];
  readonly warnings: readonly LocatedProblem[];
};

/** What a name stands for in the end; `file` is empty for what is built in. */
type Base = { readonly manifest: Manifest; readonly run: Plugin["run"]; readonly file: string };

/** Every enabled plugin by name or alias: those in the configuration first, in its order. */
export function resolvePlugins({ config, own, discovered, builtIns, runDiscovered }: PluginSources): ResolvedPlugins {
  const plugins = new Map<string, Plugin>();
  const problems: LocatedProblem[] = [];
  const warnings: LocatedProblem[] = [];
  const bases = collectBases();

  for (const settings of config.plugins.values()) if (settings.enabled) addConfigured(settings);
  for (const [name, base] of bases) if (!config.plugins.has(name)) addUnconfigured(name, base);
  return { plugins, problems, warnings };

  function collectBases(): ReadonlyMap<string, Base> {
    const found = new Map<string, Base>();
    for (const [name, { manifest, run }] of builtIns) found.set(name, { manifest, run, file: "" });
    const taken = new Set<string>();
    for (const { manifest, run } of own) {
      const { name } = manifest;
      if (!taken.has(name)) found.set(name, { manifest, run, file: "" });
      else
        warnings.push({
          ...startOf(PROGRAM),
          message: `The program has two plugins with the name ${name}; the first is used.`,
        });
      taken.add(name);
    }
    for (const [name, plugin] of discovered) {
      if (taken.has(name)) {
        const message = `name: ${name} is the name of a plugin of the program too, which is used.`;
        warnings.push({ ...startOf(plugin.manifestFile), message });
        continue;
      }
      const builtIn = builtIns.get(name);
      if (builtIn && isSameFolder(builtIn.folder, plugin.place.folder)) continue;
      const { manifest, manifestFile: file } = plugin;
      if (builtIn) warnings.push({ ...startOf(file), message: `name: this replaces ${name}, which is built in.` });
      found.set(name, { manifest, run: runDiscovered(plugin), file });
    }
    return found;
  }

  function addConfigured(settings: PluginSettings): void {
    const { name, place } = settings;
    const alias = followAliases(settings, config.plugins, (each) => bases.has(each));
    if ("problem" in alias) {
      problems.push({ ...place, message: alias.problem });
      return;
    }
    const base = bases.get(alias.chain.at(-1) ?? name);
    if (base === undefined) {
      reportMissing(settings);
      return;
    }
    const missing = missingConfig(base.manifest, settings);
    if (missing !== undefined) problems.push({ ...place, message: `The plugin ${name} needs ${missing}.` });
    const isAgent = alias.chain.some((each) => each === AGENT_PLUGIN || config.plugins.get(each)?.agent === true);
    plugins.set(name, createPlugin(name, base, settings, isAgent));
    for (const command of Object.keys(settings.timeouts_ms)) {
      if (base.manifest.commands.some((each) => each.name === command)) continue;
      warnings.push({ ...place, message: `timeouts.${command}: the plugin ${name} has no such command.` });
    }
    for (const schedule of settings.schedules) {
      const problem = scheduleProblem({ name, manifest: base.manifest }, schedule);
      if (problem !== null)
        warnings.push({ ...schedule.place, message: `The schedule "${schedule.id}" is paused: ${problem}` });
    }
  }

  /** One plugin that cannot be loaded keeps no other from running: only what refers to it is refused. */
  function reportMissing({ name, place, schedules }: PluginSettings): void {
    const message = `The plugin ${name} was not found in the plugin roots, or could not be loaded.`;
    warnings.push({ ...place, message });
    for (const schedule of schedules) problems.push({ ...schedule.place, message });
  }

  function addUnconfigured(name: string, base: Base): void {
    const missing = missingConfig(base.manifest, undefined);
    if (missing === undefined) plugins.set(name, createPlugin(name, base, undefined, name === AGENT_PLUGIN));
    else warnings.push({ ...startOf(base.file), message: `The plugin ${name} is left out: it needs ${missing}.` });
  }

  function createPlugin(name: string, base: Base, settings: PluginSettings | undefined, isAgent: boolean): Plugin {
    const { manifest, run } = base;
    return {
      name,
      base: manifest.name,
      manifest,
      config: settings?.config ?? emptyMap,
      isAgent,
      // One job at a time is the default for those that are safe to run concurrently too.
      parallelism: isAgent ? 1 : Math.min(settings?.parallelism ?? 1, config.service.max_workers),
      maxAttempts: settings?.retry.max_attempts ?? DEFAULT_MAX_ATTEMPTS,
      backoffBaseMs: settings?.retry.backoff_base_ms ?? DEFAULT_BACKOFF_BASE_MS,
      timeoutsMs: timeouts(manifest, settings?.timeouts_ms ?? {}),
      notifyOnComplete: settings?.notify_on_complete ?? false,
      run,
    };
  }
}

/** For each command of the manifest. */
function timeouts(manifest: Manifest, configured: PluginSettings["timeouts_ms"]): Plugin["timeoutsMs"] {
  const byCommand = manifest.commands.map(({ name }) => {
    const override = Object.hasOwn(configured, name) ? configured[name] : undefined;
    return [name, override ?? defaultTimeoutMs(name)] as const;
  });
  return Object.fromEntries(byCommand);
}

/** Names the required keys of `config` that are absent or null. */
function missingConfig(manifest: Manifest, settings: PluginSettings | undefined): string | undefined {
  const config = settings?.config ?? emptyMap;
  const missing = manifest.required_config.filter((key) => !Object.hasOwn(config, key) || config[key] === null);
  return missing.length === 0 ? undefined : missing.map((key) => `config.${key}`).join(" and ");
}

function isSameFolder(one: string | undefined, other: string): boolean {
  try {
    return one !== undefined && realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}

/** Stands for a file where a plugin comes from none. */
const PROGRAM = "gateway";

function startOf(file: string) {
  return { file, line: 0, column: 0 };
}
