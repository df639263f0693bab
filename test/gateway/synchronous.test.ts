// Synchronous pipelines: the caller waits until every job of the tree has ended, or until its time is up.
import { expect, it } from "vitest";
import { eachDatabase, onPostgres } from "../databases.ts";
import { api, heldPlugin, inShort, openGateway, permanently, plugin } from "./gateway-world.ts";

const done = { decision: "done", outcome: "It is written." } as const;
const waiting = (name: string, ...steps: readonly object[]) => ({
  ...{ name, on: name, execution_mode: "synchronous", timeout: "5m", steps },
});

eachDatabase((newWorld) => {
  it("scenario 43: one that starts a run answers with the whole tree and the agent's last response", async () => {
    const { gateway } = await openGateway({
      ...{ world: await newWorld(), plugins: [plugin("reader"), plugin("fabric")], tools: ["reader", "fabric"] },
      script: [{ tool: "reader" }, { tool: "fabric" }, done],
      config: { pipelines: [waiting("agentic.start", { uses: "agentic-loop" })] },
    });
    const result = await gateway.runPipeline("agentic.start", { payload: { goal: "Write.", run_id: "R1" } }, api);
    expect(result).toMatchObject({
      ...{ outcome: "ended", status: "succeeded", duration_ms: expect.any(Number) },
      result: { status: "ok", events: [{ type: "agent.completed", payload: { run_id: "R1", steps_taken: 2 } }] },
    });
    const tree = result.outcome === "ended" ? result.tree : [];
    expect(inShort(tree)).toEqual([
      ...["agentic-loop succeeded", "reader succeeded", "agentic-loop succeeded"],
      ...["fabric succeeded", "agentic-loop succeeded"],
    ]);
    expect(tree[0]?.id).toBe(result.outcome === "ended" && result.job_id);
  });

  it("scenario 43: when its time is up the caller gets timeout_exceeded, and the run still completes", async () => {
    const tool = heldPlugin("tool");
    const { gateway, endedTree } = await openGateway({
      ...{ world: await newWorld(), plugins: [tool], tools: ["tool"], script: [{ tool: "tool" }, done] },
      config: { pipelines: [waiting("agentic.start", { uses: "agentic-loop" })] },
    });
    const payload = { goal: "Write.", run_id: "R1" };
    const result = await gateway.runPipeline("agentic.start", { payload, timeoutMs: 1 }, api);
    expect(result).toEqual({ outcome: "timeout_exceeded", job_id: expect.any(String) });
    (await tool.next()).answer("ok");
    await endedTree("job_id" in result ? result.job_id : undefined);
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "done" });
  });
});

onPostgres((newWorld) => {
  it("a caller may wait in a process that runs no jobs itself", async () => {
    const world = await newWorld();
    const spec = {
      world,
      plugins: [plugin("tool", () => "Well.")],
      config: { pipelines: [waiting("ask", { uses: "tool" })] },
    };
    await openGateway(spec);
    const { gateway } = await openGateway({ ...spec, options: { runs: false } });
    expect(await gateway.runPipeline("ask", { payload: {} }, api)).toMatchObject({
      ...{ outcome: "ended", status: "succeeded", result: { result: "Well." } },
    });
  });
});

it("the answer is that of the last step which ran, also where the steps behind it were left out", async () => {
  const step = { uses: "second", if: { path: "payload.more", op: "eq", value: true } };
  const { gateway } = await openGateway({
    plugins: [plugin("first", () => "That is all."), plugin("second")],
    config: { pipelines: [waiting("ask", { uses: "first" }, step)] },
  });
  expect(await gateway.runPipeline("ask", { payload: {} }, api)).toMatchObject({
    ...{ outcome: "ended", status: "succeeded", result: { result: "That is all." } },
  });
});

