// What an agent is told of the gateway, and which folder its jobs work in: the same for one that is a process of its own.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readHints } from "../../src/contracts/gateway/agent/agent-hints.ts";
import { heldClock } from "../../src/testing/held-clock.ts";
import { eventually } from "../eventually.ts";
import { api, heldPlugin, inShort, openGateway, permanently, plugin } from "../gateway/gateway-world.ts";
import { apart } from "./apart.ts";

const MINUTE = 60_000;
const useTool = { tool: "tool" } as const;
const done = { decision: "done", outcome: "It is written." } as const;
const config = { allowed_plugins: ["tool"] };
const taking = (step: object = {}) => ({
  ...{ name: "tool", on: "agentic.tool_request.tool" },
  steps: [
    { uses: "tool", ...step },
    { id: "resume", uses: "apart" },
  ],
});
const start = { goal: "Go.", agent: "apart" };

describe("an agent that knows what it is told", () => {
  it("is told where all workspaces are, and how much room its tree has", async () => {
    const [tool, agent] = [plugin("tool"), apart([useTool, done])];
    const { gateway, endedTree, workspaceRoot } = await openGateway({
      plugins: [tool, agent],
      config: { service: { max_tree_jobs: 50 }, plugins: { apart: { agent: true, config } }, pipelines: [taking()] },
    });
    const { job_ids } = await gateway.runs.start(start, api);
    await endedTree(job_ids[0]);
    const hints = agent.requests.map(({ context }) => readHints(context));
    expect(hints).toMatchObject([49, 47].map((treeJobsLeft) => ({ treeJobsLeft, workspaceRoot })));
    expect(readHints(tool.requests[0]?.context)).toEqual({ pausedMs: new Map() });
  });

  it("ends a run as cancelled, and traces that where the run has its files", async () => {
    const [tool, agent] = [heldPlugin("tool"), apart([useTool, done])];
    const { gateway, untilIdle, workspaceRoot } = await openGateway({
      ...{ plugins: [tool, agent], config: { plugins: { apart: { agent: true, config } }, pipelines: [taking()] } },
    });
    const { job_ids } = await gateway.runs.start({ ...start, run_id: "R1" }, api);
    await tool.next();
    await gateway.runs.cancel("R1", "user:1");
    await untilIdle();
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "cancelled" });
    const cancel = agent.requests.find(({ command }) => command === "cancel");
    expect(cancel?.workspace_dir).toBe(join(workspaceRoot, job_ids[0] ?? ""));
    expect((await gateway.runs.trace("R1")).at(-1)).toMatchObject({ kind: "escalated", summary: "cancelled" });
    expect(readdirSync(workspaceRoot)).toEqual(job_ids);
  });

  it("escalates of several runs only those that have waited for too long, pauses not counted, and removes old folders", async () => {
    const clock = heldClock();
    const tool = plugin("tool", () => {
      throw permanently("No.");
    });
    const agent = apart([({ goal }) => (goal === "Wait." ? useTool : done)], { now: () => clock.now() });
    const { gateway, untilIdle, workspaceRoot } = await openGateway({
      ...{ plugins: [tool, agent], clock },
      config: {
        plugins: { apart: { agent: true, config: { ...config, run_retention: "1h" } } },
        pipelines: [taking({ on_error: "none" })],
      },
    });
    const begin = async (run_id: string, goal: string) => {
      const { job_ids } = await gateway.runs.start({ ...start, run_id, goal }, api);
      await untilIdle();
      return join(workspaceRoot, job_ids[0] ?? "");
    };
    const finished = await begin("R0", "Nothing.");
    const first = await begin("R1", "Wait.");
    await clock.advance(10 * MINUTE);
    await begin("R2", "Wait.");
    await gateway.pause("test");
    await clock.advance(60 * MINUTE);
    await gateway.resume();
    await clock.advance(6 * MINUTE);
    await eventually(async () => expect((await gateway.runs.get("R1")).status).toBe("escalated"));
    await untilIdle();
    expect((await gateway.runs.get("R2")).status).toBe("running");
    expect(inShort(await gateway.jobs.list({ command: "poll", limit: 9 }))).toEqual(["apart.poll succeeded"]);
    expect((await gateway.runs.list()).map(({ run_id }) => run_id).toSorted()).toEqual(["R1", "R2"]);
    expect([existsSync(finished), existsSync(first)]).toEqual([false, true]);
  });
});

describe("the folder of a run", () => {
  it("bears the id of its start job also behind the end of an earlier run, for an agent of any make", async () => {
    const next = plugin("next", () => ({ events: [{ type: "agentic.start", payload: { goal: "More." } }] }));
    const other = plugin("other");
    const { gateway, endedTree, workspaceRoot } = await openGateway({
      ...{ plugins: [next, other], script: [done] },
      config: {
        plugins: { other: { agent: true } },
        pipelines: [{ name: "chain", on: "agent.completed", steps: [{ uses: "next" }, { uses: "other" }] }],
      },
    });
    const { job_ids } = await gateway.runs.start({ goal: "Go." }, api);
    const tree = await endedTree(job_ids[0]);
    expect(inShort(tree)).toEqual(["agentic-loop succeeded", "next succeeded", "other succeeded"]);
    expect(next.requests[0]?.workspace_dir).toBe(join(workspaceRoot, job_ids[0] ?? ""));
    expect(other.requests[0]?.workspace_dir).toBe(join(workspaceRoot, tree[2]?.id ?? ""));
  });

  it("is that of the run where a pipeline of its own takes results to the agent", async () => {
    const payload = { run_id: "R1", step: 1, tool: "tool", status: "ok" };
    const [tool, agent] = [
      plugin("tool", () => ({ events: [{ type: "agentic.tool_result", payload }] })),
      apart([useTool, done]),
    ];
    const { gateway, endedTree, workspaceRoot } = await openGateway({
      plugins: [tool, agent],
      config: {
        plugins: { apart: { agent: true, config } },
        pipelines: [
          { name: "tool", on: "agentic.tool_request.tool", steps: [{ uses: "tool" }] },
          { name: "results", on: "agentic.tool_result", steps: [{ uses: "apart" }] },
        ],
      },
    });
    const { job_ids } = await gateway.runs.start({ ...start, run_id: "R1" }, api);
    await endedTree(job_ids[0]);
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "done" });
    const folder = join(workspaceRoot, job_ids[0] ?? "");
    expect(agent.requests.map(({ workspace_dir }) => workspace_dir)).toEqual([folder, folder]);
    expect(readdirSync(workspaceRoot)).toEqual(job_ids);
  });

  it("is left out where an agent of another maker refers to none, and its tool runs", async () => {
    const run = { status: "running", step: 1, pending_step: 1, pending_tool: "tool", workspace_ref: "../elsewhere" };
    const request = { type: "agentic.tool_request.tool", payload: { run_id: "R1", step: 1, tool: "tool" } };
    const other = plugin("other", () => ({ events: [request], state_updates: { runs: { R1: run } } }));
    const tool = plugin("tool");
    const { gateway, endedTree } = await openGateway({
      plugins: [other, tool],
      config: {
        plugins: { other: { agent: true } },
        pipelines: [{ name: "tool", on: "agentic.tool_request.tool", steps: [{ uses: "tool" }] }],
      },
    });
    const { job_ids } = await gateway.runs.start({ goal: "Go.", agent: "other" }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["other succeeded", "tool succeeded"]);
    expect(tool.requests[0]).not.toHaveProperty("workspace_dir");
  });
});
