// Payloads as large as plugins may print are taken, carried from step to step and shown; larger ones are refused before they
// are read.
import { describe, expect, it } from "vitest";
import { eachDatabase } from "../databases.ts";
import { serveGateway } from "../gateway-doors/served-gateway.ts";
import { send } from "../gateway-doors/signed.ts";
import { node } from "../plugin-folders.ts";

const LIMIT = 10 * 1024 * 1024;

/** Answers with how long the text in its event is, and emits as much of it as it may print. */
const measure = node(
  'let text = ""; process.stdin.on("data", (piece) => (text += piece)).on("end", () => {',
  "  const { event } = JSON.parse(text);",
  '  const events = event.type === "x.y" ? [{ type: "x.z", payload: { text: event.payload.text.slice(1_000) } }] : [];',
  "  console.log(JSON.stringify({ status: 'ok', result: String(event.payload.text.length), events }));",
  "});",
);

/** A body of exactly so many bytes. */
function bodyOf(bytes: number, start: string, end: string): string {
  return `${start}${"x".repeat(bytes - start.length - end.length)}${end}`;
}

const routes: readonly (readonly [path: string, start: string, end: string])[] = [
  ["/events", '{"type":"x.y","payload":{"text":"', '"}}'],
  ["/abilities/holdfast/emit-event", '{"type":"x.y","payload":{"text":"', '"}}'],
  ["/plugin/measure/handle", '{"payload":{"text":"', '"}}'],
  ["/pipeline/p", '{"payload":{"text":"', '"}}'],
];

const config = { pipelines: [{ name: "p", on: "x.y", steps: [{ uses: "measure" }] }] };
const headers = { "content-type": "application/json" };

eachDatabase((newWorld) => {
  describe("a payload", () => {
    it("of a request of 10 MiB is taken, reaches the plugin whole, and is emitted again by it", async () => {
      const world = await newWorld();
      const served = await serveGateway({
        plugins: { measure: { script: measure } },
        config: { pipelines: [...config.pipelines, { name: "q", on: "x.z", steps: [{ uses: "measure" }] }] },
        backend: world.backend,
      });
      const owner = await served.token();
      const [path, start, end] = routes[0] ?? ["", "", ""];
      const text = LIMIT - start.length - end.length;
      const sent = await served.ask(owner, path, { method: "POST", body: bodyOf(LIMIT, start, end), headers });
      expect(sent.status).toBe(202);
      const job = await served.ended(sent.body.job_ids[0]);
      expect(job).toMatchObject({ status: "succeeded", result: String(text) });
      expect((await served.gateway.jobs.tree(job.id)).map(({ plugin, result }) => [plugin, result])).toEqual([
        ["measure", String(text)],
        ["measure", String(text - 1_000)],
      ]);
      const shown = await served.ask(owner, `/job/${job.id}`);
      expect(shown.body.payload.payload.text).toHaveLength(text);
      const logs = await served.ask(owner, `/job-logs?job_id=${job.id}`);
      expect(logs.body.logs[0].attempts[0].response.length).toBeGreaterThan(text - 1_000);
    });
  });
});

