import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { eventRequest, pipelineContext } from "../../../../test/agent-world.ts";
import { type ProviderServer, startProviderServer } from "../../../../test/provider-server.ts";
import type { Reply } from "../../../../test/provider-server-reply.ts";
import type { PluginRequest } from "../../../contracts/gateway/protocol/request.ts";
import type { PluginResponse } from "../../../contracts/gateway/protocol/response.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import { agentManifest } from "../agent-manifest.ts";
import { answerRequest } from "./answer-request.ts";

const folder = fileURLToPath(new URL("../../../../plugins/agentic-loop/", import.meta.url));
const entry = join(folder, "run.mjs");

let root: string;
let provider: ProviderServer | undefined;

beforeEach(async () => {
  root = await mkdtemp(join(await realpath(tmpdir()), "workspaces-"));
});

afterEach(async () => {
  await provider?.close();
  provider = undefined;
  await rm(root, { recursive: true, force: true });
});

const said = (answer: object): Reply => ({ text: JSON.stringify(answer) });
const act = (tool: string, payload: object) => said({ decision: "act", tool, tool_payload: JSON.stringify(payload) });
const judged = (answer: object) => said({ summary: "Fine.", ...answer });

async function model(...script: readonly Reply[]): Promise<JsonMap> {
  provider = await startProviderServer({ script });
  return { model: "ollama/small", base_url: provider.url, allowed_plugins: ["fetch", "fabric"] };
}

/** The environment that a gateway passes on; the interpreter is the one that runs the tests. */
const env = { PATH: [dirname(process.execPath), process.env.PATH].join(delimiter), HOME: process.env.HOME ?? "" };

async function run(input: string, command: readonly string[] = [entry]) {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { stdout, stderr, code };
}

