// Plugins as the gateway runs them, with timers and a way to start processes that the test chooses.
import { discoverPlugins } from "../../src/gateway/plugins/discover.ts";
import { pluginEnvironment } from "../../src/gateway/plugins/process/environment.ts";
import type { BuiltInPlugin } from "../../src/gateway/plugins/resolve-plugins.ts";
import { runAsSubprocess, type SubprocessOptions } from "../../src/gateway/plugins/subprocess-plugin.ts";
import { type PluginFiles, pluginRoot, writePlugin } from "../plugin-folders.ts";

/** For `setup.plugins`: programs in a folder of their own. */
export function injectedPlugins(
  plugins: Readonly<Record<string, PluginFiles>>,
  injected: Pick<SubprocessOptions, "after" | "spawn">,
): readonly BuiltInPlugin[] {
  const root = pluginRoot();
  for (const [name, files] of Object.entries(plugins)) writePlugin(root, name, files);
  const environment = pluginEnvironment(process.env, []);
  const found = discoverPlugins([root], { strict: false, allowSymlinks: false });
  if (found.plugins.size !== Object.keys(plugins).length) throw new Error(JSON.stringify(found.warnings));
  return [...found.plugins.values()].map((plugin) => ({
    manifest: plugin.manifest,
    run: runAsSubprocess(plugin, { environment, ...injected }),
  }));
}
