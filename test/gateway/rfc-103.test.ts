// What RFC-103 promises, end to end: its invariants, the cases that must pass, its success criteria and what was learned.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentRunView } from "../../src/gateway/gateway.ts";
import { api, eventPayload, inShort, openGateway, plugin, toolPipeline } from "./gateway-world.ts";

const readPage = { tool: "reader", tool_payload: { url: "http://example.test" } };
const askFabric = { tool: "fabric", tool_payload: { prompt: "Two paragraphs." } };
const done = { decision: "done", outcome: "It is written." } as const;
const script = [readPage, askFabric, done];
const tools = ["reader", "fabric"];

const report = (step: number, tool: string, more: object = {}) => ({
  type: "agentic.tool_result",
  payload: { run_id: "R1", step, tool, status: "ok", result: { text: "a page" }, ...more },
});

const both = () => [plugin("reader"), plugin("fabric")];

describe("RFC-103, core invariants", () => {
  it("1. Every run has a unique run_id", async () => {
    const { gateway, untilIdle } = await openGateway({ plugins: both(), tools, script });
    for (const goal of ["one", "two"]) await gateway.runs.start({ goal }, api);
    for (const goal of ["three", "four"]) await gateway.runs.start({ goal, run_id: "R1" }, api);
    await untilIdle();
    const runs = await gateway.runs.list();
    expect(runs.map(({ goal }) => goal).toSorted()).toEqual(["one", "three", "two"]);
    expect(new Set(runs.map(({ run_id }) => run_id)).size).toBe(3);
  });

  it("2. Every tool action has a monotonically increasing step integer, starting at 1", async () => {
    const plugins = both();
    const { run } = await openGateway({
      plugins,
      tools,
      script: [readPage, askFabric, readPage, { decision: "retry" }, done],
    });
    const { tree } = await run();
    const requests = new Map(plugins.flatMap(({ requests }) => requests.map((each) => [each.job_id, each])));
    const steps = tree.flatMap(({ id }) => (requests.has(id) ? [eventPayload(requests.get(id)).step] : []));
    expect(steps).toEqual([1, 2, 3, 4]);
  });

  it("3. Agent persists pending_step and pending_tool before a tool is dispatched", async () => {
    const seen: AgentRunView[] = [];
    const looking = (name: string) =>
      plugin(name, async () => {
        seen.push(await world.gateway.runs.get("R1"));
        return "ok";
      });
    const world = await openGateway({ plugins: [looking("reader"), looking("fabric")], tools, script });
    await world.run();
    expect(seen).toMatchObject([
      { status: "running", pending_step: 1, pending_tool: "reader" },
      { status: "running", pending_step: 2, pending_tool: "fabric" },
    ]);
  });

  it("4. Tool result events must include run_id, step and tool", async () => {
    for (const missing of ["run_id", "step", "tool"]) {
      const reader = plugin("reader", () => ({ events: [report(1, "reader", { [missing]: null })] }));
      const { run } = await openGateway({ plugins: [reader], tools: ["reader"], script: [readPage, done] });
      const { run: waiting, tree } = await run();
      expect(inShort(tree).at(-1)).toBe("agentic-loop failed plugin_retry_false");
      expect(waiting).toMatchObject({ status: "running", completed_steps: [] });
    }
  });

  it("5. Agent resumes only when run_id, step and tool match the current pending state", async () => {
    for (const other of [{ run_id: "R2" }, { step: 2 }, { tool: "fabric" }]) {
      const reader = plugin("reader", () => ({ events: [report(1, "reader", other)] }));
      const { run } = await openGateway({ plugins: [reader], tools: ["reader"], script: [readPage, done] });
      expect((await run()).run).toMatchObject({ completed_steps: [] });
    }
  });

  it("6. Duplicate and stale events are ignored safely", async () => {
    const fabric = plugin("fabric", () => ({
      events: [report(1, "reader"), report(1, "fabric"), report(2, "fabric")],
    }));
    const { run } = await openGateway({ plugins: [plugin("reader"), fabric], tools, script });
    const { run: ended, tree } = await run();
    expect(ended).toMatchObject({ status: "done", step: 2, completed_steps: [1, 2] });
    expect(tree.every(({ status }) => status === "succeeded")).toBe(true);
  });

  it("7. All plugin processes exit with normal protocol v2 success or error semantics", async () => {
    for (const mode of [undefined, "error"]) {
      const config = { ...(mode && { mode, retry: false }) };
      const { run, gateway } = await openGateway({
        ...{ tools: ["echo"], script: [{ tool: "echo" }, done], config: { plugins: { echo: { config } } } },
      });
      const { run: ended, tree } = await run();
      const { attempts } = await gateway.jobs.details(tree[1]?.id ?? "");
      expect(attempts.map(({ exit_code }) => exit_code)).toEqual([0]);
      expect(ended.status).toBe(mode === undefined ? "done" : "escalated");
    }
  });
});

