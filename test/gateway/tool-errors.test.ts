// Tools that fail: the job's own retries, then the bridge to the agent that waits, then the agent's attempts.
import { describe, expect, it } from "vitest";
import { heldClock } from "../../src/testing/held-clock.ts";
import { eventually } from "../eventually.ts";
import {
  api,
  eventPayload,
  heldPlugin,
  inShort,
  openGateway,
  permanently,
  plugin,
  silentPlugin,
  toolPipeline,
} from "./gateway-world.ts";

const useTool = { tool: "tool", tool_payload: { url: "http://example.test" } };
const done = { decision: "done", outcome: "It is written." } as const;
const once = { plugins: { tool: { retry: { max_attempts: 1 } } } };
const fail = (error: string | Error) => () => {
  throw error instanceof Error ? error : new Error(error);
};

describe("a tool that fails", () => {
  it("scenario 17: is requested again as the same step, under a key that no earlier request has", async () => {
    const tool = plugin("tool", (_, call) => (call === 0 ? fail("It is busy.")() : "ok"));
    const { run, gateway } = await openGateway({
      ...{ plugins: [tool], tools: ["tool"], config: once, script: [useTool, done] },
    });
    const { run: ended, tree } = await run();
    expect(inShort(tree)).toEqual([
      ...["agentic-loop succeeded", "tool failed plugin_error", "agentic-loop succeeded"],
      ...["tool succeeded", "agentic-loop succeeded"],
    ]);
    expect(tool.requests.map(eventPayload)).toMatchObject([
      { step: 1, attempt: 1, url: "http://example.test" },
      { step: 1, attempt: 2, url: "http://example.test" },
    ]);
    expect((await gateway.jobs.get(tree[3]?.id ?? "")).payload).toMatchObject({
      dedupe_key: "agentic:run:R1:step:1:request:attempt:2",
    });
    expect(ended).toMatchObject({ status: "done", attempt: 2, completed_steps: [1] });
  });

  it("scenario 18: escalates the run after its last attempt, with the error and the number of attempts", async () => {
    const tool = plugin("tool", fail("It is broken."));
    const { run, gateway } = await openGateway({
      ...{ plugins: [tool], tools: ["tool"], config: once, script: [useTool, done] },
    });
    const { run: ended, tree } = await run();
    expect(ended).toMatchObject({ status: "escalated", reason: "tool_error", last_error: "It is broken." });
    const { attempts } = await gateway.jobs.details(tree.at(-1)?.id ?? "");
    expect(JSON.parse(attempts[0]?.response ?? "").events).toMatchObject([
      {
        type: "agent.escalated",
        payload: { reason: "tool_error", step: 1, tool: "tool", attempts: 2, error: "It is broken." },
      },
    ]);
  });

  it("scenario 19: for good is not tried again, neither by its job nor by the agent", async () => {
    const tool = plugin("tool", fail(permanently("There is no such page.")));
    const { run, gateway } = await openGateway({ plugins: [tool], tools: ["tool"], script: [useTool, done] });
    const { run: ended, tree } = await run();
    expect(inShort(tree)).toEqual([
      ...["agentic-loop succeeded", "tool failed plugin_retry_false", "agentic-loop succeeded"],
    ]);
    expect((await gateway.jobs.get(tree[2]?.id ?? "")).payload).toMatchObject({
      type: "agentic.tool_result",
      dedupe_key: "agentic:run:R1:step:1:result",
      payload: {
        ...{ run_id: "R1", step: 1, tool: "tool", attempt: 1, status: "error", result: null },
        ...{ error: "There is no such page.", permanent: true, completed_at: expect.any(String) },
      },
    });
    expect(ended).toMatchObject({ status: "escalated", reason: "tool_error" });
    expect(tool.requests).toHaveLength(1);
  });

  it("scenario 20: by not answering is heard of once, after the last attempt of its job", async () => {
    const tool = silentPlugin("tool");
    const { run, logs } = await openGateway({
      ...{ plugins: [tool], tools: ["tool"], script: [useTool, done], agent: { max_attempts_per_step: 1 } },
      config: { plugins: { tool: { retry: { max_attempts: 2, backoff_base: "1ms" }, timeouts: { handle: "5ms" } } } },
    });
    const { run: ended, tree } = await run();
    expect(inShort(tree)).toEqual([
      ...["agentic-loop succeeded", "tool timed_out timeout #2", "agentic-loop succeeded"],
    ]);
    expect(ended).toMatchObject({ status: "escalated", reason: "tool_error" });
    expect(logs.filter(({ message }) => message.includes("was not queued"))).toEqual([]);
  });

  it("scenario 20: by hanging as a process is heard of once as well", async () => {
    const hangs = { config: { mode: "hang" }, timeouts: { handle: "5ms" } };
    const { run } = await openGateway({
      ...{ tools: ["echo"], script: [{ tool: "echo" }, done], agent: { max_attempts_per_step: 1 } },
      config: { plugins: { echo: { ...hangs, retry: { max_attempts: 2, backoff_base: "1ms" } } } },
    });
    const { run: ended, tree } = await run();
    expect(inShort(tree)).toEqual([
      ...["agentic-loop succeeded", "echo timed_out timeout #2", "agentic-loop succeeded"],
    ]);
    expect(ended).toMatchObject({ status: "escalated", reason: "tool_error" });
  });

  it("with an error is discarded, events and state included; only an ok answer tells an agent of it", async () => {
    const states: unknown[] = [];
    const answers = [{ state_updates: { kept: true } }, new Error("no"), { events: [{ type: "failed_softly" }] }];
    const tool = plugin("tool", ({ state }, call) => {
      states.push(state);
      const answer = answers[call] ?? "ok";
      if (answer instanceof Error) throw answer;
      return answer;
    });
    const { gateway, untilIdle } = await openGateway({ plugins: [tool] });
    await gateway.call("tool", "handle", { payload: {} }, api);
    await gateway.call("tool", "handle", { payload: {} }, api);
    await untilIdle();
    expect(states).toEqual([{}, { kept: true }, { kept: true }]);
  });

  it("because its command is not declared is a tool error, and is not executed", async () => {
    const tool = plugin("tool");
    const script = [{ ...useTool, tool_command: "upload" }, done];
    const { run } = await openGateway({ plugins: [tool], tools: ["tool"], script });
    const { run: ended, tree } = await run();
    expect(tool.requests).toEqual([]);
    expect(inShort(tree)).toEqual(["agentic-loop succeeded", "tool failed preflight", "agentic-loop succeeded"]);
    expect(ended).toMatchObject({
      ...{ status: "escalated", reason: "tool_error", last_error: expect.stringContaining('"upload"') },
    });
  });

  it("in the preflight, or because its answer cannot be applied, is heard of too", async () => {
    const missing = { ...once, pipelines: [toolPipeline("tool", { with: { x: "{payload.missing}" } })] };
    const tooLarge = { ...once, pipelines: [toolPipeline("tool")] };
    for (const [config, reason] of [
      [missing, "preflight"],
      [tooLarge, "apply_failed"],
    ] as const) {
      const tool = plugin("tool", () => ({ state_updates: { blob: "x".repeat(1_100_000) } }));
      const { run } = await openGateway({
        ...{ plugins: [tool], config, script: [useTool, done], agent: { allowed_plugins: ["tool"] } },
      });
      const { run: ended, tree } = await run();
      expect(inShort(tree)[1]).toBe(`tool failed ${reason}`);
      expect(ended).toMatchObject({ status: "escalated", reason: "tool_error" });
    }
  });

  it("behind the first step of its pipeline is heard of as well", async () => {
    const [tool, after] = [plugin("tool"), plugin("after", fail(permanently("It does not fit.")))];
    const steps = [{ uses: "tool" }, { uses: "after" }, { uses: "agentic-loop" }];
    const { run } = await openGateway({
      ...{ plugins: [tool, after], script: [useTool, done], agent: { allowed_plugins: ["tool"] } },
      config: { pipelines: [{ name: "tool", on: "agentic.tool_request.tool", steps }] },
    });
    expect((await run()).run).toMatchObject({ status: "escalated", last_error: "It does not fit." });
  });

  it("because its condition cannot be decided is heard of as well", async () => {
    const [tool, after] = [plugin("tool"), plugin("after")];
    const checked = { uses: "after", if: { path: "payload.result", op: "gt", value: 3 } };
    const steps = [{ uses: "tool" }, checked, { uses: "agentic-loop" }];
    const { run } = await openGateway({
      ...{ plugins: [tool, after], script: [useTool, done], agent: { allowed_plugins: ["tool"] } },
      config: { pipelines: [{ name: "tool", on: "agentic.tool_request.tool", steps }] },
    });
    const { run: ended, tree } = await run();
    expect(inShort(tree)).toEqual([
      ...["agentic-loop succeeded", "tool succeeded", "core.switch failed preflight", "agentic-loop succeeded"],
    ]);
    expect(ended).toMatchObject({ status: "escalated", reason: "tool_error" });
  });

  it("in a step with `on_error: none` is not: the run goes on waiting", async () => {
    const tool = plugin("tool", fail(permanently("no")));
    const { run } = await openGateway({
      ...{ plugins: [tool], script: [useTool, done], agent: { allowed_plugins: ["tool"] } },
      config: { pipelines: [toolPipeline("tool", { on_error: "none" })] },
    });
    const { run: waiting, tree } = await run();
    expect(inShort(tree)).toEqual(["agentic-loop succeeded", "tool failed plugin_retry_false"]);
    expect(waiting).toMatchObject({ status: "running", pending_step: 1 });
  });
});

