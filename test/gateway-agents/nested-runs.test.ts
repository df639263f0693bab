// No run is started from inside another one, by whatever way its jobs lead to an agent. What follows the end of a run may.
import { describe, expect, it } from "vitest";
import type { CommandAnswer } from "../../src/gateway/plugins/in-process-plugin.ts";
import { api, inShort, openGateway, permanently, plugin, toolPipeline } from "../gateway/gateway-world.ts";

const useTool = { tool: "tool" } as const;
const done = { decision: "done", outcome: "It is written." } as const;
const starting = { events: [{ type: "agentic.start", payload: { goal: "More." } }] };
const emitting = (type: string) => ({ events: [{ type, payload: {} }] });
const starts = { name: "starts", on: "agentic.start", steps: [{ uses: "agentic-loop" }] };
const steps = (...uses: readonly string[]) => uses.map((each) => ({ uses: each }));
const chain = (on: string, ...uses: readonly string[]) => ({ name: `on ${on}`, on, steps: steps(...uses) });

/** A run of one step, whose tool answers like this. The first call of `starter` starts another run, where it may. */
async function runWith(tool: () => CommandAnswer, pipelines: readonly object[], more: object = {}) {
  const between = plugin("between", () => emitting("seen"));
  const starter = plugin("starter", (_, call) => (call === 0 ? starting : "ok"));
  const world = await openGateway({
    ...{ plugins: [plugin("tool", tool), between, starter], tools: ["tool"], script: [useTool, done] },
    config: { service: { max_tree_jobs: 30 }, pipelines: [starts, ...pipelines], ...more },
  });
  const { job_ids } = await world.gateway.runs.start({ goal: "Go.", run_id: "R1" }, api);
  const tree = await world.endedTree(job_ids[0]);
  return { ...world, tree, runs: (await world.gateway.runs.list()).toReversed() };
}

describe("a start from inside a run is refused and logged, and creates no run,", () => {
  it.each<[string, () => CommandAnswer, readonly object[]]>([
    ["behind an event of its tool", () => emitting("found"), [chain("found", "starter")]],
    ["several instances away", () => emitting("found"), [chain("found", "between"), chain("seen", "starter")]],
    ["behind a condition", () => emitting("found"), [chain("found", "starter"), conditional()]],
    ["in the pipeline itself", () => emitting("found"), [chain("found", "starter", "agentic-loop")]],
    [
      "behind what a tool calls the end of a run",
      () => ({ events: [{ type: "agent.completed", payload: { run_id: "R1" } }] }),
      [chain("agent.completed", "starter")],
    ],
    ["behind what a tool reports as its result", () => result(), [chain("agentic.tool_result", "starter")]],
  ])("%s", async (_what, tool, pipelines) => {
    const { tree, runs, logs, stream } = await runWith(tool, pipelines);
    expect(runs).toMatchObject([{ run_id: "R1", status: "done" }]);
    const refused = tree.filter(({ reason }) => reason === "apply_failed");
    expect(refused.length).toBeGreaterThan(0);
    for (const job of refused) {
      expect(job).toMatchObject({ plugin: "starter", last_error: expect.stringContaining("inside the run R1") });
      expect(logs).toContainEqual(expect.objectContaining({ level: "warn", id: job.id, message: job.last_error }));
    }
    expect((await stream()).map(({ type }) => type)).toContain("router.agent_inside_run");
  });

  it("behind the dead letter of its tool", async () => {
    const fail = () => {
      throw permanently("No.");
    };
    const { tree, runs } = await runWith(fail, [chain("dead_letter", "starter")]);
    expect(runs).toMatchObject([{ run_id: "R1", status: "escalated", reason: "tool_error" }]);
    expect(inShort(tree)).toContain("starter failed apply_failed");
  });

  it("behind a hook of the turn that has started it", async () => {
    const hook = { name: "hook", "on-hook": "job.completed", steps: steps("starter") };
    const plugins = { "agentic-loop": { notify_on_complete: true, config: { allowed_plugins: ["tool"] } } };
    const { runs, gateway, untilIdle } = await runWith(() => "ok", [hook], { plugins });
    await untilIdle();
    expect(runs).toHaveLength(1);
    expect(inShort(await gateway.jobs.list({ plugin: "starter", limit: 9 }))).toEqual(["starter failed apply_failed"]);
  });
});