async function turn(request: Partial<PluginRequest>, command?: readonly string[]): Promise<PluginResponse> {
  const about = {
    protocol: 2,
    job_id: "J1",
    command: "handle",
    config: {},
    state: {},
    deadline_at: "2026-02-16T12:02:00Z",
  };
  const { stdout, stderr, code } = await run(`${JSON.stringify({ ...about, ...request })}\n`, command);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

const start = eventRequest("agentic.start", { goal: "Write a critique.", run_id: "R1" });

describe("the agent as a process of its own", () => {
  it("pursues a goal to its end, one process per turn, each of which exits 0", async () => {
    const config = await model(
      ...[said({ todo: ["The page is read."] }), act("fetch", { url: "http://example.test" })],
      judged({ decision: "done", outcome: "The page was read." }),
    );
    const workspace_dir = join(root, "J1");
    const first = await turn({ config, workspace_dir, ...start });
    expect(first).toMatchObject({
      status: "ok",
      events: [{ type: "agentic.tool_request.fetch", payload: { url: "http://example.test" } }],
    });
    const state = first.status === "ok" ? (first.state_updates ?? {}) : {};
    const context = pipelineContext(1, "fetch");
    const request = {
      job_id: "J3",
      config,
      state,
      workspace_dir,
      ...eventRequest("content_ready", { text: "hi" }, context),
    };
    expect(await turn(request)).toMatchObject({
      status: "ok",
      events: [{ type: "agent.completed", payload: { outcome: "The page was read.", steps_taken: 1 } }],
    });
    expect((await readdir(workspace_dir)).sort()).toEqual(["context.md", "memory.md", "plan.md", "trace.jsonl"]);
  });

  it("keeps its files below config.workspace_root where the request names no folder", async () => {
    const config = await model(said({ todo: [] }), act("fetch", {}));
    await turn({ config: { ...config, workspace_root: join(root, "all") }, ...start });
    expect(await readdir(join(root, "all"))).toEqual(["J1"]);
  });

  it("sends the key of its configuration, and nothing of it to stdout", async () => {
    provider = await startProviderServer({
      script: [{ fault: { status: 401, message: "Wrong key sk-secret-0123456789." } }],
    });
    const config = { model: "openai/small", api_key: "sk-secret-0123456789", base_url: provider.url };
    const response = await turn({ config, workspace_dir: join(root, "J1"), ...start });
    expect(provider.requests[0]?.headers.authorization).toBe("Bearer sk-secret-0123456789");
    expect(response).toMatchObject({ status: "error", retry: false });
    expect(JSON.stringify(response)).not.toContain("sk-secret");
  });

  it("requests only the tools that config.routable_tools lists, where it does", async () => {
    const config = await model(said({ todo: [] }), act("fetch", {}));
    const response = await turn({ config: { ...config, routable_tools: ["fabric"] }, workspace_dir: root, ...start });
    expect(response).toMatchObject({
      status: "error",
      retry: false,
      error: expect.stringContaining("no pipeline listens"),
    });
  });

  it("needs neither a model nor a folder for its health, a poll, or a result that it ignores", async () => {
    expect(await turn({ command: "health" })).toMatchObject({ status: "ok", events: [] });
    expect(await turn({ command: "poll" })).toMatchObject({ status: "ok", events: [], state_updates: {} });
    const stale = eventRequest("agentic.tool_result", { run_id: "R9", step: 1, tool: "fetch", status: "ok" });
    expect(await turn(stale)).toMatchObject({ status: "ok", events: [], logs: [{ level: "warn" }] });
  });

  it("exits 0 also when it cannot read the request", async () => {
    const { stdout, code } = await run("secret garbage");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "error", retry: false });
    expect(stdout).not.toContain("secret");
  });

  it("that meets a full disk answers with an error that is worth another attempt, and leaves nothing half written", async () => {
    const config = await model(said({ todo: [] }), act("fetch", {}));
    const goal = "g".repeat(10_000);
    // No file may grow beyond a few kilobytes: a write is cut short in the middle, as on a disk that is full.
    const limited = ["/bin/sh", "-c", `trap '' XFSZ; ulimit -f 8; exec "$0"`, entry];
    const request = { config, workspace_dir: join(root, "J1"), ...eventRequest("agentic.start", { goal }) };
    expect(await turn(request, limited)).toMatchObject({ status: "error", retry: true });
    expect(await readdir(join(root, "J1"))).toEqual([]);
  });

  it("says the same of itself in its manifest file", async () => {
    const { manifest_spec, manifest_version, protocol, config_keys, ...manifest } = parse(
      await readFile(join(folder, "manifest.yaml"), "utf8"),
    );
    expect({ manifest_spec, manifest_version, protocol }).toEqual({
      ...{ manifest_spec: "ductile.plugin", manifest_version: 1, protocol: 2 },
    });
    const { fact_outputs: _facts, required_config: _required, ...said } = agentManifest;
    expect(manifest).toEqual(said);
    expect(config_keys.optional).toContain("model");
  });
});

