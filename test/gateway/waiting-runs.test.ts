// Runs whose tool never answers: the gateway polls their agent, whatever is scheduled.
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { heldClock } from "../../src/testing/held-clock.ts";
import { eventually } from "../eventually.ts";
import {
  api,
  eventPayload,
  type GatewaySpec,
  inShort,
  openGateway,
  permanently,
  plugin,
  toolPipeline,
} from "./gateway-world.ts";

const MINUTE = 60_000;

/** The tool fails, and its pipeline says nothing of that: runs go on waiting. */
async function waiting(spec: GatewaySpec = {}) {
  const clock = heldClock();
  const lost = plugin("lost", () => {
    throw permanently("No.");
  });
  const world = await openGateway({
    ...spec,
    clock,
    plugins: [lost, ...(spec.plugins ?? [])],
    agent: { allowed_plugins: ["lost"], ...spec.agent },
    script: [{ tool: "lost" }, { decision: "done", outcome: "It is written." }],
    config: {
      ...spec.config,
      pipelines: [toolPipeline("lost", { on_error: "none" }), ...(spec.config?.pipelines ?? [])],
    },
  });
  const start = async (run_id: string) => {
    await world.gateway.runs.start({ goal: "Wait.", run_id }, api);
    await world.untilIdle();
    expect(await world.gateway.runs.get(run_id)).toMatchObject({ status: "running", pending_tool: "lost" });
  };
  const polls = async () => inShort(await world.gateway.jobs.list({ command: "poll", limit: 100 }));
  const untilEscalated = async (run_id: string) =>
    await eventually(async () => expect((await world.gateway.runs.get(run_id)).status).toBe("escalated"));
  return { ...world, clock, start, polls, untilEscalated };
}

