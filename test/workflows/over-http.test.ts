// Promise: workflows are started, watched, steered and answered over HTTP, each by whose they are.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: bindings of workflows
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";
import { type Served, serveRuntime } from "../served-runtime.ts";

const specs: readonly JsonMap[] = [
  { id: "greet", version: "1.2.0", inputs: { name: { type: "string", required: true } }, steps: [greeting()] },
  { id: "order", steps: [{ id: "paid", type: "wait", event: "paid" }, greeting("${steps.paid.output.name}")] },
  { id: "asks", steps: [{ id: "ok", type: "wait", approval: { summary: "Ship it?" } }] },
];

function greeting(name = "${inputs.name}"): JsonMap {
  return { id: "greet", type: "function", function: "greet", input: { name } };
}

/** Who may start workflows. */
const holders = new Set<number>();

// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
type Body = any;

let served: Served;
beforeEach(async () => {
  holders.add(2);
  served = await serveRuntime(
    {},
    {
      workflows: specs,
      stepFunctions: { greet: (input) => ({ text: `Hello ${(input as { name: string }).name}.` }) },
      trust: { administrators: [1], holdsCapability: (user, name) => holders.has(user) && name === "workflows.run" },
    },
  );
});
afterEach(() => served.close());

async function ask(token: string, path: string, json?: object, headers: Record<string, string> = {}, method?: string) {
  const init = { ...(json && { json }), headers, ...(method && { method }) };
  const { status, text } = await served.ask(token, path, init);
  return { status, body: (text === "" ? null : JSON.parse(text)) as Body };
}

async function start(token: string, workflow: string, inputs: object = {}): Promise<string> {
  const { status, body } = await ask(token, `/workflows/${workflow}/runs`, { inputs });
  expect(status).toBe(201);
  return body.run_id;
}

