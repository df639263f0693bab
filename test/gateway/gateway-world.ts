// A gateway for a test: plugins that are functions, a planner that follows a script, and all that the gateway says.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import type { PluginRequest } from "../../src/contracts/gateway/protocol/request.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import type { Planner } from "../../src/gateway/agent/planner/planner.ts";
import { type ScriptedPlannerStep, scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import type { GatewayLogLine } from "../../src/gateway/dispatch/set-up.ts";
import type { AgentRunView, Gateway, JobView, Submitter } from "../../src/gateway/gateway.ts";
import {
  type CommandAnswer,
  gatewayPlugin,
  type InProcessCommand,
} from "../../src/gateway/plugins/in-process-plugin.ts";
import type { BuiltInPlugin } from "../../src/gateway/plugins/resolve-plugins.ts";
import { createHoldfast, type Holdfast, type HoldfastOptions } from "../../src/holdfast.ts";
import type { HeldClock } from "../../src/testing/held-clock.ts";
import { secretKey, type World } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { held } from "../held.ts";

const AGENT = "agentic-loop";

/** Who asks, in most tests. */
export const api: Submitter = { via: "api" };

export type GatewaySpec = {
  readonly plugins?: readonly BuiltInPlugin[];
  /** Plugins that the agent may use, each through a pipeline of its own. */
  readonly tools?: readonly string[];
  /** Of the agent's `config` block, beside `allowed_plugins`. */
  readonly agent?: object;
  readonly script?: readonly ScriptedPlannerStep[];
  readonly planner?: Planner;
  /** Blocks of the configuration. Plugins are tried again after a millisecond unless they say otherwise. */
  readonly config?: ConfigBlocks;
  /** The path of the configuration, in the place of `config`, `tools` and `agent`. */
  readonly file?: string;
  /** A database in memory unless given. */
  readonly world?: World;
  /** Holds the time of a database in memory, or of the SQLite file at `path`. */
  readonly clock?: HeldClock;
  readonly path?: string;
  /** A folder of its own unless given. */
  readonly workspaceRoot?: string;
  readonly options?: Partial<HoldfastOptions>;
};

type ConfigBlocks = {
  readonly service?: object;
  readonly api?: object;
  readonly plugin_roots?: readonly string[];
  readonly plugins?: { readonly [name: string]: object };
  readonly pipelines?: readonly object[];
  readonly routes?: readonly object[];
  readonly webhooks?: readonly object[];
};

export type StreamLine = { readonly type: string; readonly data: JsonMap };

export type TestGateway = {
  readonly holdfast: Holdfast;
  readonly gateway: Gateway;
  /** What plugins and the gateway have logged. */
  readonly logs: readonly GatewayLogLine[];
  readonly workspaceRoot: string;
  /** Waits until every job has ended. */
  untilIdle(): Promise<void>;
  /** The jobs of the tree, in the order in which they were queued, once all of them have ended. */
  endedTree(jobId: string | undefined): Promise<readonly JobView[]>;
  /** Starts a run under the id R1 and waits until every job has ended. */
  run(context?: JsonMap): Promise<{ readonly run: AgentRunView; readonly tree: readonly JobView[] }>;
  /** The event stream so far. */
  stream(): Promise<readonly StreamLine[]>;
};

/** A configuration with quick retries. */
function configOf({ plugins = [], tools = [], agent = {}, config = {} }: GatewaySpec): object {
  const quick = { retry: { backoff_base: "1ms" } };
  const known = Object.fromEntries(plugins.map(({ manifest }): [string, object] => [manifest.name, quick]));
  const loop = { ...quick, config: { allowed_plugins: tools, ...agent } };
  const named = Object.entries(config.plugins ?? {}).map(([name, settings]): [string, object] => {
    const { config: more = {}, ...rest } = settings as { config?: object };
    const base = name === AGENT ? { ...loop, config: { ...loop.config, ...more } } : { ...quick, config: more };
    return [name, { ...base, ...rest }];
  });
  return {
    ...config,
    plugins: { ...known, [AGENT]: loop, ...Object.fromEntries(named) },
    pipelines: [...tools.map((tool) => toolPipeline(tool)), ...(config.pipelines ?? [])],
  };
}

/** As in the RFC: the tool, then the agent. */
export function toolPipeline(tool: string, step: object = {}): object {
  return {
    name: `agentic-tool-${tool}`,
    on: `agentic.tool_request.${tool}`,
    steps: [
      { id: "tool", uses: tool, ...step },
      { id: "resume", uses: AGENT },
    ],
  };
}

export async function openGateway(spec: GatewaySpec): Promise<TestGateway> {
  const { world } = spec;
  const { setup, ...about } = setUp(spec);
  const options = { gateway: setup, drainMs: 100, ...spec.options };
  const holdfast = world ? await world.open([], options) : await openAlone(spec, options);
  return createTestGateway(holdfast, about);
}

/** The option `gateway`, and where to look for what comes of it. */
export function setUp(spec: GatewaySpec) {
  const { script = [], planner = scriptedPlanner(script), plugins = [], workspaceRoot = newFolder() } = spec;
  const logs: GatewayLogLine[] = [];
  const onLog = (line: GatewayLogLine) => void logs.push(line);
  return {
    setup: { config: spec.file ?? configOf(spec), planner, plugins, workspaceRoot, onLog },
    logs,
    workspaceRoot,
  };
}

async function openAlone(
  { clock, path = ":memory:" }: Pick<GatewaySpec, "clock" | "path">,
  options: Partial<HoldfastOptions>,
): Promise<Holdfast> {
  const errors: unknown[] = [];
  const holdfast = await createHoldfast({
    backend: sqlite(path, clock ? { clock } : {}),
    ...{ agents: [], secretKey, pollMs: 60_000, drainsOnSignal: false },
    onError: (error) => void errors.push(error),
    ...options,
  });
  onTestFinished(async () => {
    await holdfast.close();
    expect(errors).toEqual([]);
  });
  return holdfast;
}

export function createTestGateway(holdfast: Holdfast, about: Pick<TestGateway, "logs" | "workspaceRoot">): TestGateway {
  const { gateway } = holdfast;
  if (!gateway) throw new Error("There is no gateway.");
  const self: TestGateway = {
    ...{ holdfast, gateway },
    ...about,
    async untilIdle() {
      await eventually(async () => {
        const { jobs } = await gateway.status();
        expect({ queued: jobs.queued, running: jobs.running }).toEqual({ queued: 0, running: 0 });
      });
    },
    async endedTree(jobId) {
      if (jobId === undefined) throw new Error("There is no job.");
      await self.untilIdle();
      return await gateway.jobs.tree(jobId);
    },
    async run(context) {
      const start = { goal: "Write a critique.", run_id: "R1", ...(context && { context }) };
      const { job_ids } = await gateway.runs.start(start, api);
      const tree = await self.endedTree(job_ids[0]);
      return { run: await gateway.runs.get("R1"), tree };
    },
    async stream() {
      const entries = await gateway.events.read(0, 10_000);
      return entries.map(({ type, data }) => ({ type, data: JSON.parse(data) as JsonMap }));
    },
  };
  return self;
}

/** A folder that goes with the test. */
export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-gateway-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export type RecordingPlugin = BuiltInPlugin & {
  /** What it was asked so far, in order. */
  readonly requests: readonly PluginRequest[];
};

type Answer = (request: PluginRequest, call: number) => CommandAnswer | Promise<CommandAnswer>;

/** A plugin that keeps what it is asked. `answer` gets the number of requests before it. */
export function plugin(
  name: string,
  answer: Answer = () => `${name} is done`,
  { commands = ["handle"] }: { readonly commands?: readonly string[] } = {},
): RecordingPlugin {
  const requests: PluginRequest[] = [];
  const command: InProcessCommand = {
    run(request) {
      requests.push(request);
      return answer(request, requests.length - 1);
    },
  };
  const all = Object.fromEntries(commands.map((each): [string, InProcessCommand] => [each, command]));
  return { ...gatewayPlugin({ name, commands: all }), requests };
}

/** A plugin every call of which waits until the test answers it. */
export function heldPlugin(name: string, { commands = ["handle"] }: { readonly commands?: readonly string[] } = {}) {
  const { call, next, count } = held<
    { readonly request: PluginRequest; readonly signal: AbortSignal },
    CommandAnswer
  >();
  const requests: PluginRequest[] = [];
  const command: InProcessCommand = {
    run(request, { signal }) {
      requests.push(request);
      return call({ request, signal });
    },
  };
  const all = Object.fromEntries(commands.map((each): [string, InProcessCommand] => [each, command]));
  return { ...gatewayPlugin({ name, commands: all }), requests, next, count };
}

/** A plugin that never answers: its deadline ends it, or a cancellation. */
export function silentPlugin(name: string): RecordingPlugin {
  return plugin(name, () => new Promise(() => undefined));
}

/** Fails for good. */
export function permanently(message: string): Error {
  return Object.assign(new Error(message), { retry: false });
}

/** A line for each job: its plugin, what became of it, and why. */
export function inShort(jobs: readonly JobView[]): readonly string[] {
  return jobs.map(({ plugin: name, command, status, reason, attempt }) => {
    const called = command === "handle" ? name : `${name}.${command}`;
    return [called, status, ...(reason === null ? [] : [reason]), ...(attempt > 1 ? [`#${attempt}`] : [])].join(" ");
  });
}

/** The payload of the event that a call of `handle` came with. */
export function eventPayload(request: PluginRequest | undefined): JsonMap {
  return request?.event?.payload ?? {};
}
