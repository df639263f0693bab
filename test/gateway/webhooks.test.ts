// Webhooks: what a sender has to prove, and the job that its message becomes.
import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { heldClock } from "../../src/testing/held-clock.ts";
import { eachDatabase } from "../databases.ts";
import { type GatewaySpec, inShort, openGateway, plugin } from "./gateway-world.ts";

const secret = "webhook-secret-0123456789";
const endpoint = { path: "/hooks/mail", plugin: "tool", secret, signature_header: "X-Signature" };

const sign = (body: string, key = secret) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;

function message(body: string, headers: Readonly<Record<string, string>> = { "x-signature": sign(body) }) {
  return { body: new TextEncoder().encode(body), headers: new Headers(headers) };
}

async function hooked(more: object = {}, spec: GatewaySpec = {}) {
  const tool = plugin("tool");
  const webhooks = [{ ...endpoint, ...more }];
  const world = await openGateway({ plugins: [tool], ...spec, config: { ...spec.config, webhooks } });
  const receive = async (body: string, headers?: Readonly<Record<string, string>>) =>
    await world.gateway.receiveWebhook("/hooks/mail", message(body, headers));
  return { ...world, tool, receive };
}

it("scenario 44: only a body that is signed with the secret, and not too large, creates a job", async () => {
  const { gateway, receive, untilIdle, tool } = await hooked();
  const body = JSON.stringify({ from: "Ada" });
  const large = JSON.stringify({ text: "x".repeat(2 * 1_048_576) });
  const accepted = await receive(body);
  expect(accepted).toEqual({ status: 202, body: { job_id: expect.any(String) } });
  expect(await receive(body, { "x-signature": sign(body, "another secret") })).toMatchObject({ status: 403 });
  expect(await receive(body, {})).toMatchObject({ status: 403 });
  expect(await receive(large)).toMatchObject({ status: 413 });
  await untilIdle();
  const jobs = await gateway.jobs.list({ limit: 9 });
  expect(jobs).toMatchObject([
    { id: accepted?.body.job_id, plugin: "tool", command: "handle", submitted_by: "webhook:/hooks/mail" },
  ]);
  expect(tool.requests).toMatchObject([
    {
      payload: { from: "Ada" },
      event: { type: "webhook.received", source: "webhook:/hooks/mail", payload: { from: "Ada" } },
    },
  ]);
});