describe("workflows over HTTP", () => {
  it("are listed for everybody, and shown whole to those who may start them", async () => {
    const { alice, bob } = served;
    const { body } = await ask(bob, "/workflows");
    expect(body.workflows.map(({ workflow_id }: Body) => workflow_id)).toEqual(["greet", "order", "asks"]);
    expect((await ask(bob, "/workflows/greet")).body).toMatchObject({ version: "1.2.0", source: "spec", spec: null });
    expect((await ask(alice, "/workflows/greet")).body).toMatchObject({ spec: specs[0] });
    expect(await ask(bob, "/workflows/nothing")).toMatchObject({ status: 404, body: { code: "workflow_not_found" } });
    const checked = await ask(bob, "/workflows/check", { spec: { id: "x", steps: [{ id: "a", type: "dance" }] } });
    expect(checked.body).toMatchObject({ valid: false, errors: [{ path: "steps.0.type", code: "unknown_step_type" }] });
  });

  it("are started by who may, once for each key", async () => {
    const { alice, bob } = served;
    const inputs = { name: "Ann" };
    expect(await ask(bob, "/workflows/greet/runs", { inputs })).toMatchObject({ status: 403 });
    expect(await ask(alice, "/workflows/greet/runs", {})).toMatchObject({
      status: 400,
      body: { code: "workflow_inputs_invalid" },
    });
    const keyed = { "idempotency-key": "one" };
    const first = await ask(alice, "/workflows/greet/runs", { inputs }, keyed);
    expect(first).toMatchObject({ status: 201, body: { workflow_id: "greet", outcome: "started" } });
    expect(await ask(alice, "/workflows/greet/runs", { inputs }, keyed)).toEqual(first);
    const other = { inputs: { name: "Ben" } };
    expect(await ask(alice, "/workflows/greet/runs", other, keyed)).toMatchObject({ status: 409 });
    const named = await ask(alice, "/workflows/greet/runs", { inputs, key: "mine" });
    const again = await ask(alice, "/workflows/greet/runs", { inputs, key: "mine" });
    expect(again.body).toMatchObject({ run_id: named.body.run_id, outcome: "repeated" });
    expect(await ask(alice, "/workflows/greet/runs", { ...other, key: "mine" })).toMatchObject({
      status: 409,
      body: { code: "workflow_key_taken" },
    });
  });

  it("are waited for, read and listed by whose they are", async () => {
    const { owner, alice, bob } = served;
    const id = await start(alice, "greet", { name: "Ann" });
    const awaited = await ask(alice, `/workflow-runs/${id}/await`);
    expect(awaited.body).toMatchObject({ status: "succeeded", terminal: true, reconnectable: false });
    const { body: record } = await ask(alice, `/workflow-runs/${id}`);
    expect(record).toMatchObject({ workflow_id: "greet", output: { last: { text: "Hello Ann." } } });
    expect((await ask(owner, `/workflow-runs/${id}`)).body).toEqual(record);
    const { body: tree } = await ask(alice, `/workflow-runs/${id}/steps`);
    expect(tree).toMatchObject({
      run: { run_id: id, status: "succeeded" },
      steps: [{ path: "0", id: "greet", type: "function", status: "succeeded", error_code: null, branches: [] }],
      children: [],
    });
    const { body: happened } = await ask(alice, `/workflow-runs/${id}/events`);
    expect(happened.events[0]).toMatchObject({ type: "run.started" });
    expect(happened.events.at(-1)).toMatchObject({ type: "run.ended" });
    for (const path of ["", "/steps", "/events", "/await", "/stream"]) {
      expect(await ask(bob, `/workflow-runs/${id}${path}`), path).toMatchObject({
        status: 404,
        body: { code: "workflow_run_not_found" },
      });
    }
    expect((await ask(bob, "/workflow-runs")).body).toEqual({ runs: [], has_more: false });
    const next = await start(alice, "greet", { name: "Ben" });
    const { body: page } = await ask(alice, "/workflow-runs?limit=1");
    expect(page).toMatchObject({ runs: [{ run_id: next }], has_more: true });
    const { body: rest } = await ask(alice, `/workflow-runs?limit=1&after=${encodeURIComponent(page.next)}`);
    expect(rest).toMatchObject({ runs: [{ run_id: id }], has_more: false });
  });

  it("are redacted for whose they are once that one may not start them any more", async () => {
    const { alice } = served;
    const id = await start(alice, "greet", { name: "Ann" });
    const whole = await ask(alice, `/workflow-runs/${id}/await`);
    expect(whole.body).toMatchObject({ result: { outputs: { last: { text: "Hello Ann." } } } });
    holders.clear();
    expect((await ask(alice, `/workflow-runs/${id}`)).body).toMatchObject({
      ...{ run_id: id, workflow_id: "greet", status: "succeeded", inputs: { name: "Ann" } },
      ...{ output: { redacted: true }, steps: [{ id: "greet", output: { redacted: true } }] },
    });
    const awaited = await ask(alice, `/workflow-runs/${id}/await`);
    expect(awaited.body).toMatchObject({ status: "succeeded", result: { outputs: { redacted: true } } });
    expect(await ask(alice, `/workflow-runs/${id}/rerun`, {})).toMatchObject({ status: 403 });
  });

  it("take events, are paused, resumed, cancelled and deleted", async () => {
    const { alice, bob } = served;
    const id = await start(alice, "order");
    const path = `/workflow-runs/${id}`;
    expect(await ask(bob, `${path}/cancel`, {})).toMatchObject({ status: 403 });
    expect(await ask(alice, `${path}/pause`, {})).toMatchObject({ status: 200 });
    const event = { event: "paid", payload: { name: "Cy" }, key: "payment 1" };
    expect(await ask(alice, `${path}/events`, event)).toMatchObject({ status: 202, body: { status: "sent" } });
    expect(await ask(alice, `${path}/events`, event)).toMatchObject({ status: 202 });
    const other = { ...event, payload: { name: "Di" } };
    expect(await ask(alice, `${path}/events`, other)).toMatchObject({
      status: 409,
      body: { code: "idempotency_conflict" },
    });
    expect(await ask(alice, `${path}/resume`, {})).toMatchObject({ status: 200 });
    expect((await ask(alice, `${path}/await`)).body).toMatchObject({ status: "succeeded" });
    expect((await ask(alice, path)).body).toMatchObject({ output: { last: { text: "Hello Cy." } } });
    expect(await ask(alice, `${path}/pause`, {})).toMatchObject({ status: 409, body: { code: "workflow_run_ended" } });

    const second = await start(alice, "order");
    expect((await ask(alice, `/workflow-runs/${second}/await?timeout_ms=0`)).body).toMatchObject({
      terminal: false,
      reconnectable: true,
      result: null,
    });
    expect(await ask(alice, `/workflow-runs/${second}/cancel`, {})).toMatchObject({
      status: 200,
      body: { status: "cancelled", requested: true },
    });
    const deleted = await ask(alice, `/workflow-runs/${second}`, undefined, {}, "DELETE");
    expect(deleted).toMatchObject({ status: 200, body: { deleted: [second] } });
    expect(await ask(alice, `/workflow-runs/${second}`)).toMatchObject({ status: 404 });
  });

  it("are run again from a step, and many are cancelled at once", async () => {
    const { alice } = served;
    const id = await start(alice, "greet", { name: "Ann" });
    await ask(alice, `/workflow-runs/${id}/await`);
    const keyed = { "idempotency-key": "again" };
    const again = await ask(alice, `/workflow-runs/${id}/rerun`, { inputs: { name: "Ed" } }, keyed);
    expect(again).toMatchObject({ status: 201, body: { rerun_of: id } });
    expect(await ask(alice, `/workflow-runs/${id}/retry`, {})).toMatchObject({
      status: 409,
      body: { code: "workflow_run_not_failed" },
    });
    const waiting = [await start(alice, "order"), await start(alice, "order")];
    const { body } = await ask(alice, "/workflow-runs/cancel", { workflow_id: "order", limit: 1 });
    expect(body).toMatchObject({ outcomes: { cancelling: 1 }, has_more: true });
    const rest = await ask(alice, "/workflow-runs/cancel", { workflow_id: "order", after: body.next });
    expect(rest.body).toEqual({ outcomes: { cancelling: 1 }, has_more: false });
    for (const run of waiting) {
      expect((await ask(alice, `/workflow-runs/${run}/await`)).body).toMatchObject({ status: "cancelled" });
    }
    const retried = await ask(alice, "/workflow-runs/retry", {});
    expect(retried.body).toEqual({ outcomes: {}, has_more: false });
  });
});