describe("a run that has been waiting for its tool for too long", () => {
  it("scenario 33: is escalated, and ignores a result that comes later", async () => {
    const late = plugin("late", () => ({
      events: [{ type: "agentic.tool_result", payload: { run_id: "R1", step: 1, tool: "lost", status: "ok" } }],
    }));
    const { gateway, start, clock, polls, untilEscalated, stream, untilIdle, logs } = await waiting({
      ...{
        plugins: [late],
        config: { pipelines: [{ name: "late", on: "late", steps: [{ uses: "late" }, { uses: "agentic-loop" }] }] },
      },
    });
    await start("R1");
    await clock.advance(14 * MINUTE);
    expect(await polls()).toEqual([]);
    await clock.advance(6 * MINUTE);
    await untilEscalated("R1");
    expect(await gateway.runs.get("R1")).toMatchObject({ reason: "pending_timeout", pending_step: null });
    expect(await polls()).toEqual(["agentic-loop.poll succeeded"]);
    expect((await stream()).filter(({ type }) => type === "agent.escalated")).toMatchObject([
      { data: { run_id: "R1", reason: "pending_timeout" } },
    ]);
    const before = await gateway.runs.get("R1");
    await gateway.emit({ type: "late", payload: {} }, api);
    await untilIdle();
    expect(await gateway.runs.get("R1")).toEqual(before);
    expect(logs.filter(({ message }) => message.includes("the run is escalated"))).toMatchObject([{ level: "info" }]);
  });

  it("is escalated together with others by one poll, each with an event of its own", async () => {
    const listener = plugin("listener");
    const { gateway, start, clock, polls, untilEscalated, untilIdle, stream, workspaceRoot } = await waiting({
      plugins: [listener],
      config: { pipelines: [{ name: "escalated", on: "agent.escalated", steps: [{ uses: "listener" }] }] },
    });
    for (const run of ["R1", "R2", "R3"]) await start(run);
    await clock.advance(20 * MINUTE);
    for (const run of ["R1", "R2", "R3"]) await untilEscalated(run);
    await untilIdle();
    expect(await polls()).toEqual(["agentic-loop.poll succeeded"]);
    const escalated = (await stream()).filter(({ type }) => type === "agent.escalated");
    expect(escalated.map(({ data }) => data.run_id)).toEqual(["R1", "R2", "R3"]);
    const folders = await Promise.all(
      ["R1", "R2", "R3"].map(async (id) => `${id} ${workspaceRoot}/${(await gateway.runs.get(id)).job_id}`),
    );
    const heard = listener.requests.map((request) => `${eventPayload(request).run_id} ${request.workspace_dir}`);
    expect(heard).toEqual(folders);
  });

  it("has not been waiting while the dispatcher was paused", async () => {
    const { gateway, start, clock, polls, untilEscalated } = await waiting();
    await start("R1");
    await clock.advance(10 * MINUTE);
    await gateway.pause("test");
    await clock.advance(60 * MINUTE);
    await gateway.resume();
    await clock.advance(4 * MINUTE);
    expect(await polls()).toEqual([]);
    expect((await gateway.runs.get("R1")).status).toBe("running");
    await clock.advance(2 * MINUTE);
    await untilEscalated("R1");
  });

  it.each([
    ["no schedule", { schedule: null }],
    ["a poll once a week", { schedules: [{ every: "1w", command: "poll" }] }],
  ])("is escalated by the next tick, although its agent has %s", async (_what, settings) => {
    const { start, clock, untilEscalated } = await waiting({
      config: { plugins: { "agentic-loop": { ...settings, config: { allowed_plugins: ["lost"] } } } },
    });
    await start("R1");
    await clock.advance(16 * MINUTE);
    await untilEscalated("R1");
  });

  it("is found by when it was changed last, where its agent does not store since when it waits", async () => {
    const clock = heldClock();
    const run = { status: "running", goal: "Wait.", step: 1, pending_step: 1, pending_tool: "lost" };
    const updated_at = new Date(clock.now()).toISOString();
    const other = plugin("other", () => ({ state_updates: { runs: { R1: { ...run, updated_at } } } }), {
      commands: ["handle", "poll"],
    });
    const config = { plugins: { other: { agent: true } } };
    const { gateway, untilIdle } = await openGateway({ plugins: [other], config, clock });
    await gateway.runs.start({ goal: "Wait.", agent: "other" }, api);
    await untilIdle();
    await clock.advance(14 * MINUTE);
    expect(other.requests.map(({ command }) => command)).toEqual(["handle"]);
    await clock.advance(2 * MINUTE);
    await eventually(() => expect(other.requests.map(({ command }) => command)).toContain("poll"));
  });

  it("because a turn of its agent has failed is escalated as well", async () => {
    const clock = heldClock();
    const { gateway, run } = await openGateway({
      ...{ plugins: [plugin("tool")], tools: ["tool"], clock },
      config: { plugins: { "agentic-loop": { retry: { max_attempts: 1 } } } },
      script: [
        { tool: "tool" },
        () => {
          throw new Error("The model is away.");
        },
      ],
    });
    const { run: pending, tree } = await run();
    expect([pending.status, inShort(tree).at(-1)]).toEqual(["running", "agentic-loop failed plugin_error"]);
    await clock.advance(20 * MINUTE);
    await eventually(async () => {
      expect(await gateway.runs.get("R1")).toMatchObject({ status: "escalated", reason: "pending_timeout" });
    });
  });

  it("is found by the limit that its agent is configured with", async () => {
    const { start, clock, untilEscalated } = await waiting({ agent: { pending_timeout: "1h" } });
    await start("R1");
    await clock.advance(59 * MINUTE);
    await clock.advance(2 * MINUTE);
    await untilEscalated("R1");
  });
});

it("finished runs are pruned by later turns, together with their workspaces", async () => {
  const tool = plugin("tool");
  const { gateway, untilIdle, workspaceRoot } = await openGateway({
    ...{ plugins: [tool], tools: ["tool"], agent: { max_terminal_runs: 2 } },
    script: [{ tool: "tool" }, { decision: "done", outcome: "It is written." }],
  });
  for (const run_id of ["R1", "R2", "R3", "R4"]) {
    await gateway.runs.start({ goal: "Write.", run_id }, api);
    await untilIdle();
  }
  expect((await gateway.runs.list()).map(({ run_id }) => run_id).toSorted()).toEqual(["R3", "R4"]);
  expect(readdirSync(workspaceRoot)).toHaveLength(2);
  await expect(gateway.runs.get("R1")).rejects.toMatchObject({ code: "agent_run_not_found" });
});
