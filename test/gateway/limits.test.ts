// Limits: the jobs of a tree, what is carried along, and the size of payloads.
import { describe, expect, it } from "vitest";
import { eachDatabase } from "../databases.ts";
import { api, inShort, openGateway, plugin } from "./gateway-world.ts";

const useTool = { tool: "tool" } as const;
const done = { decision: "done", outcome: "It is written." } as const;
const many = (count: number) => Array.from({ length: count }, (_, n) => ({ type: "part", payload: { n } }));
const listening = (type: string, uses: string) => ({ name: type, on: type, steps: [{ uses }] });

eachDatabase((newWorld) => {
  it("a job that would make its tree too large fails, and queues none of its children", async () => {
    const source = plugin("source", () => ({ events: many(5), state_updates: { counted: true } }));
    const tool = plugin("tool");
    const { gateway, endedTree } = await openGateway({
      ...{ world: await newWorld(), plugins: [source, tool] },
      config: { service: { max_tree_jobs: 5 }, pipelines: [listening("part", "tool")] },
    });
    const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
    const tree = await endedTree(job_ids[0]);
    expect(inShort(tree)).toEqual(["source failed apply_failed"]);
    expect(tree[0]?.last_error).toContain("tree_too_large");
    expect(tool.requests).toEqual([]);
    await gateway.call("source", "handle", { payload: {} }, api);
    await endedTree(job_ids[0]);
    expect(source.requests[1]?.state).toEqual({});
  });

  it("a run whose tree has no room for another request is escalated for that reason, and never stalls", async () => {
    const { run } = await openGateway({
      ...{ world: await newWorld(), plugins: [plugin("tool")], tools: ["tool"] },
      ...{ script: Array(20).fill(useTool), config: { service: { max_tree_jobs: 7 } } },
    });
    const { run: ended, tree } = await run();
    expect(ended).toMatchObject({ status: "escalated", reason: "max_tree_jobs_exceeded", completed_steps: [1, 2, 3] });
    expect(tree).toHaveLength(7);
  });

  it("a tool that fails in a full tree is heard of all the same", async () => {
    const tool = plugin("tool", () => ({ events: many(3) }));
    const { run } = await openGateway({
      ...{ world: await newWorld(), plugins: [tool], tools: ["tool"], script: [useTool, done] },
      config: { service: { max_tree_jobs: 3 } },
    });
    const { run: ended, tree } = await run();
    expect(inShort(tree)).toEqual(["agentic-loop succeeded", "tool failed apply_failed", "agentic-loop succeeded"]);
    expect(ended).toMatchObject({
      ...{ status: "escalated", reason: "tool_error", last_error: expect.stringContaining("tree_too_large") },
    });
  });
});

describe("in a tree without room", () => {
  it.each([
    ["completed", [useTool, done], 3, { status: "done" }],
    ["escalated", [useTool, useTool], 3, { status: "escalated", reason: "max_tree_jobs_exceeded" }],
  ] as const)("a run is %s although a pipeline listens for that", async (end, script, max_tree_jobs, expected) => {
    const listener = plugin("listener");
    const { run, stream } = await openGateway({
      ...{ plugins: [plugin("tool"), listener], tools: ["tool"], script },
      config: { service: { max_tree_jobs }, pipelines: [listening(`agent.${end}`, "listener")] },
    });
    expect((await run()).run).toMatchObject(expected);
    expect((await stream()).filter(({ type }) => type === `agent.${end}`)).toHaveLength(1);
    expect(listener.requests).toHaveLength(1);
  });

  it("the event stream has no job that was not queued", async () => {
    const source = plugin("source", () => ({ events: many(9) }));
    const { gateway, endedTree, stream } = await openGateway({
      plugins: [source, plugin("tool")],
      config: {
        service: { max_tree_jobs: 1 },
        pipelines: [listening("part", "tool"), listening("dead_letter", "tool")],
      },
    });
    const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["source failed apply_failed"]);
    const queued = (await stream()).filter(({ type }) => type === "job.enqueued");
    expect(queued.map(({ data }) => data.job_id)).toEqual(job_ids);
  });
});

it("the default leaves room for an agent at its step ceiling", async () => {
  const { run, gateway } = await openGateway({
    ...{ plugins: [plugin("tool", () => ({ events: many(3) }))], tools: ["tool"] },
    ...{ script: [...Array(20).fill(useTool), done], agent: { max_steps_mode: "allow_final" } },
  });
  const { run: ended, tree } = await run();
  expect(ended).toMatchObject({ status: "done", max_steps: 20, step: 20 });
  expect(tree).toHaveLength(1 + 20 * 4);
  expect(gateway.configuration()).toMatchObject({ service: { max_tree_jobs: 1_000 } });
});

it("what is carried along has a limit; beyond it the emitting job fails", async () => {
  const source = plugin("source", () => ({ events: [{ type: "part", payload: { text: "x".repeat(1_100_000) } }] }));
  const { gateway, endedTree } = await openGateway({
    plugins: [source, plugin("tool")],
    config: { pipelines: [{ name: "part", on: "part", steps: [{ uses: "tool", baggage: { text: "payload.text" } }] }] },
  });
  const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
  const [job] = await endedTree(job_ids[0]);
  expect(job).toMatchObject({ status: "failed", reason: "apply_failed" });
});
