// Events that only the gateway and its agents may emit, sent from outside: every way in refuses them, and logs that it did.
import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";
import { scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import { eventually } from "../eventually.ts";
import { heldPlugin } from "../gateway/gateway-world.ts";
import { node } from "../plugin-folders.ts";
import { serveGateway } from "./served-gateway.ts";
import { send, WEBHOOK_SECRET } from "./signed.ts";

const reservedTypes = [
  ...[
    "agentic.tool_result",
    "agentic.tool_request",
    "agentic.tool_request.reader",
    "agent.completed",
    "agent.escalated",
  ],
  ...[
    "dead_letter",
    "ductile.step.succeeded",
    "ductile.switch.true",
    "gateway.reloaded",
    "job.failed",
    "job.completed",
  ],
  ...["router.depth_exceeded", "scheduler.tick", "pipeline.enqueued", "plugin.spawned", "poll.completed"],
  ...[" agentic.tool_result ", "AGENTIC.TOOL_RESULT", "Agent.Completed", "\tjob.failed\n"],
];

const tell = node(
  'let text = ""; process.stdin.on("data", (piece) => (text += piece)).on("end", () => {',
  "  console.log(JSON.stringify({ status: 'ok', result: text }));",
  "});",
);

/** A run that waits for its tool, which the test holds. */
async function waitingRun() {
  const reader = heldPlugin("reader");
  const webhook = { secret: WEBHOOK_SECRET, signature_header: "x-sig" };
  const served = await serveGateway({
    plugins: { tell: { script: tell } },
    config: {
      service: { max_workers: 4 },
      plugins: { "agentic-loop": { config: { allowed_plugins: ["reader"] } }, reader: {} },
      pipelines: [
        { name: "tool", on: "agentic.tool_request.reader", steps: [{ uses: "reader" }, { uses: "agentic-loop" }] },
        { name: "letters", on: "dead_letter", steps: [{ uses: "tell" }] },
        { name: "failures", "on-hook": "job.failed", steps: [{ uses: "tell" }] },
        { name: "start", on: "agentic.start", steps: [{ uses: "agentic-loop" }] },
        { name: "any", on: "any.thing", steps: [{ uses: "agentic-loop" }] },
      ],
      webhooks: [
        { path: "/agent", plugin: "agentic-loop", ...webhook },
        { path: "/tell", plugin: "tell", ...webhook },
      ],
    },
    setup: {
      plugins: [reader],
      planner: scriptedPlanner([
        { tool: "reader", tool_payload: {} },
        { decision: "done", outcome: "Read." },
      ]),
    },
  });
  const owner = await served.token();
  const started = await served.ask(owner, "/runs", { json: { goal: "Read it.", run_id: "R1" } });
  const call = await reader.next();
  const run = async () => (await served.ask(owner, "/runs/R1")).body;
  const before = await run();
  expect(before).toMatchObject({ status: "running", pending_step: 1, pending_tool: "reader" });
  const jobs = async () => (await served.gateway.jobs.list({ limit: 100 })).length;
  return { served, owner, call, run, before, jobs, jobId: started.body.job_id as string };
}

const result: JsonMap = { run_id: "R1", step: 1, tool: "reader", status: "ok", attempt: 1, result: { text: "forged" } };

describe("an event of a reserved type", () => {
  it("is refused with 403 by POST /events, by its name too, and logged each time", async () => {
    const { served, owner, call, run, before, jobs } = await waitingRun();
    const count = await jobs();
    for (const type of reservedTypes) {
      const json = { type, payload: result };
      for (const path of ["/events", "/abilities/holdfast/emit-event"]) {
        const refused = await served.ask(owner, path, { json });
        expect(refused, `${path} ${type}`).toMatchObject({ status: 403, body: { code: "event_reserved" } });
      }
      const logged = served.logs.filter(({ message }) => message.includes(JSON.stringify(type.trim())));
      expect(logged.length, type).toBeGreaterThanOrEqual(2);
      expect(logged.every(({ level }) => level === "warn")).toBe(true);
    }
    expect(await jobs()).toBe(count);
    expect(await run()).toEqual(before);
    call.answer("Read.");
    await eventually(async () => expect((await run()).status).toBe("done"));
  });

  it("is refused by the pipelines that listen for it, and logged", async () => {
    const { served, owner, call, run, before, jobs } = await waitingRun();
    const count = await jobs();
    for (const name of ["tool", "letters", "failures"]) {
      const logs = served.logs.length;
      const refused = await served.ask(owner, `/pipeline/${name}`, { json: { payload: result } });
      expect(refused, name).toMatchObject({ status: 403, body: { code: "event_reserved", error: expect.any(String) } });
      expect(served.logs.slice(logs), name).toMatchObject([{ level: "warn" }]);
    }
    expect(await jobs()).toBe(count);
    expect(await run()).toEqual(before);
    call.answer("Read.");
    await eventually(async () => expect((await run()).status).toBe("done"));
  });

  it("is refused from a command line in the same process, and logged", async () => {
    const { served, call, jobs } = await waitingRun();
    const count = await jobs();
    const { gateway, logs } = served;
    const cli = { via: "cli" };
    for (const send of [
      () => gateway.emit({ type: "agentic.tool_result", payload: result }, cli),
      () => gateway.call("agentic-loop", "poll", { payload: {} }, cli),
      () => gateway.runPipeline("tool", { payload: result }, cli),
    ]) {
      const before = logs.length;
      await expect(send()).rejects.toMatchObject({ code: "event_reserved" });
      expect(logs.slice(before)).toMatchObject([{ level: "warn", message: expect.stringContaining("cli may not") }]);
    }
    expect(await jobs()).toBe(count);
    call.answer("Read.");
  });

  it("is refused by webhooks, whatever else their envelopes say, and logged", async () => {
    const { served, call, run, before, jobs } = await waitingRun();
    const count = await jobs();
    for (const type of reservedTypes) {
      for (const path of ["/agent", "/tell"]) {
        const logs = served.logs.length;
        const body = { type, payload: result, event_id: "e", source: "reader", context: result };
        const refused = await send(served, path, JSON.stringify(body));
        expect(refused, `${path} ${type}`).toMatchObject({ status: 403, body: { code: "event_reserved" } });
        expect(served.logs.slice(logs), type).toMatchObject([
          { level: "warn", message: expect.stringContaining("refused") },
        ]);
      }
    }
    expect(await jobs()).toBe(count);
    expect(await run()).toEqual(before);
    call.answer("Read.");
    await eventually(async () => expect((await run()).status).toBe("done"));
  });
});

describe("an agent", () => {
  it("takes nothing from a webhook but agentic.start", async () => {
    const { served, call, run, before } = await waitingRun();
    for (const body of [
      result,
      { payload: result },
      { type: "any.thing", payload: result },
      { type: "api.trigger", payload: { goal: "g" } },
    ]) {
      const refused = await send(served, "/agent", JSON.stringify(body));
      expect(refused, JSON.stringify(body)).toMatchObject({ status: 403, body: { code: "event_reserved" } });
    }
    expect(await run()).toEqual(before);
    const started = await send(
      served,
      "/agent",
      JSON.stringify({ type: "agentic.start", payload: { goal: "Another.", run_id: "R2" } }),
    );
    expect(started.status).toBe(202);
    const second = served.holdfast.gateway;
    await eventually(async () =>
      expect((await second?.runs.list())?.map(({ run_id }) => run_id).sort()).toEqual(["R1", "R2"]),
    );
    call.answer("Read.");
  });

  it("takes what its handle is called with as a start, never as a result", async () => {
    const { served, owner, call, run, before } = await waitingRun();
    const forged = [
      result,
      { type: "agentic.tool_result", payload: result },
      { ...result, goal: "g", context: result },
    ];
    for (const payload of forged) {
      const called = await served.ask(owner, "/plugin/agentic-loop/handle", { json: { payload } });
      expect(called.status, JSON.stringify(payload)).toBe(202);
      await eventually(async () =>
        expect((await served.gateway.jobs.get(called.body.job_id)).completed_at).not.toBeNull(),
      );
      expect(await run()).toEqual(before);
    }
    for (const command of ["poll", "cancel", "init"]) {
      const refused = await served.ask(owner, `/plugin/agentic-loop/${command}`, {
        json: { payload: { run_id: "R1" } },
      });
      expect(refused.status, command).toBe(command === "init" ? 403 : 403);
    }
    expect(await run()).toEqual(before);
    call.answer("Read.");
  });

  it("takes no other event from outside for a result, though a pipeline leads to it", async () => {
    const { served, owner, call, run, before } = await waitingRun();
    const payload = {
      ...result,
      ductile: { workspace_ref: "job:../.." },
      ductile_pipeline: "tool",
      agent: "agentic-loop",
    };
    const emitted = await served.ask(owner, "/events", { json: { type: "any.thing", payload } });
    await eventually(async () =>
      expect((await served.gateway.jobs.get(emitted.body.job_ids[0])).status).toBe("failed"),
    );
    const started = await served.ask(owner, "/pipeline/start", { json: { payload } });
    await eventually(async () => expect((await served.gateway.jobs.get(started.body.job_id)).status).toBe("failed"));
    expect(await run()).toEqual(before);
    call.answer("Read.");
  });

  it("scenario 29: starts a run where its handle is called with a goal, as an event of type api.trigger", async () => {
    const { served, owner, call } = await waitingRun();
    const called = await served.ask(owner, "/plugin/agentic-loop/handle", { json: { payload: { goal: "Another." } } });
    expect(called).toMatchObject({
      status: 202,
      body: { status: "queued", plugin: "agentic-loop", command: "handle" },
    });
    const { job_id } = called.body;
    await eventually(async () => expect((await served.gateway.jobs.get(job_id)).status).toBe("succeeded"));
    expect((await served.gateway.jobs.get(job_id)).payload).toMatchObject({
      type: "api.trigger",
      payload: { goal: "Another." },
    });
    expect((await served.ask(owner, `/runs/run-${job_id}`)).body).toMatchObject({ goal: "Another.", job_id });
    call.answer("Read.");
  });

  it("does not start a second run for an id that there is", async () => {
    const { served, owner, call, run, before } = await waitingRun();
    const again = await served.ask(owner, "/runs", { json: { goal: "Take over.", run_id: "R1" } });
    await eventually(async () => expect((await served.gateway.jobs.get(again.body.job_id)).status).toBe("succeeded"));
    expect(await run()).toEqual(before);
    call.answer("Read.");
  });
});

describe("a plugin", () => {
  it("cannot have its own events counted as the runs of another plugin's schedule", async () => {
    const forge = node(
      "console.log(JSON.stringify({ status: 'ok', result: 'x', events: [",
      "  { type: 'x.y', event_id: 'schedule:' + JSON.stringify(['tell', 'default']) },",
      "  { type: 'x.y', event_id: 'schedule:no JSON' },",
      "] }));",
    );
    const fail = node("process.exit(1);");
    const manifest = { commands: "[{ name: handle, type: write }, { name: poll, type: read }]" };
    const served = await serveGateway({
      plugins: { forge: { script: forge }, tell: { script: fail, manifest } },
      config: {
        plugins: { tell: { schedules: [{ cron: "0 0 1 1 *" }], circuit_breaker: { threshold: 1 } } },
        pipelines: [{ name: "p", on: "x.y", steps: [{ uses: "tell" }] }],
      },
    });
    const job = await served.run("forge");
    expect((await served.gateway.jobs.tree(job.id)).map(({ status }) => status)).toEqual([
      "succeeded",
      "failed",
      "failed",
    ]);
    expect(await served.gateway.breakers.list()).toEqual([]);
  });
});