describe("RFC-103, test cases that must pass", () => {
  it("Start event creates run and first tool request", async () => {
    const [reader, fabric] = [plugin("reader"), plugin("fabric")];
    const { run } = await openGateway({
      ...{ plugins: [reader, fabric], tools, script },
      config: { pipelines: [{ name: "start", on: "agentic.start", steps: [{ uses: "agentic-loop" }] }] },
    });
    const { run: created } = await run();
    expect(created).toMatchObject({ run_id: "R1", goal: "Write a critique." });
    expect(eventPayload(reader.requests[0])).toMatchObject({ run_id: "R1", step: 1, tool: "reader" });
  });

  it("Matching tool result resumes and advances to next step", async () => {
    const [reader, fabric] = [plugin("reader", () => ({ events: [report(1, "reader")] })), plugin("fabric")];
    const { run } = await openGateway({ plugins: [reader, fabric], tools, script });
    await run();
    expect(fabric.requests.map(eventPayload)).toMatchObject([{ run_id: "R1", step: 2, tool: "fabric" }]);
  });

  it("Duplicate tool result does not double-advance step", async () => {
    const reader = plugin("reader", () => ({ events: [report(1, "reader"), report(1, "reader")] }));
    const fabric = plugin("fabric");
    const { run } = await openGateway({ plugins: [reader, fabric], tools, script });
    expect((await run()).run.step).toBe(2);
    expect(fabric.requests).toHaveLength(1);
  });

  it("Stale step result is ignored", async () => {
    const fabric = plugin("fabric", () => ({ events: [report(1, "fabric"), report(2, "fabric")] }));
    const { run } = await openGateway({ plugins: [plugin("reader"), fabric], tools, script });
    expect((await run()).run).toMatchObject({ status: "done", completed_steps: [1, 2] });
  });

  it("Wrong tool for pending step escalates", async () => {
    const reader = plugin("reader", () => ({ events: [report(1, "fabric")] }));
    const { run } = await openGateway({ plugins: [reader, plugin("fabric")], tools, script });
    expect((await run()).run).toMatchObject({ status: "escalated", reason: "pending_tool_mismatch" });
  });

  it("max_steps cutoff escalates deterministically", async () => {
    for (const plan of [[readPage, done], [readPage, askFabric], [readPage]]) {
      const { run } = await openGateway({ plugins: both(), tools, script: plan, agent: { max_steps: 1 } });
      expect((await run()).run).toMatchObject({ status: "escalated", reason: "max_steps_exceeded", step: 1 });
    }
  });

  it("Completion emits exactly one agent.completed", async () => {
    const listener = plugin("listener");
    const fabric = plugin("fabric", () => ({
      events: [report(2, "fabric"), report(2, "fabric"), report(2, "fabric")],
    }));
    const { run } = await openGateway({
      ...{ plugins: [plugin("reader"), fabric, listener], tools, script },
      config: { pipelines: [{ name: "end", on: "agent.completed", steps: [{ uses: "listener" }] }] },
    });
    await run();
    expect(listener.requests.map(eventPayload)).toMatchObject([
      { run_id: "R1", goal: "Write a critique.", outcome: "It is written.", steps_taken: 2, artifacts: [] },
    ]);
  });
});

