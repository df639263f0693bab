// What an agent is: the shipped one under any name, and plugins of other makers that the configuration calls one.
import { expect, it } from "vitest";
import type { PluginRequest } from "../../src/contracts/gateway/protocol/request.ts";
import { isMap, type JsonMap } from "../../src/contracts/json.ts";
import { checkGateway } from "../../src/gateway/dispatch/check-gateway.ts";
import { onPostgres } from "../databases.ts";
import { eventually } from "../eventually.ts";
import {
  api,
  eventPayload,
  type GatewaySpec,
  inShort,
  openGateway,
  permanently,
  plugin,
  setUp,
} from "./gateway-world.ts";

const done = { decision: "done", outcome: "It is written." } as const;

const resuming = (name: string, agent: string) => ({
  ...{ name, on: "agentic.tool_request.tool", from_plugin: agent },
  steps: [{ uses: "tool" }, { id: "resume", uses: agent }],
});

it("an alias of the agent is an agent with runs of its own, and hears of its own tools", async () => {
  const tool = plugin("tool", (request) => {
    if (request.context?.agent === "second") throw permanently("Not for you.");
    return "ok";
  });
  const { gateway, untilIdle } = await openGateway({
    ...{ plugins: [tool], script: [{ tool: "tool" }, done], agent: { allowed_plugins: ["tool"] } },
    config: {
      plugins: { second: { uses: "agentic-loop", config: { allowed_plugins: ["tool"] } } },
      pipelines: [resuming("one", "agentic-loop"), resuming("two", "second")],
    },
  });
  await gateway.runs.start({ goal: "One.", run_id: "R1" }, api);
  await gateway.runs.start({ goal: "Two.", run_id: "R2", agent: "second" }, api);
  await untilIdle();
  expect(
    (await gateway.runs.list()).map(({ run_id, agent, status }) => `${run_id} ${agent} ${status}`).toSorted(),
  ).toEqual([...["R1 agentic-loop done", "R2 second escalated"]]);
  expect(
    gateway
      .plugins()
      .filter(({ isAgent }) => isAgent)
      .map(({ name }) => name),
  ).toEqual(expect.arrayContaining(["agentic-loop", "second"]));
  await expect(gateway.runs.start({ goal: "Go.", agent: "tool" }, api)).rejects.toMatchObject({
    code: "plugin_not_found",
  });
});

/** An agent of another maker: it asks for one tool, and is done with whatever comes of it. */
function foreign({ event, state, context, job_id }: PluginRequest) {
  const runs = isMap(state.runs) ? (state.runs as JsonMap) : {};
  const { run_id } = context ?? {};
  if (typeof run_id === "string") {
    const run = { ...(runs[run_id] as JsonMap), status: "done", completed_steps: [1] };
    const payload = { run_id, goal: "", outcome: "Well.", steps_taken: 1, artifacts: [] };
    return { events: [{ type: "agent.completed", payload }], state_updates: { runs: { ...runs, [run_id]: run } } };
  }
  const run = { status: "running", goal: event?.payload.goal ?? "", step: 1, pending_step: 1, pending_tool: "tool" };
  const payload = { run_id: job_id, step: 1, tool: "tool", tool_command: "handle", tool_payload: {} };
  return {
    events: [{ type: "agentic.tool_request.tool", payload }],
    state_updates: { runs: { ...runs, [job_id]: { ...run, workspace_ref: `job:${job_id}` } } },
  };
}

it("an agent of another maker is one because it is called one: the event stream tells of its runs", async () => {
  const [other, tool] = [plugin("other", foreign), plugin("tool")];
  const { gateway, endedTree, stream, workspaceRoot } = await openGateway({
    plugins: [other, tool],
    config: { plugins: { other: { agent: true } }, pipelines: [resuming("one", "other")] },
  });
  const { job_ids } = await gateway.runs.start({ goal: "Go.", agent: "other" }, api);
  expect(inShort(await endedTree(job_ids[0]))).toEqual(["other succeeded", "tool succeeded", "other succeeded"]);
  expect((await gateway.runs.list()).map(({ agent, status }) => [agent, status])).toEqual([["other", "done"]]);
  const entries = (await stream()).filter(({ type }) => type.startsWith("agent."));
  expect(entries.map(({ type }) => type)).toEqual([
    ...["agent.run_started", "agent.step_requested", "agent.step_resumed", "agent.completed"],
  ]);
  expect(entries.every(({ data }) => data.agent === "other")).toBe(true);
  expect(eventPayload(tool.requests[0])).toMatchObject({ run_id: job_ids[0], agent: "other" });
  expect(tool.requests[0]?.workspace_dir).toBe(`${workspaceRoot}/${job_ids[0]}`);
});

it("a pipeline that enters an agent as a tool does not load, whatever the agent is called", async () => {
  const pipelines = [{ name: "self", on: "agentic.tool_request.x", steps: [{ uses: "other" }] }];
  const config = { plugins: { other: { agent: true } }, pipelines };
  await expect(openGateway({ plugins: [plugin("other")], config })).rejects.toMatchObject({
    ...{ code: "gateway_config_invalid", message: expect.stringContaining('"self"') },
  });
});

onPostgres((newWorld) => {
  it("of several machines one may run the agents: another one leaves their jobs to it, and runs all others", async () => {
    const world = await newWorld();
    const tool = plugin("tool");
    const spec: GatewaySpec = { world, plugins: [tool], tools: ["tool"], script: [{ tool: "tool" }, done] };
    const { setup } = setUp(spec);
    const other = await openGateway({ ...spec, options: { gateway: { ...setup, runsAgents: false } } });
    const { job_ids } = await other.gateway.runs.start({ goal: "Go.", run_id: "R1" }, api);
    await other.gateway.call("tool", "handle", { payload: {} }, api);
    await eventually(() => expect(tool.requests).toHaveLength(1));
    expect(inShort(await other.gateway.jobs.tree(job_ids[0] ?? ""))).toEqual(["agentic-loop queued"]);
    const { gateway, endedTree } = await openGateway(spec);
    expect(inShort(await endedTree(job_ids[0]))).toEqual([
      ...["agentic-loop succeeded", "tool succeeded", "agentic-loop succeeded"],
    ]);
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "done" });
  });
});

it("checking a configuration says that several machines need a folder for runs which all of them share", async () => {
  const warnings = async (service: object, isShared: boolean) => {
    const checked = await checkGateway({ service, plugins: { "agentic-loop": {} } }, { isShared });
    return checked.valid ? checked.warnings.filter(({ message }) => message.includes("workspace_root")) : checked;
  };
  expect(await warnings({}, true)).toHaveLength(1);
  expect(await warnings({ workspace_root: "/srv/runs" }, true)).toEqual([]);
  expect(await warnings({}, false)).toEqual([]);
});

it("an agent's own commands cannot be called from outside, except for handle and health", async () => {
  const { gateway, untilIdle } = await openGateway({});
  for (const command of ["poll", "cancel"]) {
    const refused = gateway.call("agentic-loop", command, { payload: {} }, api);
    await expect(refused).rejects.toMatchObject({ code: "event_reserved" });
  }
  const { job_ids } = await gateway.call("agentic-loop", "health", { payload: {} }, api);
  await untilIdle();
  expect(inShort(await gateway.jobs.tree(job_ids[0] ?? ""))).toEqual(["agentic-loop.health succeeded"]);
});
