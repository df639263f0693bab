// Agent runs from their start to their end, through the dispatcher: one turn a job, and a tool between two turns.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";
import type { ReflectInput } from "../../src/gateway/agent/planner/planner.ts";
import { scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import type { Gateway, JobView } from "../../src/gateway/gateway.ts";
import { api, eventPayload, inShort, newFolder, openGateway, plugin, toolPipeline } from "./gateway-world.ts";

const readPage = { tool: "reader", tool_payload: { url: "http://example.test" } };
const askFabric = { tool: "fabric", tool_payload: { prompt: "Two paragraphs." } };
const done = { decision: "done", outcome: "It is written." } as const;

/** What the last job of a tree has emitted. */
async function lastEvents(gateway: Gateway, tree: readonly JobView[]): Promise<readonly JsonMap[]> {
  const { attempts } = await gateway.jobs.details(tree.at(-1)?.id ?? "");
  return JSON.parse(attempts.at(-1)?.response ?? "").events;
}

describe("a run", () => {
  it("scenario 1: a start creates it and requests its first tool, under the key of its first step", async () => {
    const reader = plugin("reader");
    const { run, gateway } = await openGateway({ plugins: [reader], tools: ["reader"], script: [readPage, done] });
    const { tree } = await run();
    const [start] = tree;
    const { attempts } = await gateway.jobs.details(start?.id ?? "");
    const response = JSON.parse(attempts[0]?.response ?? "");
    expect(response).toMatchObject({
      status: "ok",
      events: [{ type: "agentic.tool_request.reader", dedupe_key: "agentic:run:R1:step:1:request" }],
      state_updates: {
        last_run_id: "R1",
        runs: { R1: { status: "running", pending_step: 1, pending_tool: "reader" } },
      },
    });
    expect(reader.requests.map(eventPayload)).toMatchObject([{ run_id: "R1", step: 1, tool: "reader" }]);
  });

  it("scenario 2: a result leads to the next step", async () => {
    const [reader, fabric] = [plugin("reader"), plugin("fabric")];
    const { run } = await openGateway({
      ...{ plugins: [reader, fabric], tools: ["reader", "fabric"], script: [readPage, askFabric, done] },
    });
    const { run: ended, tree } = await run();
    expect(ended).toMatchObject({ status: "done", step: 2, completed_steps: [1, 2], outcome: "It is written." });
    expect(inShort(tree)).toEqual([
      ...["agentic-loop succeeded", "reader succeeded", "agentic-loop succeeded"],
      ...["fabric succeeded", "agentic-loop succeeded"],
    ]);
    expect(eventPayload(fabric.requests[0])).toMatchObject({ step: 2, tool: "fabric", attempt: 1 });
  });

  it("scenario 12: the payload that the planner chose cannot override what correlates the result", async () => {
    const reader = plugin("reader");
    const tool_payload = { run_id: "evil", step: 99, tool: "x", url: "u" };
    const { run } = await openGateway({
      ...{ plugins: [reader], tools: ["reader"], script: [{ tool: "reader", tool_payload }, done] },
    });
    expect((await run()).run.status).toBe("done");
    const payload = eventPayload(reader.requests[0]);
    expect(payload).toMatchObject({ run_id: "R1", step: 1, tool: "reader", url: "u", tool_payload: { url: "u" } });
    expect(Object.keys(payload.tool_payload as object)).toEqual(["url"]);
  });

  it("scenario 13: with the RFC's pipelines, whatever a tool emits is its result, also behind another name", async () => {
    const reader = plugin("jina-reader", () => ({ events: [{ type: "content_ready", payload: { text: "a page" } }] }));
    const seen: unknown[] = [];
    const { run, gateway } = await openGateway({
      plugins: [reader],
      script: [
        { tool: "fetch", tool_payload: { url: "http://example.test" } },
        (input) => {
          seen.push((input as ReflectInput).result);
          return done;
        },
      ],
      agent: { allowed_plugins: ["fetch", "jina-reader"], tool_routes: { fetch: "jina-reader" } },
      config: { pipelines: [toolPipeline("jina-reader")] },
    });
    const { run: ended, tree } = await run();
    expect(ended).toMatchObject({ status: "done", completed_steps: [1] });
    expect(eventPayload(reader.requests[0])).toMatchObject({ tool: "fetch" });
    const resumed = await gateway.jobs.get(tree[2]?.id ?? "");
    expect(resumed.payload).toMatchObject({ type: "content_ready", source: "jina-reader" });
    expect(seen).toMatchObject([{ text: "a page" }]);
  });

  it("scenario 14: what a tool calls step is part of its result, and correlates nothing", async () => {
    const reader = plugin("reader", () => ({ events: [{ type: "progress", payload: { step: 0, total: 1 } }] }));
    const seen: unknown[] = [];
    const { run } = await openGateway({
      ...{ plugins: [reader], tools: ["reader"] },
      script: [
        readPage,
        (input) => {
          seen.push((input as ReflectInput).result);
          return done;
        },
      ],
    });
    expect((await run()).run).toMatchObject({ status: "done", completed_steps: [1] });
    expect(seen).toMatchObject([{ step: 0, total: 1 }]);
  });

  it("scenario 15: a tool without events, such as echo, hands on its result in ductile.step.succeeded", async () => {
    const seen: unknown[] = [];
    const { run, gateway } = await openGateway({
      tools: ["echo"],
      script: [
        { tool: "echo", tool_payload: { text: "Nothing but words." } },
        (input) => {
          seen.push((input as ReflectInput).result);
          return done;
        },
      ],
    });
    const { run: ended, tree } = await run();
    expect(ended).toMatchObject({ status: "done", completed_steps: [1] });
    expect((await gateway.jobs.details(tree[1]?.id ?? "")).attempts).toMatchObject([{ exit_code: 0 }]);
    expect((await gateway.jobs.get(tree[2]?.id ?? "")).payload).toMatchObject({ type: "ductile.step.succeeded" });
    expect(seen).toMatchObject([{ result: "Nothing but words." }]);
  });

  it("scenario 16: three events of a tool become three turns, of which one advances the run", async () => {
    const three = ["one", "two", "three"].map((type) => ({ type, payload: { part: type } }));
    const [reader, fabric] = [plugin("reader", () => ({ events: three })), plugin("fabric")];
    const { run } = await openGateway({
      ...{ plugins: [reader, fabric], tools: ["reader", "fabric"], script: [readPage, askFabric, done] },
    });
    const { run: ended, tree } = await run();
    expect(inShort(tree).filter((line) => line.startsWith("agentic-loop"))).toHaveLength(1 + 3 + 1);
    expect(fabric.requests).toHaveLength(1);
    expect(ended).toMatchObject({ status: "done", completed_steps: [1, 2], reframes: 0 });
  });

  it("scenario 34: two runs on one worker interleave in the order of their jobs, one execution at a time", async () => {
    let running = 0;
    let most = 0;
    const order: string[] = [];
    const busy = (name: string) =>
      plugin(name, async (request) => {
        running++;
        most = Math.max(most, running);
        order.push(`${eventPayload(request).run_id} ${name}`);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return "ok";
      });
    const { gateway, untilIdle } = await openGateway({
      plugins: [busy("reader"), busy("fabric")],
      ...{ tools: ["reader", "fabric"], script: [readPage, askFabric, done] },
    });
    await gateway.pause("test");
    await gateway.runs.start({ goal: "one", run_id: "R1" }, api);
    await gateway.runs.start({ goal: "two", run_id: "R2" }, api);
    await gateway.resume();
    await untilIdle();
    expect((await gateway.runs.list()).map(({ status }) => status)).toEqual(["done", "done"]);
    expect(order).toEqual(["R1 reader", "R2 reader", "R1 fabric", "R2 fabric"]);
    expect(most).toBe(1);
  });

  it("has one job tree, rooted at its start", async () => {
    const reader = plugin("reader");
    const { run, gateway } = await openGateway({ plugins: [reader], tools: ["reader"], script: [readPage, done] });
    const { tree } = await run();
    const [start, tool, resume] = tree;
    expect(tree.map(({ parent_job_id }) => parent_job_id)).toEqual([null, start?.id, tool?.id]);
    expect((await gateway.jobs.tree(resume?.id ?? "")).map(({ id }) => id)).toEqual(tree.map(({ id }) => id));
  });

  it("without an id is named after its start job, as its workspace is", async () => {
    const reader = plugin("reader");
    const { gateway, endedTree, workspaceRoot } = await openGateway({
      ...{ plugins: [reader], tools: ["reader"], script: [readPage, done] },
    });
    const { job_ids, run_id } = await gateway.runs.start({ goal: "Read." }, api);
    await endedTree(job_ids[0]);
    expect(run_id).toBe(`run-${job_ids[0]}`);
    expect(await gateway.runs.get(run_id ?? "")).toMatchObject({ job_id: job_ids[0], status: "done" });
    expect(reader.requests[0]?.workspace_dir).toBe(`${workspaceRoot}/${job_ids[0]}`);
  });

  it("without an id bears that of its own job also below the job that triggered it, as its workspace does", async () => {
    const seen = plugin("listener", () => ({ events: [{ type: "agentic.start", payload: { goal: "Go." } }] }));
    const reader = plugin("reader");
    const { gateway, endedTree, workspaceRoot } = await openGateway({
      ...{ plugins: [seen, reader], tools: ["reader"], script: [readPage, done] },
      config: {
        pipelines: [
          { name: "listen", on: "mail", steps: [{ uses: "listener" }] },
          { name: "begin", on: "agentic.start", steps: [{ uses: "agentic-loop" }] },
        ],
      },
    });
    const { job_ids } = await gateway.emit({ type: "mail", payload: {} }, api);
    const tree = await endedTree(job_ids[0]);
    const start = tree[1];
    expect(inShort(tree).slice(0, 3)).toEqual(["listener succeeded", "agentic-loop succeeded", "reader succeeded"]);
    expect(await gateway.runs.list()).toMatchObject([
      { run_id: `run-${start?.id}`, status: "done", workspace_ref: `job:${start?.id}` },
    ]);
    expect(eventPayload(reader.requests[0])).toMatchObject({ run_id: `run-${start?.id}` });
    expect(reader.requests[0]?.workspace_dir).toBe(`${workspaceRoot}/${start?.id}`);
    expect(readdirSync(workspaceRoot)).toEqual([start?.id]);
  });
});

describe("the files of a run", () => {
  const script = [{ decision: "done", outcome: "There was nothing to do." }] as const;
  const filesIn = (folder: string) => readdirSync(folder).toSorted();

  it("lie in workspaces/ in the folder of the database", async () => {
    const folder = newFolder();
    const { run } = await openGateway({
      path: join(folder, "holdfast.db"),
      options: { gateway: { config: {}, planner: scriptedPlanner(script) } },
    });
    const { tree } = await run();
    expect(filesIn(join(folder, "workspaces"))).toEqual([tree[0]?.id]);
    expect(filesIn(join(folder, "workspaces", tree[0]?.id ?? ""))).toContain("trace.jsonl");
  });

  it("lie where service.workspace_root says, those of the agent and those of its tools", async () => {
    const workspace_root = newFolder();
    const reader = plugin("reader");
    const { run, workspaceRoot, gateway } = await openGateway({
      ...{ plugins: [reader], tools: ["reader"], script: [readPage, done] },
      config: { service: { workspace_root } },
    });
    const { tree } = await run();
    expect(reader.requests[0]?.workspace_dir).toBe(join(workspace_root, tree[0]?.id ?? ""));
    expect([filesIn(workspace_root), filesIn(workspaceRoot)]).toEqual([[tree[0]?.id], []]);
    expect(await gateway.runs.trace("R1")).not.toEqual([]);
  });
});

describe("the start of a run", () => {
  it("scenario 21: with a tool that is not allowed fails at the first attempt and creates none", async () => {
    for (const allowed_plugins of [["fabric"], []]) {
      const plugins = [plugin("reader"), plugin("fabric")];
      const { gateway, endedTree } = await openGateway({
        ...{ plugins, tools: ["reader", "fabric"], agent: { allowed_plugins }, script: [readPage] },
      });
      const { job_ids } = await gateway.runs.start({ goal: "Read.", run_id: "R1" }, api);
      expect(inShort(await endedTree(job_ids[0]))).toEqual(["agentic-loop failed plugin_retry_false"]);
      expect(await gateway.runs.list()).toEqual([]);
    }
  });

  it("scenario 27: with a blank goal is refused for good, and nothing is stored", async () => {
    const { gateway, endedTree } = await openGateway({});
    const { job_ids } = await gateway.runs.start({ goal: "   " }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["agentic-loop failed plugin_retry_false"]);
    expect(await gateway.runs.list()).toEqual([]);
  });

  it("scenario 28: under the key of an earlier one is dropped, and the log names the job that there is", async () => {
    const reader = plugin("reader");
    const { gateway, untilIdle, logs } = await openGateway({
      ...{ plugins: [reader], tools: ["reader"], script: [readPage, done] },
    });
    const start = { goal: "Read.", dedupe_key: "agentic:start:req-1" };
    const first = await gateway.runs.start(start, api);
    await untilIdle();
    const second = await gateway.runs.start(start, api);
    expect(second).toEqual({ job_ids: [], duplicates: first.job_ids, run_id: first.run_id });
    expect(await gateway.runs.list()).toHaveLength(1);
    const dropped = logs.filter(({ message }) => message.includes("agentic:start:req-1"));
    expect(dropped).toMatchObject([{ level: "info", message: expect.stringContaining(first.job_ids[0] ?? "") }]);
  });

  it("scenario 26: may lower the step budget of the agent, and not raise it", async () => {
    const budgets: unknown[] = [];
    for (const max_steps of [50, 3]) {
      const { run } = await openGateway({
        ...{ plugins: [plugin("reader")], tools: ["reader"], agent: { max_steps: 5 }, script: [readPage, done] },
      });
      budgets.push((await run({ max_steps })).run.max_steps);
    }
    expect(budgets).toEqual([5, 3]);
  });
});

describe("a run goes on", () => {
  it("scenario 22: not to a tool that is not allowed", async () => {
    const plugins = [plugin("reader"), plugin("fabric")];
    const { run, gateway } = await openGateway({
      ...{
        plugins,
        tools: ["reader", "fabric"],
        agent: { allowed_plugins: ["reader"] },
        script: [readPage, askFabric],
      },
    });
    const { run: ended, tree } = await run();
    expect(ended).toMatchObject({ status: "escalated", reason: "followup_tool_not_allowed" });
    expect(tree).toHaveLength(3);
    expect(await lastEvents(gateway, tree)).toMatchObject([
      { type: "agent.escalated", payload: { reason: "followup_tool_not_allowed", tool: "fabric" } },
    ]);
  });

  it("scenario 23: not to the agent itself, whatever the allowlist says", async () => {
    const plugins = [plugin("reader")];
    const agent = { allowed_plugins: ["reader", "agentic-loop"] };
    const { run } = await openGateway({
      ...{ plugins, tools: ["reader"], agent, script: [readPage, { tool: "agentic-loop" }] },
    });
    expect((await run()).run).toMatchObject({ status: "escalated", reason: "followup_tool_not_allowed" });
  });

  it("scenario 24: not to a tool that no pipeline listens to; no event is dropped", async () => {
    const { run, stream } = await openGateway({
      ...{ plugins: [plugin("reader"), plugin("fabric")], tools: ["reader"], script: [readPage, askFabric] },
      agent: { allowed_plugins: ["reader", "fabric"] },
    });
    expect((await run()).run).toMatchObject({ status: "escalated", reason: "tool_unroutable" });
    const types = (await stream()).map(({ type }) => type).filter((type) => type.startsWith("agent."));
    expect(types).toEqual([...["agent.run_started", "agent.step_requested", "agent.step_resumed", "agent.escalated"]]);
  });

  it("scenario 25: to a new frame as often as is allowed", async () => {
    const reframe = { decision: "reframe", ...readPage } as const;
    const { run } = await openGateway({
      ...{
        plugins: [plugin("reader")],
        tools: ["reader"],
        agent: { max_reframes: 1 },
        script: [readPage, reframe, reframe],
      },
    });
    const { run: ended } = await run();
    expect(ended).toMatchObject({ status: "escalated", reason: "max_reframes_exceeded", reframes: 1, step: 2 });
  });

  it("scenario 6: not beyond its budget, even where the planner would say that it is done", async () => {
    const asked: number[] = [];
    const { run } = await openGateway({
      ...{ plugins: [plugin("reader")], tools: ["reader"], agent: { max_steps: 2 } },
      script: [
        readPage,
        readPage,
        ({ steps_taken }) => {
          asked.push(steps_taken);
          return done;
        },
      ],
    });
    expect((await run()).run).toMatchObject({
      status: "escalated",
      reason: "max_steps_exceeded",
      completed_steps: [1, 2],
    });
    expect(asked).toEqual([]);
  });

  it("scenario 7: beyond it never, but may be done at its last step where allow_final is set", async () => {
    const { run, stream } = await openGateway({
      ...{ plugins: [plugin("reader")], tools: ["reader"], script: [readPage, readPage, done] },
      agent: { max_steps: 2, max_steps_mode: "allow_final" },
    });
    expect((await run()).run.status).toBe("done");
    const completed = (await stream()).filter(({ type }) => type === "agent.completed");
    expect(completed).toMatchObject([{ data: { run_id: "R1", steps_taken: 2 } }]);
  });
});

it("a turn that fails is taken again by its job, and has changed nothing before", async () => {
  const reader = plugin("reader");
  let isAway = true;
  const { run } = await openGateway({
    ...{ plugins: [reader], tools: ["reader"] },
    script: [
      readPage,
      () => {
        if (!isAway) return done;
        isAway = false;
        throw new Error("The model is away.");
      },
    ],
  });
  const { run: ended, tree } = await run();
  expect(inShort(tree)).toEqual(["agentic-loop succeeded", "reader succeeded", "agentic-loop succeeded #2"]);
  expect(ended).toMatchObject({ status: "done", completed_steps: [1], attempt: 1 });
  expect(reader.requests).toHaveLength(1);
});

describe("results that a tool reports as agentic.tool_result", () => {
  const report = (step: number, tool: string, more: object = {}) => ({
    type: "agentic.tool_result",
    payload: { run_id: "R1", step, tool, status: "ok", result: { text: "a page" }, ...more },
  });

  it("scenario 3: that come again change nothing", async () => {
    const reader = plugin("reader", () => ({ events: [report(1, "reader"), report(1, "reader")] }));
    const fabric = plugin("fabric");
    const { run, logs } = await openGateway({
      ...{ plugins: [reader, fabric], tools: ["reader", "fabric"], script: [readPage, askFabric, done] },
    });
    const { run: ended, tree } = await run();
    expect(ended).toMatchObject({ status: "done", step: 2, completed_steps: [1, 2] });
    expect(fabric.requests).toHaveLength(1);
    const ignored = await Promise.all(
      logs.filter(({ message }) => message.includes("the step is over")).map(({ level, id }) => ({ level, id })),
    );
    expect(ignored).toEqual([{ level: "info", id: tree.filter(({ plugin: name }) => name === "agentic-loop")[2]?.id }]);
  });

  it("scenario 4: of an older step are stale, although they name the pending tool", async () => {
    const reader = plugin("reader", (_, call) => ({ events: [report(call + 1, "reader")] }));
    const fabric = plugin("fabric", () => ({ events: [report(1, "fabric"), report(3, "fabric")] }));
    const script = [readPage, readPage, askFabric, done];
    const { run, logs } = await openGateway({ plugins: [reader, fabric], tools: ["reader", "fabric"], script });
    expect((await run()).run).toMatchObject({ status: "done", completed_steps: [1, 2, 3] });
    expect(logs.filter(({ message }) => message.includes("the step is over"))).toHaveLength(1);
  });

  it("scenario 5: of another tool than the pending one escalate the run", async () => {
    const fabric = plugin("fabric", () => ({ events: [report(2, "reader")] }));
    const { run, stream } = await openGateway({
      ...{ plugins: [plugin("reader"), fabric], tools: ["reader", "fabric"], script: [readPage, askFabric, done] },
    });
    const { run: ended } = await run();
    expect(ended).toMatchObject({
      ...{ status: "escalated", reason: "pending_tool_mismatch", pending_step: null, pending_tool: null },
    });
    expect((await stream()).at(-1)).toMatchObject({
      type: "agent.escalated",
      data: { reason: "pending_tool_mismatch" },
    });
  });

  it("scenario 8: complete a run exactly once, however often they are delivered", async () => {
    const fabric = plugin("fabric", () => ({ events: [1, 2, 3].map(() => report(2, "fabric")) }));
    const { run, stream, logs } = await openGateway({
      ...{ plugins: [plugin("reader"), fabric], tools: ["reader", "fabric"], script: [readPage, askFabric, done] },
    });
    const { tree } = await run();
    expect(inShort(tree).filter((line) => line.startsWith("agentic-loop succeeded"))).toHaveLength(5);
    expect((await stream()).filter(({ type }) => type === "agent.completed")).toHaveLength(1);
    expect(logs.filter(({ message }) => message.includes("the run is done")).map(({ level }) => level)).toEqual([
      ...["info", "info"],
    ]);
  });

  it("scenario 9: of a run that is unknown are ignored with a warning", async () => {
    const reader = plugin("reader", () => ({ events: [report(1, "reader", { run_id: "R9" }), report(1, "reader")] }));
    const { run, logs } = await openGateway({ plugins: [reader], tools: ["reader"], script: [readPage, done] });
    expect((await run()).run.status).toBe("done");
    expect(logs.filter(({ message }) => message.includes("there is no such run"))).toMatchObject([{ level: "warn" }]);
  });

  it("scenario 10: of a run that is done are ignored, and the log names that", async () => {
    const reader = plugin("reader", () => ({ events: [report(1, "reader"), report(1, "reader")] }));
    const { run, logs, stream, gateway } = await openGateway({
      ...{ plugins: [reader], tools: ["reader"], script: [readPage, done] },
    });
    const { run: ended, tree } = await run();
    expect(ended).toMatchObject({ status: "done", completed_steps: [1], outcome: "It is written." });
    expect(logs.filter(({ message }) => message.includes("the run is done"))).toMatchObject([{ level: "info" }]);
    expect(tree.filter(({ plugin: name }) => name === "agentic-loop")).toHaveLength(3);
    expect(await lastEvents(gateway, tree)).toEqual([]);
    expect((await stream()).filter(({ type }) => type === "agent.completed")).toHaveLength(1);
  });

  it("scenario 10: of a run that was escalated are ignored too", async () => {
    const reader = plugin("reader", () => ({ events: [report(2, "reader"), report(1, "reader")] }));
    const { run, logs } = await openGateway({ plugins: [reader], tools: ["reader"], script: [readPage, done] });
    expect((await run()).run).toMatchObject({ status: "escalated", reason: "step_mismatch" });
    expect(logs.filter(({ message }) => message.includes("the run is escalated"))).toMatchObject([{ level: "info" }]);
  });

  it("scenario 11: of a step ahead escalate the run", async () => {
    const reader = plugin("reader", () => ({ events: [report(2, "reader")] }));
    const { run, gateway } = await openGateway({ plugins: [reader], tools: ["reader"], script: [readPage, done] });
    const { run: ended, tree } = await run();
    expect(ended).toMatchObject({ status: "escalated", reason: "step_mismatch", pending_step: null });
    expect(inShort(tree)).toEqual(["agentic-loop succeeded", "reader succeeded", "agentic-loop succeeded"]);
    expect(await lastEvents(gateway, tree)).toMatchObject([
      { type: "agent.escalated", payload: { reason: "step_mismatch", expected_step: 1, actual_step: 2 } },
    ]);
  });

  it("change nothing the second time, where a pipeline of their own takes them to the agent too", async () => {
    const reader = plugin("reader", () => ({ events: [report(1, "reader")] }));
    const fabric = plugin("fabric");
    const { run } = await openGateway({
      ...{ plugins: [reader, fabric], tools: ["reader", "fabric"], script: [readPage, askFabric, done] },
      config: {
        pipelines: [{ name: "results", on: "agentic.tool_result", steps: [{ uses: "agentic-loop" }] }],
      },
    });
    const { run: ended, tree } = await run();
    expect(ended).toMatchObject({ status: "done", completed_steps: [1, 2] });
    expect(tree.filter(({ plugin: name }) => name === "agentic-loop")).toHaveLength(4);
    expect(fabric.requests).toHaveLength(1);
  });

  it("under the RFC's key reach the agent once", async () => {
    const keyed = { ...report(1, "reader"), dedupe_key: "agentic:run:R1:step:1:result" };
    const reader = plugin("reader", () => ({ events: [keyed, keyed] }));
    const { run } = await openGateway({ plugins: [reader], tools: ["reader"], script: [readPage, done] });
    const { run: ended, tree } = await run();
    expect(ended.status).toBe("done");
    expect(tree).toHaveLength(3);
  });
});