describe("a message at a webhook", () => {
  it("that is refused is answered with no reason; the log has it", async () => {
    const { receive, logs } = await hooked();
    const answers = [await receive("{}", {}), await receive("{}", { "x-signature": "sha256=00" })];
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(logs).toMatchObject([{ level: "warn" }, { level: "warn" }]);
    expect(JSON.stringify(logs)).toContain("/hooks/mail");
  });

  it("may be signed with the hexadecimal digits alone", async () => {
    const { receive } = await hooked();
    expect(await receive("{}", { "x-signature": sign("{}").slice("sha256=".length) })).toMatchObject({ status: 202 });
  });

  it("may be an event itself, and then names its type", async () => {
    const { receive, tool, untilIdle } = await hooked();
    await receive(JSON.stringify({ type: "mail.received", payload: { from: "Ada" } }));
    await untilIdle();
    expect(tool.requests[0]?.event).toMatchObject({ type: "mail.received", payload: { from: "Ada" } });
  });

  it("at another path finds nothing", async () => {
    const { gateway } = await hooked();
    expect(await gateway.receiveWebhook("/hooks", message("{}"))).toBeUndefined();
    expect([gateway.webhookBodyLimit("/hooks/mail"), gateway.webhookBodyLimit("/hooks")]).toEqual([
      1_048_576,
      undefined,
    ]);
  });

  it.each([
    ["is not JSON", "from=Ada"],
    ["is a list", "[1]"],
    ["is nested too deep", `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
  ])("that %s is refused as malformed, and creates no job", async (_what, body) => {
    const { gateway, receive } = await hooked();
    expect(await receive(body)).toMatchObject({ status: 400 });
    expect(await gateway.jobs.list({ limit: 9 })).toEqual([]);
  });

  it("that is not UTF-8 is refused as malformed", async () => {
    const { gateway } = await hooked();
    const body = new Uint8Array([0x7b, 0xff, 0x7d]);
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    const answer = await gateway.receiveWebhook("/hooks/mail", {
      body,
      headers: new Headers({ "x-signature": signature }),
    });
    expect(answer).toMatchObject({ status: 400 });
  });

  it.each(["agentic.tool_result", "agentic.tool_request.tool", "agent.completed", "dead_letter"])(
    "that is a forged %s is refused and logged",
    async (type) => {
      const { gateway, receive, logs } = await hooked();
      const forged = JSON.stringify({ type, payload: { run_id: "R1", step: 1, tool: "tool", status: "ok" } });
      expect(await receive(forged)).toMatchObject({ status: 403, body: { code: "event_reserved" } });
      expect(await gateway.jobs.list({ limit: 9 })).toEqual([]);
      expect(logs).toMatchObject([{ level: "warn", message: expect.stringContaining(type) }]);
    },
  );

  it("starts a run at an endpoint of the agent, which takes nothing else", async () => {
    const { gateway, receive, untilIdle } = await hooked(
      { plugin: "agentic-loop" },
      { tools: ["tool"], script: [{ tool: "tool" }, { decision: "done", outcome: "It is read." }] },
    );
    for (const body of [{ goal: "Read." }, { type: "api.trigger", payload: { goal: "Read." } }, { type: "mail" }]) {
      expect(await receive(JSON.stringify(body))).toMatchObject({ status: 403 });
    }
    const start = { type: "agentic.start", payload: { goal: "Read.", run_id: "R1" } };
    expect(await receive(JSON.stringify(start))).toMatchObject({ status: 202 });
    await untilIdle();
    expect(await gateway.runs.list()).toMatchObject([{ run_id: "R1", status: "done" }]);
  });
});

eachDatabase((newWorld) => {
  describe("a replayed webhook", () => {
    it("is refused where a header names the delivery", async () => {
      const { gateway, receive } = await hooked({ dedupe_header: "X-Delivery" }, { world: await newWorld() });
      const body = JSON.stringify({ n: 1 });
      const headers = (delivery: string) => ({ "x-signature": sign(body), "x-delivery": delivery });
      expect(await receive(body, headers("1"))).toMatchObject({ status: 202 });
      expect(await receive(body, headers("1"))).toMatchObject({ status: 403 });
      // The signature does not cover the header: under another id the same bytes are the same message.
      expect(await receive(body, headers("2"))).toMatchObject({ status: 403 });
      const other = JSON.stringify({ n: 2 });
      expect(await receive(other, { ...headers("2"), "x-signature": sign(other) })).toMatchObject({ status: 202 });
      expect(await receive(body, { "x-signature": sign(body) })).toMatchObject({ status: 403 });
      expect(await gateway.jobs.list({ limit: 9 })).toHaveLength(2);
    });

    it("is refused while its job is outstanding and after it has succeeded", async () => {
      const { receive, untilIdle, tool } = await hooked({ dedupe_header: "X-Delivery" }, { world: await newWorld() });
      const headers = { "x-signature": sign("{}"), "x-delivery": "1" };
      await receive("{}", headers);
      await untilIdle();
      expect(await receive("{}", headers)).toMatchObject({ status: 403 });
      expect(tool.requests).toHaveLength(1);
    });
  });
});

describe("a webhook with a timestamp", () => {
  const timestamped = { timestamp_header: "X-Timestamp", tolerance: "5m" };

  it("is refused when it is too old, comes from the future or has none", async () => {
    const clock = heldClock();
    const { receive, gateway } = await hooked(timestamped, { clock });
    const at = (milliseconds: number) => ({ "x-timestamp": String(Math.floor((clock.now() + milliseconds) / 1_000)) });
    const statuses: unknown[] = [];
    for (const [n, header] of [at(-299_000), at(-301_000), at(301_000), {}, { "x-timestamp": "yesterday" }].entries()) {
      const body = JSON.stringify({ n });
      statuses.push((await receive(body, { "x-signature": sign(body), ...header }))?.status);
    }
    expect(statuses).toEqual([202, 403, 403, 403, 403]);
    expect(await gateway.jobs.list({ limit: 9 })).toHaveLength(1);
  });

  it("is taken once: the same bytes again are a replay", async () => {
    const clock = heldClock();
    const { receive } = await hooked(timestamped, { clock });
    const headers = { "x-signature": sign("{}"), "x-timestamp": String(clock.now() / 1_000) };
    expect([(await receive("{}", headers))?.status, (await receive("{}", headers))?.status]).toEqual([202, 403]);
  });
});

it("a webhook's secret is in neither the log nor the configuration that is shown", async () => {
  const { gateway, receive, logs, tool } = await hooked();
  await receive(JSON.stringify({ type: secret }), {});
  expect(JSON.stringify([gateway.configuration(), logs])).not.toContain(secret);
  expect(inShort(await gateway.jobs.list({ limit: 9 }))).toEqual([]);
  expect(tool.requests).toEqual([]);
});
