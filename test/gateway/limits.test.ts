// Limits: the jobs of a tree, what is carried along, and the size of payloads.
import { describe, expect, it } from "vitest";
import type { Planner } from "../../src/gateway/agent/planner/planner.ts";
import { scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import { eachDatabase } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { api, heldPlugin, inShort, openGateway, plugin } from "./gateway-world.ts";

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

  it("the error of a job that adds too many says how many jobs its tree has", async () => {
    const [first, second] = [plugin("first", () => ({ events: many(1) })), plugin("second", () => ({ events: more }))];
    const more = many(9).map((event) => ({ ...event, type: "more" }));
    const { gateway, endedTree } = await openGateway({
      ...{ world: await newWorld(), plugins: [first, second] },
      config: { service: { max_tree_jobs: 5 }, pipelines: [listening("part", "second"), listening("more", "second")] },
    });
    const { job_ids } = await gateway.call("first", "handle", { payload: {} }, api);
    const [, failed] = await endedTree(job_ids[0]);
    expect(failed?.last_error).toContain("has 2 jobs and would get 9 more");
  });

  it("hooks hear of a job that fails in a full tree: what they start is a tree of its own", async () => {
    const [source, dead, watcher] = [plugin("source", () => ({ events: many(1) })), plugin("dead"), plugin("watcher")];
    const pipelines = [
      ...[listening("part", "dead"), listening("dead_letter", "dead")],
      { name: "failed", "on-hook": "job.failed", steps: [{ uses: "watcher", baggage: { error: "payload.error" } }] },
    ];
    const { gateway, untilIdle } = await openGateway({
      ...{ world: await newWorld(), plugins: [source, dead, watcher] },
      config: { service: { max_tree_jobs: 1 }, plugins: { source: { notify_on_complete: true } }, pipelines },
    });
    const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
    await untilIdle();
    expect(inShort(await gateway.jobs.tree(job_ids[0] ?? ""))).toEqual(["source failed apply_failed"]);
    expect(dead.requests).toEqual([]);
    expect(watcher.requests).toMatchObject([{ context: { error: expect.stringContaining("tree_too_large") } }]);
  });

  it("events that are one by their key are one job, however many there are of them", async () => {
    const events = Array.from({ length: 500 }, (_, n) => ({ type: "part", payload: { n }, dedupe_key: `${n % 2}` }));
    const source = plugin("source", () => ({ events }));
    const { gateway, endedTree } = await openGateway({
      ...{ world: await newWorld(), plugins: [source, plugin("tool")] },
      config: { service: { max_tree_jobs: 3 }, pipelines: [listening("part", "tool")] },
    });
    const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["source succeeded", "tool succeeded", "tool succeeded"]);
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

  it("a run whose tool meets the full tree with its own events is escalated for that reason too", async () => {
    const tool = plugin("tool", () => ({ events: many(3) }));
    const { run } = await openGateway({
      ...{ world: await newWorld(), plugins: [tool], tools: ["tool"], script: [useTool, done] },
      config: { service: { max_tree_jobs: 3 } },
    });
    const { run: ended, tree } = await run();
    expect(inShort(tree)).toEqual(["agentic-loop succeeded", "tool failed apply_failed", "agentic-loop succeeded"]);
    expect(ended).toMatchObject({
      ...{ status: "escalated", reason: "max_tree_jobs_exceeded" },
      last_error: expect.stringContaining("tree_too_large"),
    });
  });
});

it("a hundred thousand events in one answer fail their job, and the queue goes on", async () => {
  const source = plugin("source", () => ({ events: many(100_000) }));
  const { gateway, endedTree } = await openGateway({
    ...{ plugins: [source, plugin("tool")], config: { pipelines: [listening("part", "tool")] } },
  });
  const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
  const next = await gateway.call("tool", "handle", { payload: {} }, api);
  expect(inShort(await endedTree(job_ids[0]))).toEqual(["source failed apply_failed"]);
  expect(inShort(await endedTree(next.job_ids[0]))).toEqual(["tool succeeded"]);
});

