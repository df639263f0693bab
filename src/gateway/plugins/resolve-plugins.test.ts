import { describe, expect, it } from "vitest";
import type { Manifest } from "../../contracts/gateway/protocol/manifest.ts";
import type { GatewayConfig, PluginSettings } from "../config/gateway-config.ts";
import type { DiscoveredPlugin } from "./discover.ts";
import type { Execution } from "./plugin.ts";
import { type BuiltInPlugin, resolvePlugins } from "./resolve-plugins.ts";

function manifest(name: string, more: Partial<Manifest> = {}): Manifest {
  return {
    ...{ name, version: "1", description: "", entrypoint: "run", concurrency_safe: true },
    commands: ["poll", "handle", "health", "init", "shrink"].map((command) => ({
      ...{ name: command, type: "write" as const, description: "" },
    })),
    ...{ fact_outputs: [], required_config: [] },
    ...more,
  };
}

function settings(name: string, more: Partial<PluginSettings> = {}): PluginSettings {
  return {
    ...{ name, uses: null, enabled: true, agent: false, config: {}, parallelism: null, timeouts_ms: {} },
    ...{ retry: { max_attempts: null, backoff_base_ms: null }, notify_on_complete: false, token_ref: null },
    ...{ max_outstanding_polls: 1, circuit_breaker: { threshold: 3, reset_after_ms: 1000 }, schedules: [] },
    place: { file: "gateway.yaml", line: name.length, column: 3 },
    ...more,
  };
}

const answer = (text: string): Execution => ({
  ...{ outcome: "succeeded", response: { status: "ok", result: text, events: [], logs: [] }, warnings: [] },
  ...{ stdout: "", stderr: "", exit_code: 0 },
});

type Setup = {
  readonly discovered?: readonly Manifest[];
  readonly builtIns?: readonly (Manifest | BuiltInPlugin)[];
  readonly own?: readonly Manifest[];
  readonly configured?: readonly PluginSettings[];
  readonly maxWorkers?: number;
};

function resolve({ discovered = [], builtIns = [], own = [], configured = [], maxWorkers = 8 }: Setup) {
  const found = discovered.map((each): [string, DiscoveredPlugin] => [
    each.name,
    {
      manifest: each,
      manifestFile: `/plugins/${each.name}/manifest.yaml`,
      place: { root: "/plugins", folder: `/plugins/${each.name}`, entrypoint: "run", allowSymlinks: false },
      entry: { file: `/plugins/${each.name}/run`, fingerprint: { sha256: "" }, startProblem: undefined },
    },
  ]);
  const builtIn = builtIns.map((each): [string, BuiltInPlugin] => {
    const plugin = "manifest" in each ? each : { manifest: each, run: async () => answer("built in") };
    return [plugin.manifest.name, plugin];
  });
  const config = {
    service: { max_workers: maxWorkers },
    plugins: new Map(configured.map((each) => [each.name, each])),
  } as unknown as GatewayConfig;
  return resolvePlugins({
    config,
    own: own.map((each) => ({ manifest: each, run: async () => answer(`own ${each.version}`) })),
    discovered: new Map(found),
    builtIns: new Map(builtIn),
    runDiscovered: (plugin) => async () => answer(plugin.manifest.name),
  });
}

const request = { protocol: 2, job_id: "j", command: "handle", config: {}, state: {}, deadline_at: "" } as const;
const options = { timeoutMs: 1000, signal: new AbortController().signal };

