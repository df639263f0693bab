// A process that dies: what it had committed is done once, and what it had not is done by the next.
import { expect, it } from "vitest";
import { eachDatabase, type World } from "../databases.ts";
import { openMortal } from "../mortal-runtime.ts";
import {
  api,
  createTestGateway,
  type GatewaySpec,
  heldPlugin,
  inShort,
  newFolder,
  openGateway,
  plugin,
  setUp,
} from "./gateway-world.ts";

const useTool = { tool: "tool" } as const;
const done = { decision: "done", outcome: "It is written." } as const;
const start = { goal: "Go.", run_id: "R1", dedupe_key: "agentic:start:1" };

/** A gateway that dies when it reaches its point. */
async function openDying(world: World, spec: GatewaySpec, fate: (point: string) => boolean) {
  const { setup, ...about } = setUp(spec);
  const holdfast = await openMortal(world, [], fate, { gateway: setup });
  return { ...createTestGateway(holdfast, about), died: holdfast.died, die: () => holdfast.die() };
}

/** True when the point is reached so many times. */
function nth(name: string, time: number): (point: string) => boolean {
  let count = 0;
  return (point) => point === name && ++count === time;
}

eachDatabase((newWorld) => {
  it("scenario 30: a turn that was not committed is taken again, with one run, one request and one tool job", async () => {
    const world = await newWorld();
    const tool = plugin("tool");
    const spec = { plugins: [tool], tools: ["tool"], script: [useTool, done], workspaceRoot: newFolder() };
    const before = await openDying(world, spec, nth("before commit job", 1));
    const { job_ids } = await before.gateway.runs.start(start, api);
    await before.died;
    const { gateway, endedTree } = await openGateway({ ...spec, world });
    const tree = await endedTree(job_ids[0]);
    expect(inShort(tree)).toEqual(["agentic-loop succeeded #2", "tool succeeded", "agentic-loop succeeded"]);
    expect(await gateway.runs.list()).toMatchObject([{ run_id: "R1", status: "done" }]);
    const { attempts } = await gateway.jobs.details(job_ids[0] ?? "");
    expect(attempts.map(({ outcome }) => outcome)).toEqual(["orphaned", "succeeded"]);
    expect(tool.requests).toHaveLength(1);
    const trace = await gateway.runs.trace("R1");
    expect(trace.filter(({ phase, kind }) => phase === "frame" && kind === "framed")).toHaveLength(1);
  });

  it("scenario 31: a turn that was committed is not taken again, and its tool runs once", async () => {
    const world = await newWorld();
    const tool = plugin("tool");
    const spec = { plugins: [tool], tools: ["tool"], script: [useTool, done], workspaceRoot: newFolder() };
    const before = await openDying(world, spec, nth("after commit job", 1));
    const { job_ids } = await before.gateway.runs.start(start, api);
    await before.died;
    const { gateway, endedTree } = await openGateway({ ...spec, world });
    expect(inShort(await endedTree(job_ids[0]))).toEqual([
      ...["agentic-loop succeeded", "tool succeeded", "agentic-loop succeeded"],
    ]);
    expect(tool.requests).toHaveLength(1);
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "done" });
  });

  it("scenario 32: a tool that ran when the process died runs again, and the run completes", async () => {
    const world = await newWorld();
    const [slow, tool] = [heldPlugin("tool"), plugin("tool")];
    const spec = { tools: ["tool"], script: [useTool, done], workspaceRoot: newFolder() };
    const before = await openDying(world, { ...spec, plugins: [slow] }, () => false);
    const { job_ids } = await before.gateway.runs.start(start, api);
    await slow.next();
    await before.die();
    const { gateway, endedTree } = await openGateway({ ...spec, world, plugins: [tool] });
    expect(inShort(await endedTree(job_ids[0]))).toEqual([
      ...["agentic-loop succeeded", "tool succeeded #2", "agentic-loop succeeded"],
    ]);
    expect(tool.requests.map(({ job_id }) => job_id)).toEqual([slow.requests[0]?.job_id]);
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "done" });
  });

  it("scenario 32: with its attempts used up it is dead, and its agent hears of it", async () => {
    const world = await newWorld();
    const [slow, tool] = [heldPlugin("tool"), plugin("tool")];
    const config = { plugins: { tool: { retry: { max_attempts: 1 } } } };
    const spec = { tools: ["tool"], script: [useTool, done], config, workspaceRoot: newFolder() };
    const before = await openDying(world, { ...spec, plugins: [slow] }, () => false);
    const { job_ids } = await before.gateway.runs.start(start, api);
    await slow.next();
    await before.die();
    const { gateway, endedTree, stream } = await openGateway({ ...spec, world, plugins: [tool] });
    expect(inShort(await endedTree(job_ids[0]))).toEqual([
      ...["agentic-loop succeeded", "tool dead attempts_exhausted #2", "agentic-loop succeeded"],
      ...["tool succeeded", "agentic-loop succeeded"],
    ]);
    expect((await stream()).filter(({ type }) => type === "job.failed")).toMatchObject([{ data: { recovery: true } }]);
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "done", attempt: 2 });
  });

  it("with its attempts used up it is not run again, also when the process that found it gave it back", async () => {
    const world = await newWorld();
    const [slow, tool] = [heldPlugin("tool"), plugin("tool")];
    const spec = { config: { plugins: { tool: { retry: { max_attempts: 1 } } } }, workspaceRoot: newFolder() };
    const before = await openDying(world, { ...spec, plugins: [slow] }, () => false);
    const { job_ids } = await before.gateway.call("tool", "handle", { payload: {} }, api);
    await slow.next();
    await before.die();
    const error = new Error("Not now.");
    const failed = Promise.withResolvers<void>();
    const onPoint = (point: string) => {
      if (point !== "before commit job") return;
      failed.resolve();
      throw error;
    };
    const between = await openGateway({ ...spec, world, plugins: [tool], options: { onPoint } });
    await failed.promise;
    await between.holdfast.close();
    expect(world.takeErrors()).toEqual([error]);
    const { endedTree } = await openGateway({ ...spec, world, plugins: [tool] });
    expect(inShort(await endedTree(job_ids[0]))).toEqual(["tool dead attempts_exhausted #2"]);
    expect(tool.requests).toEqual([]);
  });
});
