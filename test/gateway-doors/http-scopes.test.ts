// Every route of the gateway over HTTP: with the capability that it asks for, without it, without a token, and asked for what
// is not there.
import { describe, expect, it } from "vitest";
import { capabilities } from "../../src/abilities/capabilities.ts";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import { eventually } from "../eventually.ts";
import { heldPlugin } from "../gateway/gateway-world.ts";
import { shell } from "../plugin-folders.ts";
import { type ServedGateway, serveGateway } from "./served-gateway.ts";

const OK = shell(`echo '{"status":"ok","result":"the result"}'`);
const manifest = {
  commands: "[{ name: handle, type: write }, { name: look, type: read }, { name: poll, type: write }]",
};

/** A gateway in which everything that routes name is there. */
async function furnished() {
  const held = heldPlugin("held");
  const served = await serveGateway({
    plugins: { echoes: { script: OK, manifest } },
    config: {
      service: { max_workers: 8 },
      plugins: {
        echoes: { schedules: [{ cron: "0 0 1 1 *" }] },
        "agentic-loop": { config: { allowed_plugins: ["held"] } },
      },
      pipelines: [
        { name: "p", on: "x.y", steps: [{ uses: "echoes" }] },
        { name: "tool", on: "agentic.tool_request.held", steps: [{ uses: "held" }, { uses: "agentic-loop" }] },
      ],
    },
    setup: { plugins: [held], planner: scriptedPlanner([{ tool: "held" }, { decision: "done", outcome: "Done." }]) },
  });
  const { job_ids } = await served.gateway.call("echoes", "handle", { payload: {} }, { via: "api" });
  await served.gateway.runs.start({ goal: "g", run_id: "R1" }, { via: "api" });
  const call = await held.next();
  // The schedule is registered by the first tick.
  await eventually(async () => expect(await served.gateway.schedules.list()).toHaveLength(1));
  return { served, held, call, job: job_ids[0] ?? "" };
}

type Place = { readonly job: string };
/** Where several capabilities are named, each of them is enough. */
type Case = readonly [route: string, capability: string | readonly string[], status: number, json?: object];

/** In an order in which each finds what it names. */
const routes: readonly Case[] = [
  ["GET /plugins", "gateway.read", 200],
  ["GET /plugin/echoes", "gateway.read", 200],
  ["GET /pipelines", "gateway.read", 200],
  ["POST /plugin/echoes/look", ["gateway.invoke", "gateway.run"], 202, {}],
  ["POST /plugin/echoes/handle", "gateway.run", 202, { payload: { a: 1 } }],
  ["POST /pipeline/p", "gateway.run", 202, { payload: { a: 1 } }],
  ["POST /events", "gateway.run", 202, { type: "x.y" }],
  ["POST /runs", "gateway.run", 202, { goal: "g" }],
  ["GET /jobs", "gateway.jobs", 200],
  ["GET /job/:job", "gateway.jobs", 200],
  ["GET /job/:job/tree", "gateway.jobs", 200],
  ["GET /job-logs", "gateway.jobs", 200],
  ["GET /job-logs?job_id=:job", "gateway.jobs", 200],
  ["GET /runs", "gateway.jobs", 200],
  ["GET /runs/R1", "gateway.jobs", 200],
  ["GET /runs/R1/trace", "gateway.results", 200],
  ["GET /scheduler/jobs", "gateway.jobs", 200],
  ["GET /system/status", "gateway.jobs", 200],
  ["GET /config/view", "gateway.config", 200],
  ["GET /events", "gateway.events", 200],
  ["POST /scheduler/jobs/echoes/default/pause", "gateway.manage", 200, {}],
  ["POST /scheduler/jobs/echoes/default/resume", "gateway.manage", 200, {}],
  ["POST /scheduler/breakers/echoes/poll/reset", "gateway.manage", 200, {}],
  ["POST /system/pause", "gateway.manage", 200, {}],
  ["POST /system/resume", "gateway.manage", 200, {}],
  ["POST /system/reload", "gateway.manage", 200, {}],
  ["POST /runs/R1/cancel", "gateway.run", 202, {}],
];