describe("what the events of one answer come to, each with its result", () => {
  const MEGABYTE = 1024 * 1024;

  it.each([
    ["is stored up to 64 MiB", 15, "succeeded"],
    ["fails the job beyond that", 17, "failed apply_failed"],
  ])("%s", async (_what, count, end) => {
    const result = "x".repeat(4 * MEGABYTE);
    const [source, tool] = [plugin("source", () => ({ result, events: many(count) })), plugin("tool")];
    const { gateway, endedTree, stream } = await openGateway({
      ...{ plugins: [source, tool], config: { pipelines: [listening("part", "tool")] } },
    });
    const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
    const [first, ...others] = await endedTree(job_ids[0]);
    expect(inShort(first ? [first] : [])).toEqual([`source ${end}`]);
    const isStored = end === "succeeded";
    expect([others.length, tool.requests.length]).toEqual(isStored ? [count, count] : [0, 0]);
    const text = "events_too_large: The 17 jobs that follow from the job would take more than 64 MiB";
    expect(first?.last_error ?? "").toContain(isStored ? "" : text);
    expect((await stream()).filter(({ type }) => type === "job.enqueued")).toHaveLength(1 + others.length);
  });

  it("is added up before any of it is sealed: gigabytes fail their job, and the queue goes on", async () => {
    const source = plugin("source", () => ({ result: "x".repeat(9 * MEGABYTE), events: many(990) }));
    const { gateway, endedTree } = await openGateway({
      ...{ plugins: [source, plugin("tool")], config: { pipelines: [listening("part", "tool")] } },
    });
    const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
    const next = await gateway.call("tool", "handle", { payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["source failed apply_failed"]);
    expect(inShort(await endedTree(next.job_ids[0]))).toEqual(["tool succeeded"]);
  });

  it("counts what is carried along, and nothing of events that are known", async () => {
    const text = "x".repeat(MEGABYTE - 1_000);
    let events = many(40).map((event) => ({ ...event, payload: { text }, dedupe_key: `part ${event.payload.n}` }));
    const [source, tool] = [plugin("source", () => ({ events })), plugin("tool")];
    const step = { uses: "tool", baggage: { text: "payload.text" } };
    const { gateway, endedTree } = await openGateway({
      plugins: [source, tool],
      config: {
        pipelines: [
          { name: "part", on: "part", steps: [step] },
          { name: "more", on: "more", steps: [step] },
        ],
      },
    });
    const call = async () => {
      const { job_ids } = await gateway.call("source", "handle", { payload: {} }, api);
      return inShort(await endedTree(job_ids[0]));
    };
    expect(await call()).toEqual(["source failed apply_failed"]);
    const all = events;
    for (const some of [all.slice(0, 20), all.slice(20), all]) {
      events = some;
      expect((await call())[0]).toBe("source succeeded");
    }
    expect(tool.requests).toHaveLength(40);
  });
});

it("a run whose tree is filled while its turn is under way hears of it in the next turn, which has its place", async () => {
  const filler = heldPlugin("filler");
  const scripted = scriptedPlanner([useTool, useTool, useTool]);
  let plans = 0;
  let isPlanned = false;
  const planner: Planner = {
    ...scripted,
    async plan(...asked) {
      const plan = await scripted.plan(...asked);
      isPlanned = ++plans === 2;
      return plan;
    },
  };
  const { run, gateway, logs } = await openGateway({
    ...{ plugins: [plugin("tool", () => ({ events: many(1) })), filler, plugin("sink")], tools: ["tool"], planner },
    config: {
      service: { max_tree_jobs: 6, max_workers: 2 },
      pipelines: [listening("part", "filler"), listening("more", "sink")],
    },
    options: {
      // Behind the turn that has seen room for its request, and before its commit.
      async onPoint(point) {
        if (point !== "after effect plugin" || !isPlanned) return;
        isPlanned = false;
        (await filler.next()).answer({ events: [1, 2].map((n) => ({ type: "more", payload: { n } })) });
        await eventually(async () => {
          expect(inShort(await gateway.jobs.list({ plugin: "filler", limit: 9 }))).toEqual(["filler succeeded"]);
        });
      },
    },
  });
  const { run: ended, tree } = await run();
  expect(ended).toMatchObject({ status: "escalated", reason: "max_tree_jobs_exceeded", completed_steps: [1] });
  expect(inShort(tree).filter((line) => line.includes("failed"))).toEqual([]);
  expect(tree.map(({ submitted_by }) => submitted_by === "bridge")).toEqual([...Array(6).fill(false), true]);
  expect(plans).toBe(2);
  expect(logs).toContainEqual(
    expect.objectContaining({ level: "warn", message: expect.stringContaining("tree_too_large") }),
  );
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

  it("an agent hears of its tool although pipelines of dead letters do not", async () => {
    const [tool, morgue] = [plugin("tool", () => ({ events: many(3) })), plugin("morgue")];
    const dead = (name: string) => ({ ...listening("dead_letter", "morgue"), name });
    const { run } = await openGateway({
      ...{ plugins: [tool, morgue], tools: ["tool"], script: [useTool, done] },
      config: { service: { max_tree_jobs: 3 }, pipelines: [dead("one"), dead("two")] },
    });
    const { run: ended, tree } = await run();
    expect(inShort(tree)).toEqual(["agentic-loop succeeded", "tool failed apply_failed", "agentic-loop succeeded"]);
    expect(ended).toMatchObject({ status: "escalated", reason: "max_tree_jobs_exceeded" });
    expect(morgue.requests).toEqual([]);
  });

  it("the event stream has no job that was not queued, and the log says that a dead letter was not", async () => {
    const source = plugin("source", () => ({ events: many(9) }));
    const { gateway, endedTree, stream, logs } = await openGateway({
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
    const message = expect.stringMatching(/its dead letter was not queued: .*service\.max_tree_jobs is 1\./);
    expect(logs).toMatchObject([{ level: "warn", id: job_ids[0], plugin: "source", message }]);
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

it("the default grows with the pipelines that the agent's requests are taken by", async () => {
  const steps = [...Array(60).fill({ uses: "tool" }), { uses: "agentic-loop" }];
  const { gateway } = await openGateway({
    ...{ plugins: [plugin("tool")], agent: { allowed_plugins: ["tool"] } },
    config: { pipelines: [{ name: "long", on: "agentic.tool_request.tool", steps }] },
  });
  expect(gateway.configuration()).toMatchObject({ service: { max_tree_jobs: 2 * (1 + 20 * 2 * 61) } });
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