describe("a request to the agent's process", () => {
  it.each<[string, string]>([
    ["nothing", ""],
    ["no JSON", "secret garbage"],
    ["a list", "[]"],
    ["another protocol", '{"protocol":1,"job_id":"J1","command":"health"}'],
    ["no job", '{"protocol":2,"command":"health"}'],
    [
      "JSON nested without end",
      `{"protocol":2,"job_id":"J1","command":"health","state":${"[".repeat(600)}${"]".repeat(600)}}`,
    ],
  ])("that is %s is answered with an error for good, or without a change", async (_what, input) => {
    const response = await answerRequest(input, { env: {} });
    expect(response).not.toHaveProperty("state_updates");
    if (response.status === "error") expect(response).toMatchObject({ retry: false });
    expect(JSON.stringify(response)).not.toContain("secret");
  });

  it.each([
    ["no model", {}],
    ["an unknown provider", { model: "unknown/small" }],
    ["a provider without a key", { model: "openai/small" }],
    [
      "an address that its provider has no use for",
      { model: "mistral/small", api_key: "k", base_url: "http://127.0.0.1:1" },
    ],
  ])("with a configuration that has %s is answered with an error for good", async (_what, config) => {
    const about = { protocol: 2, job_id: "J1", command: "handle", config, workspace_dir: join(root, "J1") };
    const response = await answerRequest(JSON.stringify({ ...about, ...start }), { env: {} });
    expect(response).toMatchObject({ status: "error", retry: false });
    expect(await readdir(root)).toEqual([]);
  });

  it("without a folder for its files is answered with an error for good", async () => {
    const about = { protocol: 2, job_id: "J1", command: "handle", config: {} };
    const response = await answerRequest(JSON.stringify({ ...about, ...start }), { env: {} });
    expect(response).toMatchObject({ status: "error", retry: false, error: expect.stringContaining("workspace_dir") });
  });

  it("removes the files of finished runs beside its own folder, if that bears the name of its run", async () => {
    const ended = {
      status: "done",
      goal: "g",
      outcome: "o",
      updated_at: "2020-01-01T00:00:00Z",
      workspace_ref: "job:J0",
    };
    const running = { status: "running", step: 1, pending_step: 1, pending_tool: "fetch", workspace_ref: "job:J1" };
    const failed = eventRequest("agentic.tool_result", { run_id: "R1", step: 1, tool: "other", status: "ok" });
    const about = {
      protocol: 2,
      job_id: "J2",
      command: "handle",
      config: {},
      state: { runs: { R0: ended, R1: running } },
    };
    for (const [name, left] of [
      ["other", ["J0"]],
      ["J1", []],
    ] as const) {
      await mkdir(join(root, "J0"), { recursive: true });
      const request = { ...about, workspace_dir: join(root, name), ...failed };
      expect(await answerRequest(JSON.stringify(request), { env: {} })).toMatchObject({ status: "ok" });
      expect((await readdir(root)).filter((folder) => folder === "J0")).toEqual(left);
    }
  });

  describe("about runs that are stored", () => {
    const about = { job_id: "J1", goal: "g", workspace_ref: "job:J1", updated_at: "2026-02-16T12:00:00Z" };
    const since = { pending_since: "2026-02-16T12:00:00Z" };
    const running = { ...about, ...since, status: "running", step: 1, pending_step: 1, pending_tool: "fetch" };
    const ended = {
      ...about,
      status: "done",
      outcome: "o",
      workspace_ref: "job:J0",
      updated_at: "2020-01-01T00:00:00Z",
    };
    const now = () => new Date("2026-02-16T12:20:00Z");
    const ask = async (request: object) => {
      const parts = { protocol: 2, job_id: "J9", config: {}, ...request };
      return await answerRequest(JSON.stringify(parts), { env: {}, now });
    };

    it("ends one as cancelled also where nothing says where its files are", async () => {
      const response = await ask({ command: "cancel", payload: { run_id: "R1" }, state: { runs: { R1: running } } });
      expect(response).toMatchObject({ status: "ok", events: [{ type: "agent.escalated" }] });
      expect(response.logs.map(({ level }) => level)).toEqual(["error", "warn"]);
    });

    it("removes the folder of a run that it forgets, and forgets none whose folder it cannot know", async () => {
      await mkdir(join(root, "J0"));
      const state = { runs: { R0: ended } };
      const unknown = await ask({ command: "poll", state });
      expect(unknown).toMatchObject({ status: "ok", state_updates: { last_poll: expect.any(String) } });
      expect(unknown).not.toHaveProperty("state_updates.runs");
      const told = await ask({ command: "poll", state, context: { ductile_workspace_root: root } });
      expect(told).toMatchObject({ state_updates: { runs: {} } });
      expect(await readdir(root)).toEqual([]);
    });

    it("counts no time for which the gateway says that it was paused", async () => {
      const runs = { R1: running, R2: running };
      const context = { ductile_paused_ms: { R1: 19 * 60_000, R2: 60_000 } };
      const response = await ask({ command: "poll", state: { runs }, context });
      expect(response.status === "ok" && response.events.map(({ payload }) => payload.run_id)).toEqual(["R2"]);
    });

    it("requests no tool where the gateway says that the job tree has no room for it and its answer", async () => {
      const config = await model(judged({ decision: "continue" }), act("fabric", {}));
      const result = eventRequest("content_ready", {}, { ...pipelineContext(1, "fetch"), ductile_tree_jobs_left: 1 });
      const response = await ask({
        ...{ command: "handle", config, workspace_dir: join(root, "J1"), state: { runs: { R1: running } } },
        ...result,
      });
      expect(response).toMatchObject({ events: [{ payload: { reason: "max_tree_jobs_exceeded", tool: "fabric" } }] });
    });
  });
});
