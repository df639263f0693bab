import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventRequest, fetchPage } from "../../../test/agent-world.ts";
import type { PluginRequest } from "../../contracts/gateway/protocol/request.ts";
import { type AgentPluginOptions, createAgentPlugin } from "./agent-plugin.ts";
import type { Planner } from "./planner/planner.ts";
import { scriptedPlanner } from "./planner/scripted-planner.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(await realpath(tmpdir()), "workspaces-"));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const plugin = (options: Partial<AgentPluginOptions> = {}) =>
  createAgentPlugin({
    planner: scriptedPlanner([fetchPage]),
    workspaceRoot: join(root, "workspaces"),
    routableTools: () => new Map([["fetch", { plugins: ["fetch"], jobs: 2 }]]),
    agentNames: () => new Set(["agentic-loop"]),
    ...options,
  });

const start: PluginRequest = {
  ...{ protocol: 2, job_id: "J1", command: "handle", state: {}, deadline_at: "2026-02-16T12:02:00Z" },
  config: { allowed_plugins: ["fetch"] },
  ...eventRequest("agentic.start", { goal: "g", run_id: "R1" }),
};

const options = () => ({ timeoutMs: 60_000, signal: new AbortController().signal });
const never: Planner = {
  frame: () => new Promise(() => {}),
  plan: () => new Promise(() => {}),
  reflect: () => new Promise(() => {}),
};

describe("the agent inside the gateway", () => {
  it("takes a turn and writes below the workspace root", async () => {
    const execution = await plugin().run(start, options());
    expect(execution).toMatchObject({ outcome: "succeeded", warnings: [], exit_code: null, stderr: "" });
    expect(JSON.parse(execution.stdout)).toMatchObject({ status: "ok" });
    expect(await readdir(join(root, "workspaces"))).toEqual(["J1"]);
  });

  it("writes nothing once its lease may have run out, however late it finds out", async () => {
    const lease = new AbortController();
    const execution = await plugin().run(start, {
      ...options(),
      signal: lease.signal,
      checkLease: () => lease.abort(),
    });
    expect(execution).toMatchObject({ outcome: "aborted" });
    expect(await readdir(join(root, "workspaces", "J1"))).toEqual([]);
  });

  it("declares its commands, one turn at a time and no facts", () => {
    const { manifest } = plugin();
    expect(manifest.commands.map(({ name }) => name)).toEqual(["handle", "poll", "health", "cancel"]);
    expect(manifest).toMatchObject({ concurrency_safe: false, fact_outputs: [] });
  });

  it("tells an error for good from one that another attempt may not meet", async () => {
    const blank = { ...start, ...eventRequest("agentic.start", { goal: " " }) };
    expect(await plugin().run(blank, options())).toMatchObject({
      ...{ outcome: "failed", reason: "plugin_retry_false", retryable: false },
    });
    const planner: Planner = { ...never, frame: () => Promise.reject(new Error("Busy.")) };
    expect(await plugin({ planner }).run(start, options())).toMatchObject({
      ...{ outcome: "failed", reason: "plugin_error", retryable: true, error: "Busy." },
    });
  });

  it("makes its planner from the configuration, and only when a turn needs it", async () => {
    const made: unknown[] = [];
    const planner = ({ config }: PluginRequest) => {
      made.push(config);
      return scriptedPlanner([fetchPage]);
    };
    const agent = plugin({ planner });
    await agent.run({ ...start, command: "poll" }, options());
    expect(made).toEqual([]);
    await agent.run(start, options());
    expect(made).toEqual([{ allowed_plugins: ["fetch"] }]);
  });

  it("that cannot make its planner fails the turn", async () => {
    const planner = () => Promise.reject(new Error("No such package."));
    expect(await plugin({ planner }).run(start, options())).toMatchObject({
      outcome: "failed",
      error: "No such package.",
    });
  });

  it("is aborted with its job, even when the planner does not listen, and writes nothing", async () => {
    const abort = new AbortController();
    const planner: Planner = {
      ...never,
      frame: () => {
        abort.abort();
        return new Promise(() => {});
      },
    };
    expect(await plugin({ planner }).run(start, { timeoutMs: 60_000, signal: abort.signal })).toMatchObject({
      outcome: "aborted",
    });
    expect(await plugin().run(start, { timeoutMs: 60_000, signal: abort.signal })).toMatchObject({
      outcome: "aborted",
    });
    expect(await readdir(root)).toEqual([]);
  });

  it("times out when its planner never answers", async () => {
    expect(await plugin({ planner: never }).run(start, { ...options(), timeoutMs: 5 })).toMatchObject({
      ...{ outcome: "timed_out", reason: "timeout", retryable: true },
    });
  });

  it("asks which tools are routable for the agent under whose name it runs", async () => {
    const asked: string[] = [];
    const routableTools = (agent: string) => {
      asked.push(agent);
      return new Map();
    };
    const context = { ductile_plugin: "second" };
    expect(await plugin({ routableTools }).run({ ...start, context }, options())).toMatchObject({ retryable: false });
    expect(asked).toEqual(["second"]);
  });
});