describe("an agent of another maker", () => {
  const open = (answer: CommandAnswer, pipelines: readonly object[]) =>
    openGateway({
      ...{ plugins: [plugin("other", () => answer), plugin("tool", () => emitting("found"))], script: [useTool, done] },
      agent: { allowed_plugins: ["tool"] },
      config: { plugins: { other: { agent: true } }, pipelines: [starts, toolPipeline("tool"), ...pipelines] },
    });

  it("starts no run by an event of its own turn", async () => {
    const { gateway, endedTree } = await open(starting, []);
    const { job_ids } = await gateway.call("other", "handle", { payload: { goal: "Go." } }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["other failed apply_failed"]);
    expect(await gateway.runs.list()).toEqual([]);
  });

  it("may start one with the turn that ends its own run", async () => {
    const end = { type: "agent.completed", payload: { run_id: "R7" } };
    const { gateway, endedTree } = await open({ events: [end, ...starting.events] }, []);
    const { job_ids } = await gateway.call("other", "handle", { payload: { goal: "Go." } }, api);
    expect(inShort(await endedTree(job_ids[0])).slice(0, 2)).toEqual(["other succeeded", "agentic-loop succeeded"]);
  });

  it("does not end its run by saying so while its state says that it goes on", async () => {
    const end = { type: "agent.completed", payload: { run_id: "R7" } };
    const state_updates = { runs: { R7: { status: "running", pending_step: 1, pending_tool: "tool" } } };
    const { gateway, endedTree } = await open({ events: [end, ...starting.events], state_updates }, []);
    const { job_ids } = await gateway.call("other", "handle", { payload: { goal: "Go." } }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["other failed apply_failed"]);
  });

  it("creates no run of its own when an event from inside another one reaches it", async () => {
    const answer = { state_updates: { runs: { R8: { status: "running", pending_step: 1, pending_tool: "tool" } } } };
    const { gateway, endedTree } = await open(answer, [chain("found", "other")]);
    const { job_ids } = await gateway.runs.start({ goal: "Go.", run_id: "R1" }, api);
    const tree = await endedTree(job_ids[0]);
    expect(tree.find(({ plugin: name }) => name === "other")).toMatchObject({
      ...{ status: "failed", reason: "apply_failed", last_error: expect.stringContaining("R8 from inside the run R1") },
    });
    expect(await gateway.runs.list()).toMatchObject([{ run_id: "R1", status: "done" }]);
  });
});

describe("behind the end of a run", () => {
  it.each([
    ["completed", { ...done }],
    ["escalated", { decision: "escalate", detail: "No." } as const],
  ])("that was %s another one starts, whose end starts the next", async (type, end) => {
    let started = 0;
    const starter = plugin("starter", () => (started++ < 2 ? starting : "ok"));
    const { gateway, endedTree } = await openGateway({
      ...{ plugins: [plugin("tool"), starter], tools: ["tool"], script: [useTool, end] },
      config: { pipelines: [starts, chain(`agent.${type}`, "starter")] },
    });
    const { job_ids } = await gateway.runs.start({ goal: "Go.", run_id: "R1" }, api);
    const tree = await endedTree(job_ids[0]);
    expect(tree.filter(({ status }) => status === "failed")).toEqual([]);
    expect((await gateway.runs.list()).map(({ status }) => status)).toEqual(
      Array(3).fill(type === "completed" ? "done" : type),
    );
  });
});

function conditional(): object {
  const on = { name: "conditional", on: "agentic.start" };
  return { ...on, steps: [{ uses: "agentic-loop", if: { path: "payload.goal", op: "exists" } }] };
}

function result(): CommandAnswer {
  const payload = { run_id: "R1", step: 1, tool: "tool", status: "ok" };
  return { events: [{ type: "agentic.tool_result", payload }] };
}