describe("a request", () => {
  it.each(routes)("to %s may bring 10 MiB, and not a byte more", async (path, start, end) => {
    const served = await serveGateway({ plugins: { measure: { script: measure } }, config });
    const owner = await served.token();
    const post = (body: string | ReadableStream) =>
      served.ask(owner, path, {
        method: "POST",
        body,
        headers,
        ...(typeof body !== "string" && { duplex: "half" }),
      } as RequestInit);
    expect((await post(bodyOf(LIMIT, start, end))).status).not.toBe(413);
    const large = bodyOf(LIMIT + 1, start, end);
    for (const body of [large, new Blob([large]).stream()]) {
      const refused = await post(body);
      expect(refused).toMatchObject({ status: 413, body: { code: "body_too_large" } });
      if (!path.startsWith("/abilities")) expect(refused.body.error).toBe(refused.body.detail);
    }
    await served.untilIdle();
    expect(await served.gateway.jobs.list({ limit: 9 })).toMatchObject([{ status: "succeeded" }]);
  });

  it("that takes no payload may bring 1 MiB, as everywhere", async () => {
    const served = await serveGateway();
    const owner = await served.token();
    for (const path of ["/system/pause", "/job/x/cancel", "/runs/x/cancel", "/abilities/holdfast/pause-gateway"]) {
      const body = bodyOf(1024 * 1024 + 1, '{"text":"', '"}');
      const refused = await served.ask(owner, path, { method: "POST", body, headers });
      expect(refused, path).toMatchObject({ status: 413, body: { code: "body_too_large" } });
    }
    expect((await served.gateway.status()).is_paused).toBe(false);
  });

  it("to a webhook may bring as much as its endpoint says, up to 10 MiB", async () => {
    const webhook = { path: "/w", plugin: "measure", secret: "the-webhook-secret", signature_header: "x-sig" };
    const served = await serveGateway({
      plugins: { measure: { script: measure } },
      config: {
        webhooks: [
          { ...webhook, max_body_size: "10MB" },
          { ...webhook, path: "/small" },
        ],
      },
    });
    const body = bodyOf(10_000_000, '{"text":"', '"}');
    const sent = await send(served, "/w", body);
    expect(sent.status).toBe(202);
    expect(await served.ended(sent.body.job_id)).toMatchObject({
      status: "succeeded",
      result: String(10_000_000 - 11),
    });
    expect(await send(served, "/small", body)).toMatchObject({ status: 413, body: { error: expect.any(String) } });
    expect((await send(served, "/w", bodyOf(LIMIT + 1, '{"text":"', '"}'))).status).toBe(413);
  });
});

describe("what grows beyond its limit", () => {
  it("scenario 40: state of more than 1 MiB fails the job, which changes nothing and leads to nothing", async () => {
    const grow = node(
      'let text = ""; process.stdin.on("data", (piece) => (text += piece)).on("end", () => {',
      "  const { event, state } = JSON.parse(text);",
      "  const { updates, size = 0 } = event.payload;",
      "  console.log(JSON.stringify({ status: 'ok', result: JSON.stringify(state), events: [{ type: 'x.y', payload: {} }],",
      "    state_updates: { ...updates, ...(size > 0 && { big: 'x'.repeat(size) }) } }));",
      "});",
    );
    const served = await serveGateway({ plugins: { grow: { script: grow } } });
    await served.run("grow", { updates: { a: { x: 1 }, b: 2 } });
    await served.run("grow", { updates: { a: { y: 1 } } });
    const failed = await served.run("grow", { updates: { c: 3 }, size: 1_100_000 });
    expect(failed).toMatchObject({ status: "failed", reason: "apply_failed", attempt: 1 });
    expect(failed.last_error).toMatch(/^plugin_state_too_large: /);
    expect(await served.gateway.jobs.tree(failed.id)).toHaveLength(1);
    const { result } = await served.run("grow", { updates: {} });
    expect(JSON.parse(result ?? "")).toEqual({ a: { y: 1 }, b: 2 });
  });

  it("a context of more than 1 MiB fails the job whose event would grow it", async () => {
    const emit = node(
      "console.log(JSON.stringify({ status: 'ok', result: 'x', events: [{ type: 'x.y', payload: { text: 'x'.repeat(1_100_000) } }] }));",
    );
    const served = await serveGateway({
      plugins: { emit: { script: emit }, measure: { script: measure } },
      config: {
        pipelines: [{ name: "p", on: "x.y", steps: [{ uses: "measure", baggage: { text: "payload.text" } }] }],
      },
    });
    const failed = await served.run("emit");
    expect(failed).toMatchObject({ status: "failed", reason: "apply_failed" });
    expect(await served.gateway.jobs.tree(failed.id)).toHaveLength(1);
    expect(await served.run("measure", { text: "abc" })).toMatchObject({ status: "succeeded", result: "3" });
  });

  it("a tree of more jobs than it may have ends with the job that would add one too many", async () => {
    const loop = node("console.log(JSON.stringify({ status: 'ok', result: 'x', events: [{ type: 'x.y' }] }));");
    const served = await serveGateway({
      plugins: { loop: { script: loop } },
      config: { service: { max_tree_jobs: 5 }, pipelines: [{ name: "p", on: "x.y", steps: [{ uses: "loop" }] }] },
    });
    const { id } = await served.run("loop");
    const tree = await served.gateway.jobs.tree(id);
    expect(tree.map(({ status }) => status)).toEqual([...Array(4).fill("succeeded"), "failed"]);
    expect(tree[4]).toMatchObject({ reason: "apply_failed", last_error: expect.stringMatching(/^tree_too_large: /) });
  });
});