describe("a plugin", () => {
  it("that was discovered runs with the defaults when it is not configured", () => {
    const { plugins, problems, warnings } = resolve({ discovered: [manifest("echo")] });
    expect(plugins.get("echo")).toMatchObject({
      ...{ name: "echo", base: "echo", config: {}, isAgent: false, parallelism: 1, maxAttempts: 4 },
      ...{ backoffBaseMs: 30_000, notifyOnComplete: false },
      timeoutsMs: { poll: 60_000, handle: 120_000, health: 10_000, init: 30_000, shrink: 60_000 },
    });
    expect([problems, warnings]).toEqual([[], []]);
  });

  it("has the settings of the configuration", () => {
    const configured = settings("echo", {
      ...{ config: { url: "x" }, parallelism: 3, timeouts_ms: { handle: 5, shrink: 7 }, notify_on_complete: true },
      retry: { max_attempts: 1, backoff_base_ms: 10 },
    });
    expect(resolve({ discovered: [manifest("echo")], configured: [configured] }).plugins.get("echo")).toMatchObject({
      ...{ config: { url: "x" }, parallelism: 3, maxAttempts: 1, backoffBaseMs: 10, notifyOnComplete: true },
      timeoutsMs: { poll: 60_000, handle: 5, health: 10_000, init: 30_000, shrink: 7 },
    });
  });

  it("runs no more jobs at once than the installation", () => {
    const sources = { discovered: [manifest("echo")], configured: [settings("echo", { parallelism: 5 })] };
    expect(resolve({ ...sources, maxWorkers: 2 }).plugins.get("echo")?.parallelism).toBe(2);
  });

  it("that is not safe to run concurrently runs one job at a time, unless more are configured", () => {
    const discovered = [manifest("a", { concurrency_safe: false }), manifest("b", { concurrency_safe: false })];
    const { plugins } = resolve({ discovered, configured: [settings("b", { parallelism: 2 })] });
    expect([plugins.get("a")?.parallelism, plugins.get("b")?.parallelism]).toEqual([1, 2]);
  });

  it("that is disabled is not there, but can have aliases", () => {
    const configured = [settings("fetch", { enabled: false }), settings("reader", { uses: "fetch" })];
    const { plugins, problems } = resolve({ discovered: [manifest("fetch")], configured });
    expect([...plugins.keys()]).toEqual(["reader"]);
    expect(problems).toEqual([]);
  });

  it("that lacks required config is a problem at its place, and a warning when it is not configured at all", () => {
    const discovered = [manifest("mail", { required_config: ["host", "token"] })];
    const configured = [settings("mail", { config: { host: "h", token: null } }), settings("post", { uses: "mail" })];
    expect(resolve({ discovered, configured }).problems).toEqual([
      { file: "gateway.yaml", line: 4, column: 3, message: "The plugin mail needs config.token." },
      { file: "gateway.yaml", line: 4, column: 3, message: "The plugin post needs config.host and config.token." },
    ]);
    const unconfigured = resolve({ discovered });
    expect(unconfigured.plugins.size).toBe(0);
    expect(unconfigured.warnings).toMatchObject([{ file: "/plugins/mail/manifest.yaml" }]);
  });

  it("that is configured but was not found is a warning, and a problem for its schedules", () => {
    const schedule = { place: { file: "gateway.yaml", line: 9, column: 7 } } as PluginSettings["schedules"][number];
    const configured = [settings("lost"), settings("timed", { schedules: [schedule] })];
    const { warnings, problems } = resolve({ configured });
    expect(warnings.map(({ message }) => message)).toEqual([
      "The plugin lost was not found in the plugin roots, or could not be loaded.",
      "The plugin timed was not found in the plugin roots, or could not be loaded.",
    ]);
    expect(problems).toMatchObject([{ line: 9, column: 7 }]);
  });

  it("without a command for which a timeout is configured is a warning", () => {
    const configured = [settings("echo", { timeouts_ms: { handel: 5 } })];
    expect(resolve({ discovered: [manifest("echo")], configured }).warnings).toMatchObject([
      { message: "timeouts.handel: the plugin echo has no such command." },
    ]);
  });
});

describe("an alias", () => {
  const discovered = [manifest("fetch"), manifest("files")];

  it("runs its base under its own name, with its own configuration", async () => {
    const configured = [
      settings("fetch", { config: { url: "x" }, timeouts_ms: { handle: 5 } }),
      settings("reader", { uses: "fetch", config: { own: true } }),
    ];
    const { plugins, problems } = resolve({ discovered, configured });
    const reader = plugins.get("reader");
    expect(reader).toMatchObject({
      name: "reader",
      base: "fetch",
      config: { own: true },
      timeoutsMs: { handle: 120_000 },
    });
    expect(await reader?.run(request, options)).toMatchObject({ response: { result: "fetch" } });
    expect(problems).toEqual([]);
  });

  it("can be one of another alias", () => {
    const configured = [settings("second", { uses: "first" }), settings("first", { uses: "files" })];
    const { plugins, problems } = resolve({ discovered, configured });
    expect(plugins.get("second")).toMatchObject({ name: "second", base: "files" });
    expect(problems).toEqual([]);
  });

  it.each([
    ["of itself", [settings("a", { uses: "a" })], ["The alias a cannot use itself."]],
    [
      "with the name of a plugin",
      [settings("files", { uses: "fetch" })],
      ["The alias files would hide the plugin of that name; choose another name."],
    ],
    [
      "of a plugin that is not there",
      [settings("a", { uses: "nothing" })],
      ["The plugin nothing, which a is an alias of, was not found."],
    ],
    [
      "in a circle of three",
      [settings("a", { uses: "b" }), settings("b", { uses: "c" }), settings("c", { uses: "a" })],
      [
        "The alias a leads in a circle: a, b, c, a.",
        "The alias b leads in a circle: b, c, a, b.",
        "The alias c leads in a circle: c, a, b, c.",
      ],
    ],
    [
      "into a circle",
      [settings("a", { uses: "b" }), settings("b", { uses: "b" })],
      ["The alias a leads in a circle: a, b, b.", "The alias b cannot use itself."],
    ],
    [
      "of a part of the gateway",
      [settings("a", { uses: "core.switch" })],
      ["The plugin core.switch cannot have aliases."],
    ],
  ])("%s is refused at its place", (_kind, configured, messages) => {
    const { problems } = resolve({ discovered, builtIns: [manifest("core.switch")], configured });
    expect(problems).toEqual(
      messages.map((message) => ({ file: "gateway.yaml", line: expect.any(Number), column: 3, message })),
    );
  });
});

