// All plugins of a configuration: found, checked, and ready to run.
import type { GatewayConfig } from "../config/gateway-config.ts";
import { discoverPlugins } from "./discover.ts";
import { type Environment, isWithheld, pluginEnvironment } from "./process/environment.ts";
import { pathToNode } from "./process/path-to-node.ts";
import { type BuiltInPlugin, type ResolvedPlugins, resolvePlugins } from "./resolve-plugins.ts";
import { runAsSubprocess, type SubprocessOptions } from "./subprocess-plugin.ts";

export type LoadOptions = Pick<SubprocessOptions, "after" | "spawn"> & {
  /** The environment of the gateway itself. */
  readonly environment: Environment;
  readonly own: readonly BuiltInPlugin[];
  readonly builtIns: ReadonlyMap<string, BuiltInPlugin>;
  /** Told of every folder, manifest and entry point that is looked for, whether or not it is there. */
  readonly onFile?: ((path: string) => void) | undefined;
};

/** Never throws; the problems are for the configuration to be refused with. Later changes to files are not followed. */
export function loadPlugins(config: GatewayConfig, options: LoadOptions): ResolvedPlugins {
  const { environment, own, builtIns, onFile, ...injected } = options;
  const { strict_protocol, exit_code_policy, allow_symlinks, plugin_env_passthrough } = config.service;
  const discovery = discoverPlugins(config.plugin_roots, {
    strict: strict_protocol,
    allowSymlinks: allow_symlinks,
    optionalRoot: config.optional_root,
    onFile,
  });
  const allowed = pluginEnvironment(environment, plugin_env_passthrough);
  const visible = { ...allowed, ...(allowed.PATH && { PATH: pathToNode(allowed.PATH, process.execPath) }) };
  const resolved = resolvePlugins({
    ...{ config, own },
    discovered: discovery.plugins,
    builtIns,
    runDiscovered: (plugin) =>
      runAsSubprocess(plugin, { ...injected, environment: visible, strict_protocol, exit_code_policy }),
  });
  const withheld = plugin_env_passthrough.filter(isWithheld).map((name) => ({
    ...{ file: config.folder, line: 0, column: 0 },
    message: `service.plugin_env_passthrough: ${name} never reaches a plugin.`,
  }));
  return { ...resolved, warnings: [...discovery.warnings, ...withheld, ...resolved.warnings] };
}
