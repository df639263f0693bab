// Keys that name what every object inherits, in payloads, state, contexts, paths and names: they are keys like others, or
// they are refused; nothing inherits from them.
import { createHmac } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import { once, serveGateway } from "../gateway-doors/served-gateway.ts";
import { node, shell } from "../plugin-folders.ts";

/** Answers with the request that it got. */
const tell = node(
  'let text = ""; process.stdin.on("data", (piece) => (text += piece)).on("end", () => {',
  "  console.log(JSON.stringify({ status: 'ok', result: text }));",
  "});",
);

const inherited = ["constructor", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"] as const;

afterEach(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

describe("the key __proto__", () => {
  it.each([
    ["/events", '{"type":"x.y","payload":{"a":[{"__proto__":{"polluted":1}}]}}'],
    ["/plugin/tell/handle", '{"payload":{"__proto__":{"polluted":1}}}'],
    ["/pipeline/p", '{"payload":{"__proto__":{"polluted":1}}}'],
    ["/runs", '{"goal":"g","context":{"__proto__":{"polluted":1}}}'],
    ["/abilities/holdfast/emit-event", '{"type":"x.y","__proto__":{"polluted":1}}'],
  ])("in a request to %s is refused with 400, and nothing is queued", async (path, body) => {
    const served = await serveGateway({
      plugins: { tell: { script: tell } },
      config: { pipelines: [{ name: "p", on: "x.y", steps: [{ uses: "tell" }] }] },
    });
    const headers = { "content-type": "application/json" };
    const answer = await served.ask(await served.token(), path, { method: "POST", body, headers });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: "invalid_body", detail: 'The body has a field "__proto__".' },
    });
    expect(await served.gateway.jobs.list({ limit: 10 })).toEqual([]);
  });

  it("in the body of a webhook does not reach the plugin, which gets the rest", async () => {
    const webhooks = [{ path: "/w", plugin: "tell", secret: "webhook-secret", signature_header: "x-sig" }];
    const served = await serveGateway({ plugins: { tell: { script: tell } }, config: { webhooks } });
    const body = '{"__proto__":{"polluted":1},"a":{"__proto__":1,"b":2}}';
    const signature = createHmac("sha256", "webhook-secret").update(body).digest("hex");
    const sent = await served.ask(undefined, "/w", {
      method: "POST",
      body,
      headers: { "x-sig": `sha256=${signature}` },
    });
    const { result } = await served.ended(sent.body.job_id);
    expect(JSON.parse(result ?? "").payload).toEqual({ a: { b: 2 } });
    expect(result).not.toContain("__proto__");
  });

  it("in what a plugin answers is dropped from its events, its state and its result", async () => {
    const evil = shell(
      `printf '%s' '{"status":"ok","result":"x","__proto__":{"status":"error"},"state_updates":{"__proto__":{"polluted":1},"a":{"__proto__":1}},"events":[{"type":"x.y","payload":{"__proto__":{"polluted":1},"b":1},"__proto__":{"type":"z"}}]}'`,
    );
    const served = await serveGateway({
      plugins: { evil: { script: evil }, tell: { script: tell } },
      config: { pipelines: [{ name: "p", on: "x.y", steps: [{ uses: "tell" }] }] },
    });
    const { id } = await served.run("evil");
    const [, told] = await served.gateway.jobs.tree(id);
    expect(JSON.parse(told?.result ?? "").event.payload).toEqual({
      ...{ b: 1, result: "x", ductile_upstream_plugin: "evil" },
    });
    expect(told?.result).not.toContain("__proto__");
    const again = await served.run("evil");
    expect(again.status).toBe("succeeded");
  });

  it("is no id of a run", async () => {
    const served = await serveGateway({ setup: { planner: scriptedPlanner([]) } });
    const owner = await served.token();
    const started = await served.ask(owner, "/runs", { json: { goal: "g", run_id: "__proto__" } });
    expect(started.status).toBe(202);
    expect(await served.ended(started.body.job_id)).toMatchObject({ status: "failed", reason: "plugin_retry_false" });
    expect(await served.ask(owner, "/runs/__proto__")).toMatchObject({
      status: 404,
      body: { code: "agent_run_not_found" },
    });
    expect((await served.ask(owner, "/runs")).body).toEqual({ runs: [] });
  });
});