describe("the bridge", () => {
  it("waits while another job of its pipeline instance is queued, running or awaiting its retry", async () => {
    const broken = plugin("broken", fail(permanently("One branch is broken.")));
    const [slow, other] = [heldPlugin("slow"), plugin("other")];
    const steps = [
      {
        split: [
          { id: "broken", uses: "broken" },
          { id: "slow", uses: "slow" },
        ],
      },
      { uses: "agentic-loop" },
    ];
    const { gateway, endedTree } = await openGateway({
      ...{ plugins: [broken, slow, other], script: [{ tool: "broken" }, done] },
      agent: { allowed_plugins: ["broken"] },
      config: {
        service: { max_workers: 2 },
        pipelines: [{ name: "both", on: "agentic.tool_request.broken", steps }],
      },
    });
    const { job_ids } = await gateway.runs.start({ goal: "Both.", run_id: "R1" }, api);
    const standing = async () => inShort(await gateway.jobs.tree(job_ids[0] ?? ""));
    const running = await slow.next();
    await eventually(async () => expect(await standing()).toContain("broken failed plugin_retry_false"));
    // There is a worker that has nothing to do: what is queued behind the bridge overtakes it.
    await gateway.call("other", "handle", { payload: {} }, api);
    await eventually(async () =>
      expect(await gateway.jobs.list({ statuses: ["succeeded"], limit: 9 })).toHaveLength(2),
    );
    expect(await standing()).toEqual([
      ...["agentic-loop succeeded", "broken failed plugin_retry_false", "slow running", "agentic-loop queued"],
    ]);
    running.fail(new Error("Not yet."));
    const again = await slow.next();
    expect((await standing()).slice(2)).toEqual(["slow running plugin_error #2", "agentic-loop queued"]);
    again.answer("Here it is.");

    const tree = await endedTree(job_ids[0]);
    const turns = tree.filter(({ plugin: name }) => name === "agentic-loop");
    const byEnd = turns.toSorted((one, other) => (one.completed_at ?? 0) - (other.completed_at ?? 0));
    expect(byEnd.map(({ submitted_by }) => submitted_by)).toEqual(["api", "route", "bridge"]);
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "done", attempt: 1, completed_steps: [1] });
  });

  it("tells an agent once of a step, although two branches fail", async () => {
    const [one, two] = [plugin("one", fail(permanently("one"))), plugin("two", fail(permanently("two")))];
    const steps = [{ split: [{ uses: "one" }, { uses: "two" }] }, { uses: "agentic-loop" }];
    const { run } = await openGateway({
      ...{ plugins: [one, two], script: [{ tool: "one" }, done], agent: { allowed_plugins: ["one"] } },
      config: { pipelines: [{ name: "both", on: "agentic.tool_request.one", steps }] },
    });
    const { run: ended, tree } = await run();
    expect(tree.filter(({ submitted_by }) => submitted_by === "bridge")).toHaveLength(1);
    expect(ended).toMatchObject({ status: "escalated", reason: "tool_error", last_error: "one" });
  });

  it("says nothing of an agent's own turn: the run stays as it was, and no turn follows", async () => {
    const { run } = await openGateway({
      ...{ plugins: [plugin("tool")], tools: ["tool"] },
      config: { plugins: { "agentic-loop": { retry: { max_attempts: 1 } } } },
      script: [useTool, fail("The model is away.")],
    });
    const { run: waiting, tree } = await run();
    expect(inShort(tree)).toEqual(["agentic-loop succeeded", "tool succeeded", "agentic-loop failed plugin_error"]);
    expect(waiting).toMatchObject({ status: "running", pending_step: 1, pending_tool: "tool", completed_steps: [] });
  });

  it("says nothing of a requester that fails to hear of it, also where that is no agent", async () => {
    const payload = { run_id: "R1", step: 1, tool: "tool" };
    const requester = plugin("requester", ({ event }, call) => {
      if (call > 1) throw new Error("This never ends.");
      if (event?.type === "agentic.tool_result") throw permanently("What result?");
      return { events: [{ type: "agentic.tool_request.tool", payload }] };
    });
    const { gateway, endedTree } = await openGateway({
      plugins: [requester, plugin("tool", fail(permanently("no")))],
      config: { pipelines: [{ name: "tool", on: "agentic.tool_request.tool", steps: [{ uses: "tool" }] }] },
    });
    const { job_ids } = await gateway.call("requester", "handle", { payload: {} }, api);
    expect(inShort(await endedTree(job_ids[0]))).toEqual([
      ...["requester succeeded", "tool failed plugin_retry_false", "requester failed plugin_retry_false"],
    ]);
    expect(requester.requests[1]?.event?.payload).toMatchObject({ ...payload, status: "error", error: "no" });
  });

  it("lets a later attempt answer under the plain key of the RFC: its attempt is appended", async () => {
    const tool = plugin("tool", (_, call) => {
      if (call === 0) throw new Error("Not yet.");
      const payload = { run_id: "R1", step: 1, tool: "tool", status: "ok", result: "Here it is." };
      return { events: [{ type: "agentic.tool_result", payload, dedupe_key: "agentic:run:R1:step:1:result" }] };
    });
    const { run, gateway } = await openGateway({
      ...{ plugins: [tool], tools: ["tool"], config: once, script: [useTool, done] },
    });
    const { run: ended, tree } = await run();
    expect(ended).toMatchObject({ status: "done", attempt: 2 });
    const bridge = await gateway.jobs.get(tree[2]?.id ?? "");
    expect(bridge.payload).toMatchObject({ dedupe_key: "agentic:run:R1:step:1:result" });
    expect(inShort(tree).at(-1)).toBe("agentic-loop succeeded");
  });
});

