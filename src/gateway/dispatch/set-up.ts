// What `createHoldfast({ gateway })` takes, and the gateway that it opens.
import { dirname, join, resolve } from "node:path";
import type { Backend, SqlDriver } from "../../backend/sql-driver.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { PluginRequest } from "../../contracts/gateway/protocol/request.ts";
import type { LogLevel } from "../../contracts/gateway/protocol/response.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import type { OnCrashPoint } from "../../engine/crash-points.ts";
import type { Membership } from "../../engine/membership.ts";
import type { Model } from "../../models/model.ts";
import type { Host } from "../../threads/host.ts";
import type { KnownSecrets } from "../../threads/secrets/known-secrets.ts";
import { isSecretName } from "../../threads/secrets/secret-marks.ts";
import { urlPasswords } from "../../threads/secrets/url-passwords.ts";
import type { Tokens } from "../../trust/tokens.ts";
import { demoPlanner } from "../agent/planner/demo-planner.ts";
import { modelPlanner } from "../agent/planner/model-planner.ts";
import type { Planner } from "../agent/planner/planner.ts";
import type { BuiltInPlugin } from "../plugins/resolve-plugins.ts";
import { agentTokenProblems } from "./agents/agent-tokens.ts";
import { builtInPlugins, SHIPPED_PLUGINS } from "./built-in-plugins.ts";
import { learnSecrets } from "./config-secrets.ts";
import type { LoggedJob } from "./deps.ts";
import { type OpenedGateway, openGateway } from "./open-gateway.ts";

export type GatewaySetup = {
  /** The path of a YAML file, or the configuration as an object. */
  readonly config: string | object;
  /** What decides for agents, in the place of a model. */
  readonly planner?: Planner;
  /** Plugins that the program defines itself, made by `gatewayPlugin()`. */
  readonly plugins?: readonly BuiltInPlugin[];
  /** Where agent runs keep their files; `workspaces` beside the database unless given. */
  readonly workspaceRoot?: string;
  /** False where another machine runs the jobs of agents, whose files are there; true unless given. */
  readonly runsAgents?: boolean;
  /** Told what plugins log, and what the gateway warns of. Warnings and errors are printed unless given. */
  readonly onLog?: (line: GatewayLogLine) => void;
};

export type GatewayLogLine = LoggedJob & { readonly level: LogLevel; readonly message: string };

export type SetUpOptions = {
  readonly setup: string | GatewaySetup | object;
  readonly host: Host;
  readonly backend: Pick<Backend, "keyFile" | "clock">;
  readonly driver: SqlDriver;
  readonly membership: Membership;
  readonly tokens: Tokens;
  /** The model that an agent's configuration names, or the one that the environment chooses; null where that is the demo. */
  readonly chooseModel: (config: JsonMap) => Promise<Model | null>;
  readonly secrets: KnownSecrets;
  readonly runs: boolean;
  readonly pollMs: number;
  readonly drainMs: number;
  readonly onCrashPoint: OnCrashPoint;
};

export async function setUpGateway(options: SetUpOptions): Promise<OpenedGateway> {
  const { host, backend, driver, membership, chooseModel, tokens } = options;
  const setup = readSetup(options.setup);
  const cwd = process.cwd();
  // Those of the gateway are secrets of the whole installation: what is reported of it may quote them.
  const { secrets } = options;
  const env = process.env;
  const root = workspaceRoot(setup, backend, cwd);
  const redact = (text: string) => secrets.clean(text);
  const planner = async ({ config }: PluginRequest) => {
    const model = await chooseModel(config);
    return model === null ? demoPlanner : modelPlanner(model);
  };
  return await openGateway({
    source: setup.config,
    ...{ env, cwd, redact, driver, membership },
    shippedPlugins: SHIPPED_PLUGINS,
    own: setup.plugins ?? [],
    stores: host.stores.gateway,
    sealing: host.sealing,
    workspaceRoot: root,
    builtIns: (running) => (config) =>
      builtInPlugins(running, {
        planner: setup.planner ?? planner,
        workspaceRoot: config.service.workspace_root ?? root,
        now: host.now,
      }),
    onVariable(name, value) {
      if (isSecretName(name)) secrets.add(value);
      for (const password of urlPasswords(value)) secrets.add(password);
    },
    check: async (config, plugins, graph) => {
      learnSecrets(config, graph, secrets);
      const { authority } = host.trust;
      return await agentTokenProblems({ config, plugins, env, tokens, authority, secrets });
    },
    now: host.now,
    clock: backend.clock,
    runs: options.runs,
    runsAgents: setup.runsAgents ?? true,
    pollMs: options.pollMs,
    leaseMs: host.leaseMs,
    drainMs: options.drainMs,
    onCrashPoint: options.onCrashPoint,
    report: host.report,
    log: logging(setup.onLog ?? printLine, redact),
  });
}

function readSetup(setup: SetUpOptions["setup"]): GatewaySetup {
  if (typeof setup === "string") return { config: setup };
  if (!isMap(setup)) throw holdfastError("invalid_argument", "gateway must be a path, a configuration or { config }.");
  return "config" in setup ? (setup as unknown as GatewaySetup) : { config: setup };
}

function workspaceRoot(
  { workspaceRoot: root }: GatewaySetup,
  { keyFile }: Pick<Backend, "keyFile">,
  cwd: string,
): string {
  if (root !== undefined) return resolve(cwd, root);
  return join(keyFile === undefined ? resolve(cwd, ".holdfast") : resolve(cwd, dirname(keyFile)), "workspaces");
}

/** What is told must not depend on whoever listens. */
function logging(onLog: (line: GatewayLogLine) => void, redact: (text: string) => string) {
  return (level: LogLevel, message: string, { id, plugin, command }: LoggedJob) => {
    try {
      onLog({ level, message: redact(message), id, plugin, command });
    } catch {
      // A log that fails changes nothing.
    }
  };
}

function printLine({ level, message, id, plugin, command }: GatewayLogLine): void {
  if (level !== "warn" && level !== "error") return;
  console.error(`holdfast: ${level}: ${plugin}.${command}${id === "" ? "" : ` (job ${id})`}: ${message}`);
}
