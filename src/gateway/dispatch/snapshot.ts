// A configuration that was read and checked as a whole: plugins, pipelines, settings. Never changed; a reload makes another.
import type { PipelineGraph } from "../../contracts/gateway/pipelines/pipeline-graph.ts";
import type { LocatedProblem } from "../../yaml/place.ts";
import { configError } from "../config/config-error.ts";
import type { GatewayConfig } from "../config/gateway-config.ts";
import { readGatewayConfig } from "../config/load-config.ts";
import type { KnownPlugin } from "../pipelines/compile/check-draft.ts";
import { loadPipelines } from "../pipelines/load-pipelines.ts";
import { loadPlugins } from "../plugins/load-plugins.ts";
import type { Plugin } from "../plugins/plugin.ts";
import type { BuiltInPlugin } from "../plugins/resolve-plugins.ts";
import type { RoutingTables } from "./commit/route-events.ts";
import { maxTreeJobs } from "./max-tree-jobs.ts";

export type Snapshot = {
  readonly config: GatewayConfig & { readonly service: { readonly max_tree_jobs: number } };
  readonly plugins: ReadonlyMap<string, Plugin>;
  readonly graph: PipelineGraph;
  readonly tables: RoutingTables;
  readonly warnings: readonly LocatedProblem[];
};

export type SnapshotOptions = {
  /** The path of a file, or the configuration as an object. */
  readonly source: string | object;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Told of every variable whose value stands in the configuration. */
  readonly onVariable?: (name: string, value: string) => void;
  /** Told of every file and folder that is looked for, whether or not it is there. */
  readonly onFile?: (path: string) => void;
  /** A folder that is searched for plugins after the configured ones. */
  readonly shippedPlugins?: string;
  /** Plugins that the program defines itself; they come before all others. */
  readonly own: readonly BuiltInPlugin[];
  /** The shipped plugins that run inside the gateway; made for a configuration, which some of them need. */
  readonly builtIns: (config: GatewayConfig) => ReadonlyMap<string, BuiltInPlugin>;
  /** More that has to hold of a configuration: tokens of agents, for example. */
  readonly check?: (
    config: GatewayConfig,
    plugins: ReadonlyMap<string, Plugin>,
    graph: PipelineGraph,
  ) => Promise<readonly LocatedProblem[]>;
};

/** Throws `gateway_config_invalid`, which lists every problem with its place. */
export async function loadSnapshot(options: SnapshotOptions): Promise<Snapshot> {
  const { source, env, cwd, shippedPlugins, own, builtIns, check, onFile } = options;
  const read = readGatewayConfig(source, { env: observed(env, options.onVariable), cwd, onFile });
  if ("problems" in read) throw configError(read.problems);
  const shipped = shippedPlugins === undefined ? [] : [shippedPlugins];
  const config = { ...read.config, plugin_roots: [...read.config.plugin_roots, ...shipped] };
  const loaded = loadPlugins(config, { environment: env, own, builtIns: builtIns(config), onFile });
  const known = new Map([...loaded.plugins].map(([name, plugin]) => [name, describePlugin(plugin)]));
  const pipelines = loadPipelines({ ...config, plugins: known });
  const found = "problems" in pipelines ? pipelines.problems : [];
  const problems = [...loaded.problems, ...webhookProblems(config, loaded.plugins), ...found];
  // A plugin that is missing may be one whose manifest was refused.
  const refused = loaded.warnings.filter(({ line }) => line > 0);
  if (problems.length > 0 || "problems" in pipelines) throw configError([...problems, ...refused]);
  const { graph } = pipelines;
  const more = (await check?.(config, loaded.plugins, graph)) ?? [];
  if (more.length > 0) throw configError([...more, ...refused]);
  const { plugins } = loaded;
  const { service } = config;
  const max_tree_jobs = service.max_tree_jobs ?? maxTreeJobs(plugins.values(), graph);
  return {
    config: { ...config, service: { ...service, max_tree_jobs } },
    ...{ plugins, graph },
    tables: { graph, plugins, commands: known, hookMaxDepth: service.hook_max_depth },
    warnings: [...config.warnings, ...loaded.warnings, ...pipelines.warnings],
  };
}

/** The environment, of which is told what is read. */
function observed(env: SnapshotOptions["env"], onVariable: SnapshotOptions["onVariable"]): SnapshotOptions["env"] {
  if (!onVariable) return env;
  return new Proxy(
    { ...env },
    {
      get(values, name) {
        const value = typeof name === "string" && Object.hasOwn(values, name) ? values[name] : undefined;
        if (value !== undefined) onVariable(String(name), value);
        return value;
      },
    },
  );
}

function describePlugin({ base, isAgent, manifest }: Plugin): KnownPlugin {
  return { base, isAgent, commands: manifest.commands.map(({ name }) => name) };
}

function webhookProblems(config: GatewayConfig, plugins: ReadonlyMap<string, Plugin>): readonly LocatedProblem[] {
  return config.webhooks.flatMap(({ path, plugin, place }) => {
    const commands = plugins.get(plugin)?.manifest.commands ?? [];
    if (commands.some(({ name }) => name === "handle")) return [];
    const message = plugins.has(plugin)
      ? `The webhook ${path} names the plugin ${plugin}, which has no command handle.`
      : `The webhook ${path} names the plugin ${plugin}, which is not there.`;
    return [{ ...place, message }];
  });
}