describe("an agent", () => {
  it("runs one job at a time, whatever is configured, and so do its aliases", () => {
    const configured = [
      settings("agentic-loop", { parallelism: 4 }),
      settings("critic", { uses: "agentic-loop", parallelism: 4 }),
      settings("planner", { agent: true, parallelism: 4 }),
      settings("second-planner", { uses: "planner-alias", parallelism: 4 }),
      settings("planner-alias", { uses: "planner", parallelism: 4 }),
      settings("tool", { parallelism: 4 }),
    ];
    const discovered = ["agentic-loop", "planner", "tool"].map((name) => manifest(name));
    const { plugins } = resolve({ discovered, configured });
    expect([...plugins.values()].map(({ name, isAgent, parallelism }) => [name, isAgent, parallelism])).toEqual([
      ["agentic-loop", true, 1],
      ["critic", true, 1],
      ["planner", true, 1],
      ["second-planner", true, 1],
      ["planner-alias", true, 1],
      ["tool", false, 4],
    ]);
  });

  it("is one by its name alone", () => {
    expect(resolve({ discovered: [manifest("agentic-loop")] }).plugins.get("agentic-loop")?.isAgent).toBe(true);
  });
});

describe("a built-in plugin", () => {
  it("is there without a folder, and can have aliases", async () => {
    const { plugins } = resolve({
      builtIns: [manifest("agentic-loop")],
      configured: [settings("a", { uses: "agentic-loop" })],
    });
    expect([...plugins.keys()]).toEqual(["a", "agentic-loop"]);
    expect(await plugins.get("a")?.run(request, options)).toMatchObject({ response: { result: "built in" } });
  });

  it("is replaced by a discovered one of its name, with a warning", async () => {
    const sources = { builtIns: [manifest("agentic-loop")], discovered: [manifest("agentic-loop")] };
    const { plugins, warnings } = resolve(sources);
    expect(await plugins.get("agentic-loop")?.run(request, options)).toMatchObject({
      response: { result: "agentic-loop" },
    });
    expect(warnings).toMatchObject([{ file: "/plugins/agentic-loop/manifest.yaml" }]);
  });

  it("is not replaced by the folder that holds the same program", async () => {
    // The folder has to exist for its real path to be compared.
    const builtIn = { manifest: manifest("tmp"), folder: "/", run: async () => answer("built in") };
    const discovered = [manifest("tmp")];
    const place = { root: "/", folder: "/", entrypoint: "run", allowSymlinks: false };
    const { plugins, warnings } = resolvePlugins({
      config: { service: { max_workers: 1 }, plugins: new Map() } as unknown as GatewayConfig,
      discovered: new Map(
        discovered.map((each) => [
          each.name,
          {
            manifest: each,
            manifestFile: "/m",
            place,
            entry: { file: "/run", fingerprint: { sha256: "" }, startProblem: undefined },
          },
        ]),
      ),
      own: [],
      builtIns: new Map([["tmp", builtIn]]),
      runDiscovered: () => async () => answer("discovered"),
    });
    expect(await plugins.get("tmp")?.run(request, options)).toMatchObject({ response: { result: "built in" } });
    expect(warnings).toEqual([]);
  });
});

describe("a plugin of the program", () => {
  it("comes before a discovered and a built-in one of its name, with a warning at the manifest", async () => {
    const sources = {
      ...{ own: [manifest("a"), manifest("b")], builtIns: [manifest("a"), manifest("b")] },
      ...{ discovered: [manifest("a")], configured: [settings("alias", { uses: "a" })] },
    };
    const { plugins, warnings, problems } = resolve(sources);
    for (const name of ["a", "b", "alias"]) {
      expect(await plugins.get(name)?.run(request, options), name).toMatchObject({ response: { result: "own 1" } });
    }
    expect(problems).toEqual([]);
    const message = "name: a is the name of a plugin of the program too, which is used.";
    expect(warnings).toEqual([{ file: "/plugins/a/manifest.yaml", line: 0, column: 0, message }]);
  });

  it("comes before a second one with its name", async () => {
    const { plugins, warnings } = resolve({ own: [manifest("a"), manifest("a", { version: "2" })] });
    expect(await plugins.get("a")?.run(request, options)).toMatchObject({ response: { result: "own 1" } });
    const message = "The program has two plugins with the name a; the first is used.";
    expect(warnings).toEqual([{ file: "gateway", line: 0, column: 0, message }]);
  });
});