describe("RFC-103, success criteria", () => {
  it("Agent loop works end-to-end with serial dispatcher unchanged", async () => {
    let running = 0;
    const alone = (name: string) =>
      plugin(name, async () => {
        expect(++running).toBe(1);
        await world.gateway.status();
        running--;
        return "ok";
      });
    const world = await openGateway({ plugins: [alone("reader"), alone("fabric")], tools, script });
    expect(world.gateway.configuration()).toMatchObject({ service: { max_workers: 1 } });
    expect((await world.run()).run.status).toBe("done");
  });

  it("No synchronous nested dispatch used: a tool begins once the turn that requested it has ended", async () => {
    const { run } = await openGateway({ plugins: both(), tools, script });
    const { tree } = await run();
    for (const [index, job] of tree.entries()) {
      const parent = tree[index - 1];
      if (!parent) continue;
      expect(job.parent_job_id).toBe(parent.id);
      expect(job.started_at).toBeGreaterThanOrEqual(parent.completed_at ?? Number.POSITIVE_INFINITY);
    }
  });

  it("No special exit code used for control flow: every turn that was taken has succeeded", async () => {
    const wrong = plugin("reader", () => ({ events: [report(9, "reader")] }));
    for (const plugins of [both(), [wrong, plugin("fabric")]]) {
      const { run } = await openGateway({ plugins, tools, script });
      const { run: ended, tree } = await run();
      expect(ended.status).not.toBe("running");
      const turns = tree.filter(({ plugin: name }) => name === "agentic-loop");
      expect(turns.map(({ status, attempt }) => `${status} ${attempt}`)).toEqual(
        Array(turns.length).fill("succeeded 1"),
      );
    }
  });

  it("Tool-to-agent resume is deterministic via run_id + step + tool", async () => {
    const ends: unknown[] = [];
    for (let time = 0; time < 3; time++) {
      const reader = plugin("reader", () => ({
        events: [report(1, "reader"), report(1, "other"), report(2, "reader", { run_id: "R7" })],
      }));
      const { run } = await openGateway({ plugins: [reader, plugin("fabric")], tools, script });
      const { run: ended, tree } = await run();
      ends.push([ended.status, ended.completed_steps, inShort(tree)]);
    }
    expect(ends[0]).toMatchObject(["done", [1, 2], expect.any(Array)]);
    expect(ends).toEqual([ends[0], ends[0], ends[0]]);
  });

  it("Duplicate and stale events are handled safely", async () => {
    const again = plugin("reader", () => ({ events: Array(5).fill(report(1, "reader")) }));
    const { run, stream } = await openGateway({ plugins: [again, plugin("fabric")], tools, script });
    expect((await run()).run).toMatchObject({ status: "done", completed_steps: [1, 2] });
    const requested = (await stream()).filter(({ type }) => type === "agent.step_requested");
    expect(requested.map(({ data }) => data.step)).toEqual([1, 2]);
  });

  it("Final artifacts are available in workspace and referenced in completion event", async () => {
    const fabric = plugin("fabric", ({ workspace_dir = "" }) => {
      mkdirSync(join(workspace_dir, "artifacts"), { recursive: true });
      writeFileSync(join(workspace_dir, "artifacts/critique.md"), "One.\n\nTwo.\n");
      return { events: [{ type: "written", payload: { artifact_path: "artifacts/critique.md" } }] };
    });
    const listener = plugin("listener");
    const { run, workspaceRoot } = await openGateway({
      ...{ plugins: [plugin("reader"), fabric, listener], tools },
      script: [readPage, askFabric, { ...done, artifacts: ["artifacts/critique.md", "artifacts/gone.md", "../x"] }],
      config: { pipelines: [{ name: "end", on: "agent.completed", steps: [{ uses: "listener" }] }] },
    });
    const { tree } = await run();
    expect(eventPayload(listener.requests[0])).toMatchObject({ artifacts: ["artifacts/critique.md"] });
    expect(existsSync(join(workspaceRoot, tree[0]?.id ?? "", "artifacts/critique.md"))).toBe(true);
  });
});

describe("RFC-103, lessons of the narrative", () => {
  it("Lesson 1: routing uses pipelines, and `routes:` are no dead code: each becomes one", async () => {
    const { gateway, untilIdle } = await openGateway({
      plugins: [plugin("reader", () => ({ events: [{ type: "page", payload: {} }] })), plugin("fabric")],
      config: { routes: [{ from: "reader", event_type: "page", to: "fabric" }] },
    });
    expect(gateway.pipelines()).toMatchObject([{ on: "page", steps: [{ uses: "fabric" }] }]);
    const { job_ids } = await gateway.call("reader", "handle", { payload: {} }, api);
    await untilIdle();
    expect(inShort(await gateway.jobs.tree(job_ids[0] ?? ""))).toEqual(["reader succeeded", "fabric succeeded"]);
  });

  it("Lesson 2: an event of type api.trigger starts a run, as a direct call of the agent sends it", async () => {
    const { gateway, endedTree } = await openGateway({ plugins: both(), tools, script });
    const { job_ids } = await gateway.call(
      "agentic-loop",
      "handle",
      { payload: { goal: "Write.", run_id: "R1" } },
      api,
    );
    const [start] = await endedTree(job_ids[0]);
    expect((await gateway.jobs.get(start?.id ?? "")).payload).toMatchObject({ type: "api.trigger" });
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "done" });
  });

  it("Lesson 3: the payload for a tool is flattened into the event's payload, and is there as tool_payload too", async () => {
    const [reader, fabric] = [plugin("reader"), plugin("fabric")];
    const { run } = await openGateway({ plugins: [reader, fabric], tools, script });
    await run();
    expect(eventPayload(reader.requests[0])).toMatchObject({
      ...{ url: "http://example.test", tool_payload: { url: "http://example.test" } },
    });
  });

  it("Lesson 4: a pipeline resumes the agent with the tool's own event, which is correlated by its context", async () => {
    const reader = plugin("reader", () => ({ events: [{ type: "content_ready", payload: { text: "a page" } }] }));
    const { run, gateway } = await openGateway({
      ...{ plugins: [reader], script: [readPage, done], agent: { allowed_plugins: ["reader"] } },
      config: { pipelines: [toolPipeline("reader")] },
    });
    const { run: ended, tree } = await run();
    expect((await gateway.jobs.get(tree[2]?.id ?? "")).payload).toMatchObject({ type: "content_ready" });
    expect(ended).toMatchObject({ status: "done", completed_steps: [1] });
  });
});