it("a tree with a failure has failed, and shows what there is", async () => {
  const broken = plugin("broken", () => {
    throw permanently("no");
  });
  const { gateway } = await openGateway({
    plugins: [broken],
    config: { pipelines: [waiting("ask", { uses: "broken" })] },
  });
  const result = await gateway.runPipeline("ask", { payload: {} }, api);
  expect(result).toMatchObject({ outcome: "ended", status: "failed", result: { status: "error", error: "no" } });
  expect(result.outcome === "ended" && inShort(result.tree)).toEqual(["broken failed plugin_retry_false"]);
});

it("only so many callers wait at once; one more is refused, and nothing is queued for it", async () => {
  const tool = heldPlugin("tool");
  const { gateway } = await openGateway({
    plugins: [tool],
    config: { api: { max_concurrent_sync: 1 }, pipelines: [waiting("ask", { uses: "tool" })] },
  });
  const first = gateway.runPipeline("ask", { payload: {} }, api);
  const call = await tool.next();
  await expect(gateway.runPipeline("ask", { payload: {} }, api)).rejects.toMatchObject({ code: "gateway_busy" });
  expect(await gateway.runPipeline("ask", { payload: {}, isAsync: true }, api)).toMatchObject({ outcome: "queued" });
  call.answer("one");
  expect(await first).toMatchObject({ outcome: "ended", result: { result: "one" } });
  const second = gateway.runPipeline("ask", { payload: {} }, api);
  for (const answer of ["two", "three"]) (await tool.next()).answer(answer);
  expect(await second).toMatchObject({ outcome: "ended", result: { result: "three" } });
});

it("no caller waits for longer than the configuration allows, whatever the pipeline says", async () => {
  const tool = heldPlugin("tool");
  const { gateway, untilIdle } = await openGateway({
    plugins: [tool],
    config: { api: { max_sync_timeout: "1ms" }, pipelines: [{ ...waiting("ask", { uses: "tool" }), timeout: "1h" }] },
  });
  expect(await gateway.runPipeline("ask", { payload: {} }, api)).toMatchObject({ outcome: "timeout_exceeded" });
  (await tool.next()).answer("late");
  await untilIdle();
});

it("a caller that leaves keeps no place, and its work goes on", async () => {
  const tool = heldPlugin("tool");
  const { gateway, untilIdle } = await openGateway({
    plugins: [tool],
    config: { api: { max_concurrent_sync: 1 }, pipelines: [waiting("ask", { uses: "tool" })] },
  });
  const leaving = new AbortController();
  const left = gateway.runPipeline("ask", { payload: {} }, api, leaving.signal);
  const call = await tool.next();
  leaving.abort();
  expect(await left).toMatchObject({ outcome: "timeout_exceeded" });
  const next = gateway.runPipeline("ask", { payload: {} }, api);
  call.answer("one");
  (await tool.next()).answer("two");
  expect(await next).toMatchObject({ outcome: "ended", result: { result: "two" } });
  await untilIdle();
});

it("one that starts several jobs at once cannot be waited for, and none of them is queued", async () => {
  const tool = plugin("tool");
  const split = [
    { id: "a", uses: "tool" },
    { id: "b", uses: "tool" },
  ];
  const { gateway } = await openGateway({ plugins: [tool], config: { pipelines: [waiting("ask", { split })] } });
  await expect(gateway.runPipeline("ask", { payload: {} }, api)).rejects.toMatchObject({ code: "pipeline_ambiguous" });
  expect(await gateway.jobs.list({ limit: 9 })).toEqual([]);
  const queued = await gateway.runPipeline("ask", { payload: {}, isAsync: true }, api);
  expect(queued).toMatchObject({ outcome: "queued", job_ids: [expect.any(String), expect.any(String)] });
});

it("a pipeline that is not synchronous is not waited for, and one that is unknown is refused", async () => {
  const { gateway } = await openGateway({
    ...{ plugins: [plugin("tool")], config: { pipelines: [{ name: "ask", on: "ask", steps: [{ uses: "tool" }] }] } },
  });
  expect(await gateway.runPipeline("ask", { payload: {} }, api)).toMatchObject({ outcome: "queued" });
  await expect(gateway.runPipeline("tell", { payload: {} }, api)).rejects.toMatchObject({ code: "pipeline_not_found" });
});
