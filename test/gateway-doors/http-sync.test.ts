// Synchronous pipelines over HTTP: who waits, for how long, how many may, and that the work goes on whoever leaves.
import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";
import { scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import { eventually } from "../eventually.ts";
import { heldPlugin, toolPipeline } from "../gateway/gateway-world.ts";
import { node, shell } from "../plugin-folders.ts";
import { serveGateway } from "./served-gateway.ts";

const OK = { script: shell(`echo '{"status":"ok","result":"good","events":[],"extra":{"a":1}}'`) };
const sync = { on: "x.y", execution_mode: "synchronous" };

/** A synchronous pipeline whose only step waits for the test. */
async function heldPipeline(api: JsonMap = {}, more: JsonMap = {}) {
  const held = heldPlugin("held");
  const served = await serveGateway({
    config: {
      service: { max_workers: 4 },
      api,
      plugins: { held: { parallelism: 4 } },
      pipelines: [{ name: "p", ...sync, ...more, steps: [{ uses: "held" }] }],
    },
    setup: { plugins: [held] },
  });
  return { served, held, owner: await served.token() };
}

describe("a synchronous pipeline", () => {
  it("answers 200 with the response of its last job as it was printed, its duration and the whole tree", async () => {
    const served = await serveGateway({
      plugins: { echoes: OK },
      config: {
        pipelines: [
          {
            name: "p",
            ...sync,
            steps: [
              { id: "one", uses: "echoes" },
              { id: "two", uses: "echoes" },
            ],
          },
        ],
      },
    });
    const answer = await served.ask(await served.token(), "/pipeline/p", { json: { payload: { a: 1 } } });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      status: "succeeded",
      result: { status: "ok", result: "good", extra: { a: 1 } },
      tree: [
        { step_id: "one", status: "succeeded", parent_job_id: null },
        { step_id: "two", status: "succeeded", parent_job_id: answer.body.job_id },
      ],
    });
    expect(answer.body.duration_ms).toBeGreaterThanOrEqual(0);
  });

  it("is answered with 202 where nobody wants to wait", async () => {
    const { served, held, owner } = await heldPipeline();
    const queued = await served.ask(owner, "/pipeline/p?async=true", { json: {} });
    expect(queued).toMatchObject({ status: 202, body: { status: "queued", job_id: expect.any(String) } });
    (await held.next()).answer("good");
    expect(await served.ended(queued.body.job_id)).toMatchObject({ status: "succeeded" });
  });

  it("with a step that fails is answered with 200 and the status failed", async () => {
    const served = await serveGateway({
      plugins: { fails: { script: shell(`echo '{"status":"error","error":"no","retry":false}'`) }, echoes: OK },
      config: { pipelines: [{ name: "p", ...sync, steps: [{ uses: "fails" }, { uses: "echoes" }] }] },
    });
    const answer = await served.ask(await served.token(), "/pipeline/p", { json: {} });
    expect(answer).toMatchObject({ status: 200, body: { status: "failed", result: { status: "error", error: "no" } } });
    expect(answer.body.tree).toMatchObject([{ status: "failed", reason: "plugin_retry_false", last_error: "no" }]);
  });

  it.each([
    ["JSON 10,000 levels deep", 'console.log(`{"status":"ok","result":${"[".repeat(10_000)}${"]".repeat(10_000)}}`);'],
    ["garbage", 'console.log("garbage");'],
    ["the key __proto__", `console.log('{"status":"maybe","__proto__":{"a":1},"constructor":{"b":2}}');`],
    ["half of a character", `console.log('{"status":"maybe","result":"\\\\ud800"}');`],
  ])("whose last job printed %s is answered all the same", async (_, line) => {
    const served = await serveGateway({
      plugins: { odd: { script: node(line) } },
      config: { pipelines: [{ name: "p", ...sync, steps: [{ uses: "odd" }] }] },
    });
    const answer = await served.ask(await served.token(), "/pipeline/p", { json: {} });
    expect(answer).toMatchObject({ status: 200, body: { status: "failed", tree: [{ reason: "spawn_error" }] } });
    expect(answer.text).not.toContain("__proto__");
    expect(served.takeErrors()).toEqual([]);
  });

  it("scenario 43: on agentic.start with two tools answers 200 with the whole tree and the agent's last response", async () => {
    const [reader, fabric] = [heldPlugin("reader"), heldPlugin("fabric")];
    const script = [{ tool: "reader" }, { tool: "fabric" }, { decision: "done", outcome: "It is written." }] as const;
    const start = {
      name: "start",
      on: "agentic.start",
      execution_mode: "synchronous",
      steps: [{ uses: "agentic-loop" }],
    };
    const tools = ["reader", "fabric"];
    const served = await serveGateway({
      config: {
        plugins: { "agentic-loop": { config: { allowed_plugins: tools } } },
        pipelines: [start, ...tools.map((tool) => toolPipeline(tool) as JsonMap)],
      },
      setup: { plugins: [reader, fabric], planner: scriptedPlanner(script) },
    });
    const owner = await served.token();
    const asked = served.ask(owner, "/pipeline/start", { json: { payload: { goal: "g", run_id: "R1" } } });
    (await reader.next()).answer("read");
    (await fabric.next()).answer("woven");
    const answer = await asked;
    expect(answer).toMatchObject({ status: 200, body: { status: "succeeded", result: { status: "ok" } } });
    expect(answer.body.tree.map(({ plugin }: { plugin: string }) => plugin)).toEqual([
      ...["agentic-loop", "reader", "agentic-loop", "fabric", "agentic-loop"],
    ]);
    expect(answer.body.result.events).toMatchObject([{ type: "agent.completed" }]);
    expect((await served.ask(owner, "/runs/R1")).body).toMatchObject({ status: "done", outcome: "It is written." });
  });

  it("scenario 43: with a timeout of 1 ms answers 202 with timeout_exceeded, and the run still completes", async () => {
    const reader = heldPlugin("reader");
    const served = await serveGateway({
      config: {
        plugins: { "agentic-loop": { config: { allowed_plugins: ["reader"] } } },
        pipelines: [
          {
            name: "start",
            on: "agentic.start",
            execution_mode: "synchronous",
            timeout: "1ms",
            steps: [{ uses: "agentic-loop" }],
          },
          toolPipeline("reader") as JsonMap,
        ],
      },
      setup: {
        plugins: [reader],
        planner: scriptedPlanner([{ tool: "reader" }, { decision: "done", outcome: "Read." }]),
      },
    });
    const owner = await served.token();
    const answer = await served.ask(owner, "/pipeline/start", { json: { payload: { goal: "g", run_id: "R1" } } });
    expect(answer).toMatchObject({ status: 202, body: { status: "timeout_exceeded", timeout_exceeded: true } });
    (await reader.next()).answer("read");
    await served.ended(answer.body.job_id);
    expect((await served.ask(owner, "/runs/R1")).body).toMatchObject({ status: "done" });
  });

  it("is refused with 503 while as many callers wait as may, and taken again once one has its answer", async () => {
    const { served, held, owner } = await heldPipeline({ max_concurrent_sync: 2 });
    const waiting = [1, 2].map(() => served.ask(owner, "/pipeline/p", { json: {} }));
    const calls = [await held.next(), await held.next()];
    const refused = await served.ask(owner, "/pipeline/p", { json: {} });
    expect(refused).toMatchObject({ status: 503, body: { code: "gateway_busy", error: expect.any(String) } });
    expect(await served.gateway.jobs.list({ limit: 9 })).toHaveLength(2);
    // Who does not wait takes no place.
    expect((await served.ask(owner, "/pipeline/p?async=true", { json: {} })).status).toBe(202);
    calls[0]?.answer("good");
    await Promise.race(waiting);
    calls[1]?.answer("good");
    (await held.next()).answer("good");
    const again = served.ask(owner, "/pipeline/p", { json: {} });
    (await held.next()).answer("good");
    expect((await again).status).toBe(200);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it("gives the place of a caller who leaves to the next one, and its work goes on", async () => {
    const { served, held, owner } = await heldPipeline({ max_concurrent_sync: 1 });
    const leaving = new AbortController();
    const left = served.ask(owner, "/pipeline/p", { json: {}, signal: leaving.signal });
    const call = await held.next();
    leaving.abort();
    await expect(left).rejects.toThrow();
    const next = await eventually(async () => {
      const asked = served.ask(owner, "/pipeline/p", { json: {} });
      const begun = await Promise.race([asked, held.next()]);
      if ("status" in begun) throw new Error(`The place is taken: ${begun.text}`);
      return { asked, begun };
    });
    next.begun.answer("good");
    expect((await next.asked).status).toBe(200);
    call.answer("good");
    await served.untilIdle();
    const jobs = await served.gateway.jobs.list({ limit: 9 });
    expect(jobs.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  });

  it("waits no longer than max_sync_timeout allows", async () => {
    const { served, held, owner } = await heldPipeline({ max_sync_timeout: "5ms" }, { timeout: "1h" });
    const answer = await served.ask(owner, "/pipeline/p", { json: {} });
    expect(answer).toMatchObject({ status: 202, body: { timeout_exceeded: true } });
    (await held.next()).answer("good");
    expect(await served.ended(answer.body.job_id)).toMatchObject({ status: "succeeded" });
  });

  it("that was started before under the same key is not started again", async () => {
    const { served, held, owner } = await heldPipeline();
    const first = served.ask(owner, "/pipeline/p", { json: { dedupe_key: "k" } });
    const call = await held.next();
    const second = await served.ask(owner, "/pipeline/p", { json: { dedupe_key: "k" } });
    expect(second).toMatchObject({ status: 202, body: { status: "duplicate" } });
    call.answer("good");
    expect((await first).status).toBe(200);
    expect(await served.gateway.jobs.list({ limit: 9 })).toHaveLength(1);
  });
});
