// A gateway behind a real server, with plugins that are programs in a folder of the test; and all that it says.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Backend } from "../../src/backend/sql-driver.ts";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import type { GatewayLogLine, GatewaySetup } from "../../src/gateway/dispatch/set-up.ts";
import type { Gateway, JobWithPayload } from "../../src/gateway/gateway.ts";
import { createHoldfast, type Holdfast, type HoldfastOptions } from "../../src/holdfast.ts";
import type { ServeOptions } from "../../src/server/serve.ts";
import { serve } from "../../src/server/serve.ts";
import { secretKey } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { type PluginFiles, pluginRoot, writePlugin } from "../plugin-folders.ts";

export type ServedSpec = {
  /** By the names of their folders. */
  readonly plugins?: Readonly<Record<string, PluginFiles>>;
  /** Of the configuration, beside the plugin root. Discovered plugins are not tried again unless it says otherwise. */
  readonly config?: JsonMap;
  /** Writes the configuration into a file, for tests that change it. */
  readonly asFile?: boolean;
  readonly setup?: Partial<GatewaySetup>;
  /** A database in memory unless given. */
  readonly backend?: Backend;
  readonly options?: Partial<HoldfastOptions>;
  readonly server?: ServeOptions;
};

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON that came, or an empty map. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  readonly body: any;
};

export type Asked = RequestInit & { readonly json?: unknown };

export type ServedGateway = {
  readonly holdfast: Holdfast;
  readonly gateway: Gateway;
  readonly url: string;
  /** The folder in which plugins are looked for. */
  readonly root: string;
  /** Where the configuration is, if it is a file. */
  readonly configFile: string;
  /** What plugins and the gateway have logged. */
  readonly logs: readonly GatewayLogLine[];
  /** The server's log. */
  readonly requests: readonly string[];
  /** What was reported since the last time; what is left at the end fails the test. */
  takeErrors(): readonly unknown[];
  /** A token of the owner that may do no more than this; everything unless given. */
  token(...capabilities: string[]): Promise<string>;
  /** POST where there is JSON or a body, GET otherwise. */
  ask(token: string | undefined, path: string, asked?: Asked): Promise<Answer>;
  /** The configuration as `config` says it, with the plugin root and settings of the plugins. */
  write(config: JsonMap): void;
  /** Calls `handle` of a plugin and waits until its whole tree has ended. */
  run(plugin: string, payload?: JsonMap): Promise<JobWithPayload>;
  untilIdle(): Promise<void>;
  ended(jobId: string): Promise<JobWithPayload>;
  /** Of the last attempt of a job. */
  lastAttempt(jobId: string): ReturnType<typeof lastAttempt>;
  close(): Promise<void>;
};

/** Nothing is tried again. */
export const once: JsonMap = { retry: { max_attempts: 1 } };

export async function serveGateway(spec: ServedSpec = {}): Promise<ServedGateway> {
  const root = pluginRoot();
  for (const [name, files] of Object.entries(spec.plugins ?? {})) writePlugin(root, name, files);
  return await openServed(spec, root);
}

/** The same with a root that is there already. */
export async function openServed(spec: ServedSpec, root: string): Promise<ServedGateway> {
  const logs: GatewayLogLine[] = [];
  const requests: string[] = [];
  let errors: unknown[] = [];
  const configFile = join(newFolder(), "gateway.yaml");
  const complete = (config: JsonMap) => withRoot(config, root, Object.keys(spec.plugins ?? {}));
  const write = (config: JsonMap) => writeFileSync(configFile, JSON.stringify(complete(config)));
  if (spec.asFile) write(spec.config ?? {});
  const holdfast = await createHoldfast({
    backend: spec.backend ?? sqlite(":memory:"),
    ...{ agents: [], secretKey, pollMs: 60_000, drainMs: 100, drainsOnSignal: false },
    trust: { administrators: [1] },
    onError: (error) => void errors.push(error),
    ...spec.options,
    gateway: {
      config: spec.asFile ? configFile : complete(spec.config ?? {}),
      workspaceRoot: join(root, "..", `${root.split("/").at(-1)}-workspaces`),
      onLog: (line: GatewayLogLine) => void logs.push(line),
      ...spec.setup,
    },
  });
  const server = await serve(holdfast, {
    ...{ port: 0, rate: false, failureRate: false, drainMs: 100 },
    log: (line) => void requests.push(line),
    ...spec.server,
  }).catch(async (thrown: unknown) => {
    await holdfast.close();
    throw thrown;
  });
  const { gateway } = holdfast;
  if (!gateway) throw new Error("There is no gateway.");
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await server.close();
    await holdfast.close();
  };
  onTestFinished(async () => {
    await close();
    rmSync(join(root, "..", `${root.split("/").at(-1)}-workspaces`), { recursive: true, force: true });
    expect(errors).toEqual([]);
  });
  const untilIdle = async () => {
    await eventually(async () => {
      const { jobs } = await gateway.status();
      expect({ queued: jobs.queued, running: jobs.running }).toEqual({ queued: 0, running: 0 });
    });
  };
  const ended = async (jobId: string) => {
    await untilIdle();
    return await gateway.jobs.get(jobId);
  };
  return {
    ...{ holdfast, gateway, url: server.url, root, configFile, logs, requests, write, untilIdle, ended, close },
    takeErrors() {
      const taken = errors;
      errors = [];
      return taken;
    },
    async token(...capabilities) {
      const made = await holdfast.tokens.create({
        ...{ agent: "helper", owner_user_id: 1 },
        allowed_capabilities: capabilities.length === 0 ? null : capabilities,
      });
      return made.token;
    },
    ask: (token, path, asked) => ask(server.url, token, path, asked),
    async run(plugin, payload = {}) {
      const { job_ids } = await gateway.call(plugin, "handle", { payload }, { via: "api" });
      return await ended(job_ids[0] ?? "");
    },
    lastAttempt: (jobId) => lastAttempt(gateway, jobId),
  };
}

async function lastAttempt(gateway: Gateway, jobId: string) {
  const attempt = (await gateway.jobs.details(jobId)).attempts.at(-1);
  if (!attempt) throw new Error(`The job ${jobId} was never executed.`);
  return attempt;
}

function withRoot(config: JsonMap, root: string, plugins: readonly string[]): JsonMap {
  const { plugins: named = {}, ...rest } = config as JsonMap & { plugins?: Readonly<Record<string, JsonMap>> };
  const known = plugins.filter((name) => !/[^A-Za-z0-9_.-]/.test(name)).map((name) => [name, once]);
  const settings = Object.entries(named).map(([name, own]) => [name, { ...once, ...own }]);
  return {
    plugin_roots: [root],
    ...rest,
    plugins: { ...Object.fromEntries(known), ...Object.fromEntries(settings) },
  };
}

/** A request to a server, by whoever holds the token. */
async function ask(url: string, token: string | undefined, path: string, asked: Asked = {}): Promise<Answer> {
  const { json, headers, ...init } = asked;
  const body = json === undefined ? init.body : JSON.stringify(json);
  const response = await fetch(new URL(path, url), {
    ...init,
    method: init.method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(json !== undefined && { "content-type": "application/json" }),
      ...(headers as Record<string, string>),
    },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-input-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