describe("a route of the gateway", () => {
  async function request(served: ServedGateway, token: string | undefined, [route, , , json]: Case, { job }: Place) {
    const [method = "GET", path = ""] = route.replaceAll(":job", job).split(" ");
    const leaving = new AbortController();
    const response = await fetch(new URL(path, served.url), {
      method,
      signal: leaving.signal,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(json !== undefined && { "content-type": "application/json" }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const body = isStream ? {} : await response.json();
    leaving.abort();
    return { status: response.status, type: response.headers.get("content-type"), body };
  }

  it("answers whoever has its capability, and nobody else", async () => {
    const { served, held, call, job } = await furnished();
    const everything = Object.keys(capabilities);
    const stranger = (
      await served.holdfast.tokens.create({ agent: "helper", owner_user_id: 2, allowed_capabilities: everything })
    ).token;
    for (const each of routes) {
      const [route, needed, status] = each;
      const enough = typeof needed === "string" ? [needed] : needed;
      const without = await served.token(...everything.filter((name) => !enough.includes(name)));
      const refused = await request(served, without, each, { job });
      expect(refused, `${route} without ${enough}`).toMatchObject({
        status: 403,
        type: "application/problem+json",
        body: {
          error: expect.any(String),
          detail: expect.any(String),
          code: expect.stringMatching(/forbidden|permissions/),
        },
      });
      const nobody = await request(served, undefined, each, { job });
      expect(nobody, route).toMatchObject({
        status: 401,
        body: { code: "unauthenticated", error: expect.any(String) },
      });
      expect((await request(served, "nonsense", each, { job })).status, route).toBe(401);
      // A list of capabilities is a ceiling: it gives a user nothing that the user does not have.
      expect((await request(served, stranger, each, { job })).status, `${route} by a stranger`).toBe(403);
      for (const capability of enough) {
        const allowed = await request(served, await served.token(capability), each, { job });
        expect(allowed.status, `${route} with ${capability}: ${JSON.stringify(allowed.body)}`).toBe(status);
      }
    }
    call.answer("Too late.");
    (await held.next()).answer("Read.");
    await served.untilIdle();
  });

  it("is in the description of the server, with its capability", async () => {
    const served = await serveGateway();
    const { paths } = (await served.ask(undefined, "/openapi.json")).body;
    for (const [route] of routes) {
      const [method = "", path = ""] = route.split("?")[0]?.split(" ") ?? [];
      const written = path
        .replace(":job", "{job_id}")
        .replace("/R1", "/{run_id}")
        .replace(/^\/plugin\/echoes\/\w+$/, "/plugin/{plugin}/{command}")
        .replace(/^\/plugin\/echoes$/, "/plugin/{plugin}")
        .replace("/pipeline/p", "/pipeline/{name}")
        .replace("jobs/echoes/default", "jobs/{plugin}/{schedule_id}")
        .replace("breakers/echoes/poll", "breakers/{plugin}/{command}");
      expect(paths[written]?.[method.toLowerCase()], route).toBeDefined();
    }
    const { description } = paths["/plugin/{plugin}/{command}"].post;
    expect(description).toContain("It takes the capability `gateway.run` or `gateway.invoke`.");
    expect(paths["/healthz"]?.get).toBeDefined();
  });
});

describe("a token", () => {
  it("scenario 45: that may read plugins calls no command that writes, sees no job, and follows no events", async () => {
    const served = await serveGateway({ plugins: { echoes: { script: OK, manifest } } });
    const reads = await served.token("gateway.read");
    expect((await served.ask(reads, "/plugin/echoes/handle", { json: {} })).status).toBe(403);
    expect((await served.ask(reads, "/plugin/echoes/look", { json: {} })).status).toBe(403);
    expect((await served.ask(reads, "/job/x")).status).toBe(403);
    expect((await served.ask(reads, "/events")).status).toBe(403);
    expect(await served.gateway.jobs.list({ limit: 9 })).toEqual([]);
    const invokes = await served.token("gateway.invoke");
    expect((await served.ask(invokes, "/plugin/echoes/look", { json: {} })).status).toBe(202);
    expect(await served.ask(invokes, "/plugin/echoes/handle", { json: {} })).toMatchObject({
      ...{ status: 403, body: { code: "ability_forbidden", error: expect.stringContaining("gateway.run") } },
    });
    // It is not told which plugins and commands there are.
    expect((await served.ask(invokes, "/plugin/nothing/handle", { json: {} })).status).toBe(403);
  });

  it("that may read the configuration cannot change how the gateway runs, and the other way round", async () => {
    const served = await serveGateway();
    const [reads, manages] = [await served.token("gateway.config"), await served.token("gateway.manage")];
    expect((await served.ask(reads, "/config/view")).status).toBe(200);
    for (const path of ["/system/pause", "/system/resume", "/system/reload"]) {
      expect((await served.ask(reads, path, { method: "POST" })).status, path).toBe(403);
    }
    expect((await served.ask(manages, "/config/view")).status).toBe(403);
  });

  it("scenario 45: in the query string is refused everywhere, also at the event stream, and is in no log", async () => {
    const served = await serveGateway();
    const owner = await served.token();
    for (const path of ["/events", "/jobs", "/plugins", "/healthz/x", "/system/status"]) {
      for (const name of ["token", "access_token", "authorization", "ticket"]) {
        const refused = await served.ask(undefined, `${path}?${name}=${owner}`);
        expect(refused.status, `${path}?${name}`).toBe(401);
      }
    }
    expect(served.requests.join("\n")).not.toContain(owner);
  });

  it("that was revoked lets nobody in any more", async () => {
    const served = await serveGateway();
    const { token, metadata } = await served.holdfast.tokens.create({ agent: "helper", owner_user_id: 1 });
    expect((await served.ask(token, "/jobs")).status).toBe(200);
    await served.holdfast.tokens.revoke(metadata.token_id, "helper");
    expect((await served.ask(token, "/jobs")).status).toBe(401);
  });
});

/** What is asked for in a wrong way, and what is answered. */
const wrong: readonly (readonly [route: string, status: number, code: string, init?: object])[] = [
  ["GET /job/nothing", 404, "job_not_found"],
  ["GET /job/nothing/tree", 404, "job_not_found"],
  ["GET /job-logs?job_id=nothing", 404, "job_not_found"],
  ["POST /job/nothing/cancel", 404, "job_not_found"],
  ["POST /job/:job/cancel", 409, "job_ended"],
  ["GET /plugin/nothing", 404, "plugin_not_found"],
  ["POST /plugin/nothing/handle", 400, "plugin_not_found", { json: {} }],
  ["POST /plugin/echoes/nothing", 400, "plugin_command_not_found", { json: {} }],
  ["POST /plugin/echoes/handle", 400, "invalid_input", { json: { payload: [1] } }],
  ["POST /plugin/echoes/handle", 400, "invalid_input", { json: { payload: "text" } }],
  ["POST /plugin/echoes/handle", 400, "invalid_body", { json: [1] }],
  ["POST /plugin/echoes/handle", 400, "invalid_body", { body: "{", headers: { "content-type": "application/json" } }],
  [
    "POST /plugin/echoes/handle",
    415,
    "unsupported_media_type",
    { body: "{}", headers: { "content-type": "text/plain" } },
  ],
  ["POST /pipeline/nothing", 404, "pipeline_not_found", { json: {} }],
  ["POST /pipeline/many", 400, "pipeline_ambiguous", { json: {} }],
  ["POST /pipeline/p", 400, "invalid_input", { json: { payload: 1 } }],
  ["POST /pipeline/p?async=perhaps", 400, "invalid_input", { json: {} }],
  ["POST /events", 400, "invalid_input", { json: {} }],
  ["POST /events", 400, "invalid_input", { json: { type: "   " } }],
  ["POST /events", 400, "invalid_input", { json: { type: "x".repeat(257) } }],
  ["POST /events", 400, "invalid_input", { json: { type: "x", dedupe_key: " " } }],
  ["GET /events?after=yesterday", 400, "invalid_stream_position"],
  ["GET /jobs?status=odd", 400, "invalid_input"],
  ["GET /jobs?limit=0", 400, "invalid_input"],
  ["GET /jobs?limit=201", 400, "invalid_input"],
  ["GET /jobs?after=nowhere", 400, "invalid_input"],
  ["GET /jobs?from=yesterday", 400, "invalid_input"],
  ["GET /runs/nothing", 404, "agent_run_not_found"],
  ["GET /runs/nothing/trace", 404, "agent_run_not_found"],
  ["POST /runs/nothing/cancel", 404, "agent_run_not_found"],
  ["POST /runs", 400, "invalid_input", { json: { goal: "  " } }],
  ["POST /runs", 404, "plugin_not_found", { json: { goal: "g", agent: "echoes" } }],
  ["POST /scheduler/jobs/echoes/nothing/pause", 404, "schedule_not_found"],
  ["POST /scheduler/jobs/nothing/default/resume", 404, "schedule_not_found"],
  ["POST /scheduler/breakers/nothing/poll/reset", 404, "plugin_not_found", { json: {} }],
  ["POST /scheduler/breakers/echoes/nothing/reset", 404, "plugin_command_not_found", { json: {} }],
  ["GET /job-logs?include_result=perhaps", 400, "invalid_input"],
  ["GET /skills", 404, "route_not_found"],
  ["GET /analytics/queue", 404, "route_not_found"],
  ["GET /.well-known/ai-plugin.json", 404, "route_not_found"],
  ["DELETE /jobs", 405, "method_not_allowed"],
  ["PUT /events", 405, "method_not_allowed"],
  ["GET /pipeline/p", 405, "method_not_allowed"],
  ["GET /jobs/nothing", 404, "route_not_found"],
];

describe("a request that is wrong", () => {
  async function prepared() {
    const served = await serveGateway({
      plugins: { echoes: { script: OK, manifest } },
      config: {
        pipelines: [
          { name: "p", on: "x.y", steps: [{ uses: "echoes" }] },
          {
            ...{ name: "many", on: "x.z", execution_mode: "synchronous" },
            steps: [{ split: [{ steps: [{ uses: "echoes" }] }, { steps: [{ uses: "echoes" }] }] }],
          },
        ],
      },
    });
    return { served, owner: await served.token(), job: (await served.run("echoes")).id };
  }

  it("is answered with the status and the code that belong to it, and with `error` beside the problem", async () => {
    const { served, owner, job } = await prepared();
    const count = (await served.gateway.jobs.list({ limit: 99 })).length;
    for (const [route, status, code, init = {}] of wrong) {
      const [method = "", path = ""] = route.replace(":job", job).split(" ");
      const answer = await served.ask(owner, path, { ...init, method });
      const what = `${route} ${JSON.stringify(init)}`;
      expect({ status: answer.status, code: answer.body.code }, what).toEqual({ status, code });
      expect(answer.body.status, what).toBe(status);
      expect(answer.headers.get("content-type"), what).toBe("application/problem+json");
      expect(answer.body.error, what).toBe(answer.body.detail);
      expect(answer.body.error, what).not.toMatch(/\n\s+at /);
    }
    expect(await served.gateway.jobs.list({ limit: 99 })).toHaveLength(count);
    expect(await served.run("echoes")).toMatchObject({ status: "succeeded" });
  });
});

describe("what jobs hold", () => {
  it("is shown with gateway.results, and withheld without", async () => {
    const failing = shell("echo 'noise of stderr' >&2", `echo '{"status":"error","error":"the reason","retry":false}'`);
    const served = await serveGateway({
      plugins: { echoes: { script: OK }, failing: { script: failing } },
      config: {
        pipelines: [{ name: "p", on: "x.y", execution_mode: "synchronous", steps: [{ uses: "echoes" }] }],
        plugins: { "agentic-loop": { config: {} } },
      },
      setup: { planner: scriptedPlanner([{ decision: "done", outcome: "the outcome" }]) },
    });
    const good = await served.run("echoes", { text: "the payload" });
    const bad = await served.run("failing", { text: "the payload" });
    await served.gateway.runs.start({ goal: "the goal", run_id: "R1" }, { via: "api" });
    await served.untilIdle();
    const paths = [
      `/job/${good.id}`,
      `/job/${bad.id}`,
      `/job/${good.id}/tree`,
      "/jobs",
      "/job-logs",
      "/runs",
      "/runs/R1",
    ];
    const secrets = /the (result|payload|reason|outcome|goal)|noise of stderr|workspace_dir/;
    const read = async (token: string) => {
      const answers = await Promise.all(paths.map((path) => served.ask(token, path)));
      expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
      return answers.map(({ text }) => text);
    };
    const without = await read(await served.token("gateway.jobs"));
    for (const [index, text] of without.entries()) expect(text, paths[index]).not.toMatch(secrets);
    const all = (await read(await served.token("gateway.jobs", "gateway.results"))).join("");
    for (const each of ["result", "payload", "reason", "outcome", "goal"]) expect(all).toContain(`the ${each}`);
    expect(all).toContain("noise of stderr");
    expect(all).toMatch(/"workspace_dir":"\/[^"]+"/);
    const both = await served.token("gateway.jobs", "gateway.results");
    const short = await served.ask(both, "/job-logs?include_result=false");
    expect(short.text).not.toMatch(secrets);
    expect(short.body.logs.length).toBeGreaterThan(0);
    expect((await served.ask(both, "/job-logs?include_result=true")).text).toContain("noise of stderr");
    const jobsOnly = await served.token("gateway.jobs");
    expect((await served.ask(jobsOnly, "/job-logs?include_result=true")).text).not.toMatch(secrets);
    const runs = await served.ask(await served.token("gateway.run"), "/pipeline/p", {
      json: { payload: { text: "the payload" } },
    });
    expect(runs).toMatchObject({ status: 200, body: { status: "succeeded", tree: [{ plugin: "echoes" }] } });
    expect(runs.text).not.toMatch(secrets);
    const events = await served.gateway.events.read(0, 100);
    expect(JSON.stringify(events)).not.toMatch(secrets);
  });

  it("has a payload where one job is asked for, which is null once it was erased; lists have none", async () => {
    const served = await serveGateway({
      plugins: { echoes: { script: OK } },
      config: { pipelines: [{ name: "p", on: "x.y", execution_mode: "synchronous", steps: [{ uses: "echoes" }] }] },
    });
    const owner = await served.token();
    const json = { payload: { text: "the payload" } };
    const { job_id, tree } = (await served.ask(owner, "/pipeline/p", { json })).body;
    const read = async () => {
      const [jobs, descendants, logs, job, log] = await Promise.all(
        ["/jobs", `/job/${job_id}/tree`, "/job-logs", `/job/${job_id}`, `/job-logs?job_id=${job_id}`].map(
          async (path) => (await served.ask(owner, path)).body,
        ),
      );
      return { lists: [...jobs.jobs, ...descendants.jobs, ...logs.logs], alone: [job, ...log.logs] };
    };
    const before = await read();
    for (const job of [...tree, ...before.lists]) {
      expect(job).toMatchObject({ job_id, result: "the result" });
      expect(job).not.toHaveProperty("payload");
    }
    expect(before.lists).toHaveLength(3);
    const payload = { payload: { text: "the payload" } };
    expect(before.alone).toMatchObject([{ payload }, { payload }]);
    await served.gateway.eraseUser("user:1");
    const after = await read();
    for (const job of after.lists) expect(job).not.toHaveProperty("payload");
    expect(after.alone).toMatchObject([{ payload: null }, { payload: null }]);
  });
});

describe("GET /healthz", () => {
  it("answers everybody with numbers, and nothing else", async () => {
    const served = await serveGateway({
      plugins: { echoes: { script: OK } },
      config: { service: { name: "secret-name" } },
    });
    const answer = await served.ask(undefined, "/healthz");
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({
      status: "ok",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      uptime_seconds: expect.any(Number),
      queue_depth: 0,
      plugins_loaded: expect.any(Number),
      plugins_circuit_open: 0,
      is_paused: false,
    });
    expect(answer.text).not.toContain("secret-name");
    expect((await served.ask(undefined, "/healthz", { method: "POST" })).status).toBe(401);
  });

  it("answers 503 when the database does not", async () => {
    const backend = sqlite(":memory:");
    let driver: { close(): Promise<void> } | undefined;
    const served = await serveGateway({
      options: { onError: () => undefined },
      backend: {
        ...backend,
        async open() {
          const opened = await backend.open();
          driver = opened;
          return opened;
        },
      },
    });
    await driver?.close();
    const answer = await served.ask(undefined, "/healthz");
    expect(answer).toMatchObject({ status: 503, body: { code: "database_unavailable", error: expect.any(String) } });
  });
});