describe("the names of what every object inherits", () => {
  it("are keys of payloads, contexts and state like others", async () => {
    const keys = Object.fromEntries(inherited.map((key) => [key, `the ${key}`]));
    const keep = node(
      'let text = ""; process.stdin.on("data", (piece) => (text += piece)).on("end", () => {',
      "  const { event, state } = JSON.parse(text);",
      "  console.log(JSON.stringify({ status: 'ok', result: JSON.stringify(state), state_updates: event.payload.keys,",
      "    events: [{ type: 'x.y', payload: event.payload.keys }] }));",
      "});",
    );
    const baggage = { constructor: "payload.constructor", "toString.valueOf": "payload.toString" };
    const served = await serveGateway({
      plugins: { keep: { script: keep }, tell: { script: tell } },
      config: { pipelines: [{ name: "p", on: "x.y", steps: [{ uses: "tell", baggage }] }] },
    });
    const { id } = await served.run("keep", { keys });
    const [, told] = await served.gateway.jobs.tree(id);
    const { event, context } = JSON.parse(told?.result ?? "");
    expect(event.payload).toMatchObject(keys);
    expect(Object.getOwnPropertyDescriptor(context, "constructor")?.value).toBe("the constructor");
    expect(context.toString).toEqual({ valueOf: "the toString" });
    expect(JSON.parse((await served.run("keep", { keys })).result ?? "")).toEqual(keys);
  });

  it("are names of plugins, commands, pipelines and steps like others", async () => {
    const manifest = { commands: "[{ name: handle, type: write }, { name: toString, type: read }]" };
    const served = await serveGateway({
      plugins: { constructor: { script: tell, manifest }, valueOf: { script: tell } },
      config: {
        plugins: { constructor: { timeouts: { toString: "20s" } } },
        pipelines: [
          {
            name: "toString",
            on: "hasOwnProperty",
            steps: [
              { id: "constructor", uses: "constructor" },
              { id: "valueOf", uses: "valueOf" },
            ],
          },
        ],
      },
    });
    const owner = await served.token();
    const { body } = await served.ask(owner, "/pipeline/toString", { json: {} });
    await served.untilIdle();
    const tree = await served.gateway.jobs.tree(body.job_id);
    expect(tree.map(({ plugin, status }) => [plugin, status])).toEqual([
      ["constructor", "succeeded"],
      ["valueOf", "succeeded"],
    ]);
    const called = await served.ask(owner, "/plugin/constructor/toString", { json: {} });
    expect(await served.ended(called.body.job_id)).toMatchObject({ status: "succeeded", command: "toString" });
    for (const name of ["hasOwnProperty", "__proto__", "toString"]) {
      expect(await served.ask(owner, `/plugin/${name}`), name).toMatchObject({
        status: 404,
        body: { code: "plugin_not_found" },
      });
      expect((await served.ask(owner, `/job/${name}`)).status, name).toBe(404);
      expect((await served.ask(owner, `/plugin/valueOf/${name}`, { json: {} })).body.code, name).toBe(
        "plugin_command_not_found",
      );
    }
    expect((await served.ask(owner, "/pipeline/__proto__", { json: {} })).body.code).toBe("pipeline_not_found");
  });

  it("are found by no path of a predicate or a template, unless they were sent", async () => {
    const steps = [{ uses: "tell" }];
    const served = await serveGateway({
      plugins: { tell: { script: tell } },
      config: {
        pipelines: [
          { name: "inherited", on: "x.y", if: { path: "payload.constructor.name", op: "exists" }, steps },
          { name: "proto", on: "x.y", if: { path: "payload.__proto__.toString", op: "exists" }, steps },
          { name: "list", on: "x.y", if: { path: "payload.list.length", op: "exists" }, steps },
          { name: "template", on: "x.z", steps: [{ uses: "tell", with: { a: "{payload.constructor.name}" } }] },
          { name: "broken", on: "x.w", steps: [{ uses: "tell", with: { a: "{payload.b" } }] },
        ],
      },
    });
    const owner = await served.token();
    const emitted = await served.ask(owner, "/events", { json: { type: "x.y", payload: { list: [1] } } });
    expect(emitted).toMatchObject({ status: 202, body: { job_ids: [] } });
    const sent = await served.ask(owner, "/events", { json: { type: "x.y", payload: { constructor: { name: "n" } } } });
    expect(sent.body.job_ids).toHaveLength(1);
    for (const [type, said] of [
      ["x.z", /constructor\.name, which is not there/],
      ["x.w", /has a \{ without a \}/],
    ] as const) {
      const { body } = await served.ask(owner, "/events", { json: { type } });
      const failed = await served.ended(body.job_ids[0]);
      expect(failed).toMatchObject({ status: "failed", reason: "preflight", attempt: 1 });
      expect(failed.last_error).toMatch(said);
      expect((await served.gateway.jobs.details(failed.id)).attempts).toMatchObject([
        { exit_code: null, response: null },
      ]);
    }
  });
});

describe("a predicate", () => {
  it("that would backtrack for ever is evaluated in linear time, as a trigger and as a step", async () => {
    const value = "(a|aa|a*)*(a+)+b";
    const steps = [{ uses: "tell", if: { path: "payload.text", op: "regex", value } }];
    const served = await serveGateway({
      plugins: { tell: { script: tell } },
      config: {
        plugins: { tell: once },
        pipelines: [
          { name: "trigger", on: "x.y", if: { path: "payload.text", op: "regex", value }, steps: [{ uses: "tell" }] },
          { name: "step", on: "x.y", steps },
        ],
      },
    });
    const owner = await served.token();
    const text = `${"a".repeat(100_000)}c`;
    const { body } = await served.ask(owner, "/events", { json: { type: "x.y", payload: { text } } });
    expect(body.job_ids).toHaveLength(1);
    const [job] = await served.gateway.jobs.tree((await served.ended(body.job_ids[0])).id);
    expect(job).toMatchObject({ plugin: "core.switch", status: "succeeded" });
  });

  it("whose types clash refuses an event from outside, and fails the job whose event it is", async () => {
    const emit = shell(
      `echo '{"status":"ok","result":"x","events":[{"type":"x.y","payload":{"n":"text"}}],"state_updates":{"a":1}}'`,
    );
    const served = await serveGateway({
      plugins: { emit: { script: emit }, tell: { script: tell } },
      config: {
        pipelines: [
          { name: "p", on: "x.y", if: { path: "payload.n", op: "gt", value: 1 }, steps: [{ uses: "tell" }] },
          { name: "q", on: "x.y", steps: [{ uses: "tell" }] },
        ],
      },
    });
    const owner = await served.token();
    const refused = await served.ask(owner, "/events", { json: { type: "x.y", payload: { n: "text" } } });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "invalid_event", error: expect.stringContaining("payload.n") },
    });
    const failed = await served.run("emit");
    expect(failed).toMatchObject({ status: "failed", reason: "apply_failed" });
    expect(await served.gateway.jobs.tree(failed.id)).toHaveLength(1);
    const { body } = await served.ask(owner, "/events", { json: { type: "x.y", payload: { n: 2 } } });
    expect(body.job_ids).toHaveLength(2);
  });
});
