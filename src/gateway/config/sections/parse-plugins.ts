// The `plugins` block.
import { AGENT_PLUGIN } from "../../../contracts/gateway/agent/agentic-event.ts";
import { isCommandName, isPluginName } from "../../../contracts/gateway/protocol/manifest.ts";
import { emptyMap } from "../../../contracts/json.ts";
import type { Report } from "../../../yaml/report.ts";
import type { Environment } from "../environment.ts";
import { readEnvironmentRef } from "../environment-ref.ts";
import type { PluginSettings } from "../gateway-config.ts";
import { parseSchedules } from "./parse-schedules.ts";
import { LONGEST_TIMER_MS, openSection, type Section } from "./section.ts";

export type PluginsContext = { readonly env: Environment; readonly max_workers: number; readonly report: Report };

export function parsePlugins(block: Section | undefined, context: PluginsContext): Map<string, PluginSettings> {
  const plugins = new Map<string, PluginSettings>();
  if (block === undefined) return plugins;
  for (const name of block.keys) {
    const section = openPlugin(block, name, context.report);
    if (!isPluginName(name)) {
      block.problem(name, "cannot be the name of a plugin: letters, digits, _, - and . are, and core.* is reserved.");
    } else if (section !== undefined) plugins.set(name, parsePlugin(name, section, context));
  }
  return withAgents(plugins, block);
}

/** A plugin without settings is written `name:`. */
function openPlugin(block: Section, name: string, report: Report): Section | undefined {
  const node = block.node(name);
  if (node === undefined) {
    return openSection(
      { kind: "map", place: block.placeOf(name), entries: new Map() },
      `${block.path}.${name}`,
      report,
    );
  }
  return block.section(name);
}

function parsePlugin(name: string, plugin: Section, { env, max_workers }: PluginsContext): PluginSettings {
  if (plugin.node("schedule") !== undefined) {
    plugin.problem("schedule", "is not supported any more; write schedules, a list of schedules.");
  }
  const settings = {
    name,
    uses: plugin.text("uses") ?? null,
    enabled: plugin.flag("enabled") ?? true,
    agent: plugin.flag("agent") ?? false,
    config: plugin.json("config") ?? emptyMap,
    parallelism: readParallelism(plugin, max_workers),
    timeouts_ms: readTimeouts(plugin.section("timeouts")),
    retry: readRetry(plugin.section("retry")),
    notify_on_complete: plugin.flag("notify_on_complete") ?? false,
    token_ref: readEnvironmentRef(plugin, "token_ref", env)?.name ?? null,
    max_outstanding_polls: plugin.count("max_outstanding_polls") ?? 1,
    circuit_breaker: readBreaker(plugin.section("circuit_breaker")),
    schedules: parseSchedules(plugin.sections("schedules")),
    place: plugin.place,
  };
  plugin.finish();
  return settings;
}

function readParallelism(plugin: Section, max_workers: number): number | null {
  const parallelism = plugin.count("parallelism");
  if (parallelism === undefined) return null;
  if (parallelism > max_workers) {
    plugin.warning("parallelism", `is more than service.max_workers; ${max_workers} is taken.`);
  }
  return Math.min(parallelism, max_workers);
}

function readTimeouts(timeouts: Section | undefined): Record<string, number> {
  const byCommand: [string, number][] = [];
  for (const command of timeouts?.keys ?? []) {
    if (!isCommandName(command)) timeouts?.problem(command, "is not the name of a command.");
    const timeout = timeouts?.duration(command, { most: LONGEST_TIMER_MS });
    if (timeout !== undefined) byCommand.push([command, timeout]);
  }
  return Object.fromEntries(byCommand);
}

function readRetry(retry: Section | undefined): PluginSettings["retry"] {
  const settings = {
    max_attempts: retry?.count("max_attempts", { most: 1_000 }) ?? null,
    backoff_base_ms: retry?.duration("backoff_base", { least: 0 }) ?? null,
  };
  retry?.finish();
  return settings;
}

function readBreaker(breaker: Section | undefined): PluginSettings["circuit_breaker"] {
  const settings = {
    threshold: breaker?.count("threshold") ?? 3,
    reset_after_ms: breaker?.duration("reset_after") ?? 30 * 60_000,
  };
  breaker?.finish();
  return settings;
}

/** Which plugins are agents: by name, by setting, or because what they are an alias of is one. */
function withAgents(plugins: ReadonlyMap<string, PluginSettings>, block: Section): Map<string, PluginSettings> {
  const settled = new Map<string, PluginSettings>();
  for (const [name, settings] of plugins) {
    const chain = aliasChain(settings, plugins);
    if (chain === "cycle") block.section(name)?.problem("uses", "leads back to the plugin itself.");
    const names = chain === "cycle" ? [name] : chain;
    const agent = names.some((each) => each === AGENT_PLUGIN || (plugins.get(each)?.agent ?? false));
    settled.set(name, agent ? serial(settings, block) : settings);
  }
  return settled;
}

/** An agent's turns replace its state as a whole, so that two at once would lose one. */
function serial(settings: PluginSettings, block: Section): PluginSettings {
  if ((settings.parallelism ?? 1) > 1) {
    block.section(settings.name)?.warning("parallelism", "is 1 for a plugin that drives agent runs.");
  }
  return { ...settings, agent: true, parallelism: settings.parallelism === null ? null : 1 };
}

/** The name, what it is an alias of, and so on. */
function aliasChain(settings: PluginSettings, plugins: ReadonlyMap<string, PluginSettings>): string[] | "cycle" {
  const names = [settings.name];
  for (let uses = settings.uses; uses !== null; uses = plugins.get(uses)?.uses ?? null) {
    if (uses === settings.name) return "cycle";
    if (names.includes(uses)) break;
    names.push(uses);
  }
  return names;
}
