// A tool request that leads to no job: its agent hears of it at once, and no run waits for an answer that cannot come.
import { describe, expect, it } from "vitest";
import type { Planner } from "../../src/gateway/agent/planner/planner.ts";
import { type ScriptedPlannerStep, scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import { api, inShort, openGateway, plugin } from "../gateway/gateway-world.ts";
import { apart } from "./apart.ts";

const useTool = { tool: "tool" } as const;
const useOther = { tool: "other" } as const;
const done = { decision: "done", outcome: "It is written." } as const;
const allowed = { allowed_plugins: ["tool", "other"] };

/** A pipeline for the requests of one tool. */
const taking = (tool: string, more: object = {}, agent = "agentic-loop") => ({
  ...{ name: `${tool} of ${agent}`, on: `agentic.tool_request.${tool}` },
  ...more,
  steps: [{ uses: tool }, { id: "resume", uses: agent }],
});

const withUrl = { if: { path: "payload.url", op: "exists" } };

describe("a request that another agent's pipeline takes, and none of this agent", () => {
  const second = { second: { uses: "agentic-loop", config: allowed } };

  it("is refused where a run starts with it", async () => {
    const tool = plugin("tool");
    const { gateway, endedTree } = await openGateway({
      ...{ plugins: [tool], script: [useTool, done], agent: allowed },
      config: { plugins: second, pipelines: [taking("tool", { from_plugin: "second" }, "second")] },
    });
    const { job_ids } = await gateway.runs.start({ goal: "Go.", run_id: "R1" }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["agentic-loop failed plugin_retry_false"]);
    expect(await gateway.runs.list()).toEqual([]);
    await gateway.runs.start({ goal: "Go.", run_id: "R2", agent: "second" }, api);
    await endedTree(job_ids[0]);
    expect(await gateway.runs.get("R2")).toMatchObject({ agent: "second", status: "done" });
  });

  it("escalates a run that comes to it", async () => {
    const { run } = await openGateway({
      ...{ plugins: [plugin("tool"), plugin("other")], script: [useTool, useOther, done], agent: allowed },
      config: {
        plugins: second,
        pipelines: [taking("tool"), taking("other", { from_plugin: "second" }, "second")],
      },
    });
    expect((await run()).run).toMatchObject({ status: "escalated", reason: "tool_unroutable", completed_steps: [1] });
  });
});

describe("a request that no pipeline takes because of its `if`", () => {
  it("fails the start of a run, and creates none", async () => {
    const tool = plugin("tool");
    const { gateway, endedTree, stream, logs } = await openGateway({
      ...{ plugins: [tool], script: [useTool, done], agent: allowed, config: { pipelines: [taking("tool", withUrl)] } },
    });
    const { job_ids } = await gateway.runs.start({ goal: "Go.", run_id: "R1" }, api);
    const tree = await endedTree(job_ids[0]);
    expect(inShort(tree)).toEqual(["agentic-loop failed apply_failed"]);
    expect(tree[0]?.last_error).toContain('no pipeline takes this request of agentic-loop for the tool "tool"');
    expect(await gateway.runs.list()).toEqual([]);
    expect((await stream()).map(({ type }) => type)).toContain("router.tool_unroutable");
    expect(logs).toContainEqual(expect.objectContaining({ level: "warn", id: job_ids[0] }));
  });

  it("escalates a run that comes to it, in the turn that follows at once", async () => {
    const [tool, other] = [plugin("tool"), plugin("other")];
    const { run, gateway, stream, logs } = await openGateway({
      ...{ plugins: [tool, other], script: [useTool, useOther, done], agent: allowed },
      config: { pipelines: [taking("tool"), taking("other", withUrl)] },
    });
    const { run: ended, tree } = await run();
    expect(inShort(tree)).toEqual([
      ...["agentic-loop succeeded", "tool succeeded", "agentic-loop succeeded", "agentic-loop succeeded"],
    ]);
    expect(ended).toMatchObject({ status: "escalated", reason: "tool_unroutable", step: 2, completed_steps: [1] });
    expect(await gateway.jobs.get(tree[3]?.id ?? "")).toMatchObject({
      submitted_by: "bridge",
      payload: { type: "agentic.tool_result", payload: { run_id: "R1", step: 2, tool: "other", permanent: true } },
    });
    const ends = (await stream()).filter(({ type }) => type === "agent.escalated");
    expect(ends).toMatchObject([{ data: { run_id: "R1", reason: "tool_unroutable" } }]);
    expect(logs).toContainEqual(expect.objectContaining({ level: "warn", id: tree[2]?.id }));
  });

  it("is taken where another payload fits", async () => {
    const { run } = await openGateway({
      ...{ plugins: [plugin("tool")], script: [{ ...useTool, tool_payload: { url: "u" } }, done], agent: allowed },
      config: { pipelines: [taking("tool", withUrl)] },
    });
    expect((await run()).run).toMatchObject({ status: "done" });
  });
});

describe("a request under a key that a job of another run has succeeded with", () => {
  const config = {
    plugins: { second: { uses: "agentic-loop", config: allowed } },
    pipelines: ["agentic-loop", "second"].flatMap((agent) =>
      ["tool", "other"].map((tool) => taking(tool, { from_plugin: agent }, agent)),
    ),
  };

  it.each<[string, readonly ScriptedPlannerStep[], readonly object[]]>([
    ["fails the start of a run, and creates none", [useTool, done], []],
    ["escalates a run that comes to it", [useOther, useTool], [{ status: "escalated", reason: "tool_error" }]],
  ])("%s", async (_what, second, expected) => {
    const first = [useTool, useTool, done];
    const planners = { "One.": scriptedPlanner(first), "Two.": scriptedPlanner(second) };
    const plannerOf = ({ goal }: { readonly goal: string }) => planners[goal === "One." ? goal : "Two."];
    const planner: Planner = {
      frame: (input, options) => plannerOf(input).frame(input, options),
      plan: (input, options) => plannerOf(input).plan(input, options),
      reflect: (input, options) => plannerOf(input).reflect(input, options),
    };
    const { gateway, untilIdle } = await openGateway({
      ...{ plugins: [plugin("tool"), plugin("other")], agent: allowed, planner, config },
    });
    await gateway.runs.start({ goal: "One.", run_id: "R1" }, api);
    await untilIdle();
    await gateway.runs.start({ goal: "Two.", run_id: "R1", agent: "second" }, api);
    await untilIdle();
    expect((await gateway.runs.list()).filter(({ agent }) => agent === "second")).toMatchObject(expected);
  });
});

describe("an agent that does not know what the gateway takes", () => {
  const agents = { apart: { agent: true, config: allowed } };
  const start = { goal: "Go.", run_id: "R1", agent: "apart" };

  it("gets no run that starts with a request which nothing takes", async () => {
    const { gateway, endedTree } = await openGateway({
      ...{ plugins: [plugin("tool"), apart([useTool])], config: { plugins: agents } },
    });
    const { job_ids } = await gateway.runs.start(start, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["apart failed apply_failed"]);
    expect(await gateway.runs.list()).toEqual([]);
  });

  it("escalates a run that comes to such a request", async () => {
    const { gateway, endedTree } = await openGateway({
      ...{ plugins: [plugin("tool"), plugin("other"), apart([useTool, useOther])] },
      config: { plugins: agents, pipelines: [taking("tool", {}, "apart")] },
    });
    const { job_ids } = await gateway.runs.start(start, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual([
      ...["apart succeeded", "tool succeeded", "apart succeeded", "apart succeeded"],
    ]);
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "tool_unroutable", step: 2 });
  });

  it("is answered once, however often it asks for what nothing takes", async () => {
    const request = (step: number) => ({
      type: "agentic.tool_request.tool",
      payload: { run_id: "R1", step, tool: "tool" },
    });
    const stubborn = plugin("stubborn", (_, call) => ({ events: [request(call + 1)] }));
    const { gateway, endedTree, stream } = await openGateway({
      ...{ plugins: [stubborn, plugin("tool")], config: { plugins: { stubborn: { agent: true } } } },
    });
    const { job_ids } = await gateway.runs.start({ goal: "Go.", agent: "stubborn" }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["stubborn succeeded", "stubborn failed apply_failed"]);
    expect((await stream()).filter(({ type }) => type === "router.tool_unroutable")).toHaveLength(2);
  });

  it.each([3, 4, 5])("escalates a run whose tree is full, here with %i jobs", async (max_tree_jobs) => {
    const tool = plugin("tool");
    const { gateway, endedTree } = await openGateway({
      ...{ plugins: [tool, apart(Array(9).fill(useTool))] },
      config: { service: { max_tree_jobs }, plugins: agents, pipelines: [taking("tool", {}, "apart")] },
    });
    const { job_ids } = await gateway.runs.start(start, api);
    const tree = await endedTree(job_ids[0]);
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "max_tree_jobs_exceeded" });
    expect(tree.filter(({ submitted_by }) => submitted_by !== "bridge")).toHaveLength(max_tree_jobs);
    expect(inShort(tree).at(-1)).toBe("apart succeeded");
  });

  it("gets no run whose first request has no room", async () => {
    const { gateway, endedTree } = await openGateway({
      ...{ plugins: [plugin("tool"), apart([useTool])] },
      config: { service: { max_tree_jobs: 1 }, plugins: agents, pipelines: [taking("tool", {}, "apart")] },
    });
    const { job_ids } = await gateway.runs.start(start, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["apart failed apply_failed"]);
    expect(await gateway.runs.list()).toEqual([]);
  });
});
