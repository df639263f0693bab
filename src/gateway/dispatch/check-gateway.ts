// Checks a configuration without running anything.
import { sep } from "node:path";
import { HoldfastError } from "../../contracts/error.ts";
import { AGENT_PLUGIN } from "../../contracts/gateway/agent/agentic-event.ts";
import type { LocatedProblem } from "../../yaml/place.ts";
import { agentManifest } from "../agent/agent-manifest.ts";
import type { BuiltInPlugin } from "../plugins/resolve-plugins.ts";
import { SHIPPED_PLUGINS } from "./built-in-plugins.ts";
import { loadSnapshot, type Snapshot } from "./snapshot.ts";

export type GatewayCheck = (
  | {
      readonly valid: true;
      readonly plugins: readonly string[];
      readonly pipelines: readonly string[];
      readonly warnings: readonly LocatedProblem[];
    }
  /** A line for each problem, with its place. */
  | { readonly valid: false; readonly problems: readonly string[] }
) & {
  /**
   * The files and folders that were looked for, whether or not they are there: of the configuration, and of plugins that are
   * not shipped. What changes in none of them changes nothing for the gateway.
   */
  readonly files: readonly string[];
};

export type CheckOptions = {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** As they are passed to createHoldfast({ gateway }). */
  readonly plugins?: readonly BuiltInPlugin[];
  readonly workspaceRoot?: string;
  readonly runsAgents?: boolean;
  /** True where several machines share the database. */
  readonly isShared?: boolean;
};

/** Reads a configuration as a gateway would: files, plugins and pipelines. Never throws for what is wrong with it. */
export async function checkGateway(source: string | object, options: CheckOptions = {}): Promise<GatewayCheck> {
  const { env = process.env, cwd = process.cwd(), plugins = [] } = options;
  const agent: BuiltInPlugin = {
    manifest: agentManifest,
    folder: `${SHIPPED_PLUGINS}/${AGENT_PLUGIN}`,
    run: neverRuns,
  };
  const files = new Set<string>();
  try {
    const snapshot = await loadSnapshot({
      source,
      onFile: (path) => isShipped(path) || files.add(path),
      env,
      cwd,
      shippedPlugins: SHIPPED_PLUGINS,
      own: plugins,
      builtIns: () => new Map([[AGENT_PLUGIN, agent]]),
    });
    const agents = [...snapshot.config.plugins.values()].filter(({ name }) => snapshot.plugins.get(name)?.isAgent);
    const [first] = mayMissFiles(snapshot, options) ? agents : [];
    return {
      valid: true,
      files: [...files],
      plugins: [...snapshot.plugins.keys()],
      pipelines: [...snapshot.graph.pipelines.keys()],
      warnings: [...snapshot.warnings, ...(first ? [{ ...first.place, message: SHARED_WORKSPACES }] : [])],
    };
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError) || thrown.code !== "gateway_config_invalid") throw thrown;
    const [, ...problems] = thrown.detail.split("\n");
    return { valid: false, files: [...files], problems: problems.length > 0 ? problems : [thrown.detail] };
  }
}

function isShipped(path: string): boolean {
  return path === SHIPPED_PLUGINS || path.startsWith(`${SHIPPED_PLUGINS}${sep}`);
}

/** Whether a turn of an agent here may look for files that are on another machine. */
function mayMissFiles(
  { config }: Snapshot,
  { isShared = false, runsAgents = true, workspaceRoot }: CheckOptions,
): boolean {
  return isShared && runsAgents && workspaceRoot === undefined && config.service.workspace_root === null;
}

const SHARED_WORKSPACES =
  "Agent runs keep files: with several machines, set service.workspace_root to a folder that all of them share, or let one machine run agents and their tools.";

function neverRuns(): never {
  throw new Error("A configuration that is only checked runs nothing.");
}