it("a tool runs the command that was requested, where its manifest declares it", async () => {
  const tool = plugin("tool", () => "ok", { commands: ["handle", "measure"] });
  const script = [{ ...useTool, tool_command: "measure" }, done];
  const { run } = await openGateway({ plugins: [tool], tools: ["tool"], script });
  expect((await run()).run.status).toBe("done");
  expect(tool.requests).toMatchObject([
    { command: "measure", payload: { run_id: "R1", step: 1, url: "http://example.test" } },
  ]);
  expect(tool.requests[0]).not.toHaveProperty("event");
});

it("scenario 37: a job is tried again after 30, 60 and 120 seconds, and its fourth failure is the last", async () => {
  const clock = heldClock();
  const tool = plugin("tool", fail("It is busy."));
  const config = { plugins: { tool: { retry: {} } } };
  const { gateway, endedTree } = await openGateway({ plugins: [tool], config, clock });
  const [id = ""] = (await gateway.call("tool", "handle", { payload: {} }, api)).job_ids;
  for (const [index, base] of [30_000, 60_000, 120_000].entries()) {
    const { due_at } = await eventually(async () => {
      const job = await gateway.jobs.get(id);
      expect(job).toMatchObject({ status: "queued", attempt: index + 2, reason: "plugin_error" });
      return job;
    });
    const delay = (due_at ?? 0) / 1_000 - clock.now();
    // A quarter of the base at most is added by chance.
    expect([delay >= base, delay <= base + 7_500]).toEqual([true, true]);
    await clock.advance(delay);
  }
  expect(inShort(await endedTree(id))).toEqual(["tool failed plugin_error #4"]);
  expect(tool.requests.map(({ job_id }) => job_id)).toEqual([id, id, id, id]);
});
