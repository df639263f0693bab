// Webhooks over HTTP: who sent a message is proven by its signature, that it is new by the headers that the endpoint names.
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import { heldClock } from "../../src/testing/held-clock.ts";
import { eachDatabase } from "../databases.ts";
import { node } from "../plugin-folders.ts";
import { type ServedSpec, serveGateway } from "./served-gateway.ts";
import { send, signature, WEBHOOK_SECRET } from "./signed.ts";

/** Answers with the event that it got. */
const tell = node(
  'let text = ""; process.stdin.on("data", (piece) => (text += piece)).on("end", () => {',
  "  console.log(JSON.stringify({ status: 'ok', result: JSON.stringify(JSON.parse(text).event) }));",
  "});",
);

const usual = { path: "/w", plugin: "tell", secret: WEBHOOK_SECRET, signature_header: "X-Sig" };

function withEndpoints(endpoints: readonly JsonMap[], more: ServedSpec = {}) {
  const webhooks = endpoints.map((endpoint) => ({ ...usual, ...endpoint }));
  return serveGateway({ plugins: { tell: { script: tell } }, config: { webhooks }, ...more });
}

describe("a webhook", () => {
  it("scenario 44: answers 202 to a signed body, 403 to a wrong or missing signature, 413 to 2 MiB; only the first is queued", async () => {
    const served = await withEndpoints([{}]);
    const body = JSON.stringify({ order: 7 });
    const accepted = await send(served, "/w", body);
    expect(accepted).toMatchObject({ status: 202, body: { job_id: expect.any(String) } });
    const wrong = [
      { "x-sig": signature(body, "another secret") },
      { "x-sig": signature(`${body} `) },
      { "x-sig": signature(body).slice(0, -1) },
      { "x-sig": "sha256=" },
      { "x-sig": `sha1=${"0".repeat(40)}` },
      { "x-sig": "" },
    ];
    for (const headers of wrong) {
      const refused = await send(served, "/w", body, headers);
      expect(refused, headers["x-sig"]).toMatchObject({ status: 403, body: { code: "webhook_refused" } });
      expect(refused.body.error, headers["x-sig"]).toBe("forbidden");
      expect(refused.headers.get("content-type")).toBe("application/problem+json");
    }
    const unsigned = await served.ask(undefined, "/w", { method: "POST", body });
    expect(unsigned).toMatchObject({ status: 403, body: { error: "forbidden" } });
    const large = JSON.stringify({ text: "x".repeat(2 * 1024 * 1024) });
    const refused = await send(served, "/w", large);
    expect(refused).toMatchObject({ status: 413, body: { code: "body_too_large", error: expect.any(String) } });
    await served.untilIdle();
    expect(await served.gateway.jobs.list({ limit: 10 })).toMatchObject([
      { id: accepted.body.job_id, submitted_by: "webhook:/w", status: "succeeded" },
    ]);
  });

  it("holds up an address whose messages are refused again and again, and logs no more of it; signed ones are taken", async () => {
    const served = await withEndpoints([{}], { server: { failureRate: { perSecond: 0.001, burst: 3 } } });
    const refused: number[] = [];
    for (const name of ["/w", "/threads", "/w", "/w", "/w"]) {
      const answer = await served.ask(undefined, name, { method: "POST", body: "{}" });
      refused.push(answer.status);
      if (answer.status !== 429) continue;
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(answer.body).toMatchObject({ code: "too_many_requests", error: expect.any(String) });
    }
    expect(refused).toEqual([403, 401, 403, 429, 429]);
    expect(served.logs.filter(({ message }) => message.includes("webhook /w: refused"))).toHaveLength(2);
    expect((await send(served, "/w", "{}")).status).toBe(202);
  });

  it("takes bare hex digits as a signature, of any case", async () => {
    const served = await withEndpoints([{}]);
    const digits = signature("{}").slice("sha256=".length);
    for (const header of [digits, digits.toUpperCase(), `sha256=${digits.toUpperCase()}`]) {
      expect((await send(served, "/w", "{}", { "x-sig": header })).status, header).toBe(202);
    }
  });

  it("counts the bytes of a body that does not say how long it is", async () => {
    const served = await withEndpoints([{ max_body_size: "1KB" }]);
    const stream = (bytes: Uint8Array<ArrayBuffer>) => new Blob([bytes]).stream();
    const chunked = async (text: string) => {
      const bytes = new TextEncoder().encode(text);
      const headers = { "x-sig": signature(bytes) };
      return await served.ask(undefined, "/w", {
        method: "POST",
        body: stream(bytes),
        headers,
        duplex: "half",
      } as RequestInit);
    };
    expect((await chunked("{}")).status).toBe(202);
    const refused = await chunked(JSON.stringify({ text: "x".repeat(5_000) }));
    expect(refused).toMatchObject({ status: 413, body: { code: "body_too_large", error: expect.any(String) } });
  });

  it("is an exact path, and POST alone", async () => {
    const served = await withEndpoints([{}]);
    for (const path of ["/w/", "/W", "/w/x", "/w%20", "/x/../w/."]) {
      expect((await send(served, path, "{}")).status, path).not.toBe(202);
    }
    for (const method of ["GET", "PUT", "DELETE", "PATCH"]) {
      expect((await served.ask(undefined, "/w", { method })).status, method).toBe(401);
    }
    expect((await send(served, "/w?a=1", "{}")).status).toBe(202);
    await served.untilIdle();
    expect(await served.gateway.jobs.list({ limit: 10 })).toHaveLength(1);
  });

  it.each([
    ["no JSON", "a=b"],
    ["a list", "[1]"],
    ["nothing", ""],
    ["no UTF-8", new Uint8Array([0x7b, 0xff, 0x7d])],
    ["JSON 10,000 levels deep", `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
  ])("answers 400 to %s, though it is signed, and queues nothing", async (_, body) => {
    const served = await withEndpoints([{}]);
    expect(await send(served, "/w", body)).toMatchObject({ status: 400, body: { code: "invalid_body" } });
    expect(await served.gateway.jobs.list({ limit: 10 })).toEqual([]);
    expect((await send(served, "/w", "{}")).status).toBe(202);
  });

  it("hands a raw body on as the payload of webhook.received, and an envelope as the event that it is", async () => {
    const served = await withEndpoints([{}]);
    const told = async (body: JsonMap) => {
      const { job_id } = (await send(served, "/w", JSON.stringify(body))).body;
      return JSON.parse((await served.ended(job_id)).result ?? "");
    };
    expect(await told({ order: 7 })).toMatchObject({
      type: "webhook.received",
      source: "webhook:/w",
      payload: { order: 7 },
    });
    expect(await told({ type: "order.paid", payload: { order: 7 } })).toMatchObject({
      type: "order.paid",
      payload: { order: 7 },
    });
  });

  it("with an envelope whose parts are of the wrong kind fails its job before anything is started", async () => {
    const served = await withEndpoints([{}]);
    for (const body of [
      { type: 7 },
      { type: "x", payload: "text" },
      { payload: [1] },
      { type: "x", event_id: "e", payload: 1 },
    ]) {
      const { job_id } = (await send(served, "/w", JSON.stringify(body))).body;
      expect(await served.ended(job_id), JSON.stringify(body)).toMatchObject({
        status: "failed",
        reason: "preflight",
        attempt: 1,
      });
    }
    expect(await served.ended((await send(served, "/w", "{}")).body.job_id)).toMatchObject({ status: "succeeded" });
  });
});

eachDatabase((newWorld) => {
  describe("a message that was sent before", () => {
    it("is refused where the endpoint names a header with an id, also when it is sent again at once", async () => {
      const world = await newWorld();
      const served = await withEndpoints([{ dedupe_header: "X-Id" }, { path: "/free" }], { backend: world.backend });
      const first = await Promise.all([1, 2, 3, 4].map(() => send(served, "/w", "{}", { "x-id": "m1" })));
      expect(first.map(({ status }) => status).sort()).toEqual([202, 403, 403, 403]);
      await served.untilIdle();
      expect(await send(served, "/w", "{}", { "x-id": "m1" })).toMatchObject({
        status: 403,
        body: { error: "forbidden" },
      });
      expect((await send(served, "/w", "{}", { "x-id": " m1 " })).status).toBe(403);
      // The signature covers the body alone: with another id it is the same message.
      expect((await send(served, "/w", "{}", { "x-id": "m2" })).status).toBe(403);
      expect((await send(served, "/w", '{"n":2}', { "x-id": "m2" })).status).toBe(202);
      expect((await send(served, "/w", '{"n":3}', { "x-id": "m2" })).status).toBe(403);
      for (const headers of [{}, { "x-id": "" }, { "x-id": "  " }]) {
        expect((await send(served, "/w", "{}", headers)).status).toBe(403);
      }
      // Without such a header nothing tells two messages apart from one that was sent twice.
      expect((await send(served, "/free", "{}")).status).toBe(202);
      expect((await send(served, "/free", "{}")).status).toBe(202);
      await served.untilIdle();
      expect(await served.gateway.jobs.list({ limit: 10 })).toHaveLength(4);
    });
  });
});

describe("a message that is too old", () => {
  it("or from the future, or without a time, is refused where the endpoint names a header with a time", async () => {
    const clock = heldClock();
    const served = await withEndpoints([{ timestamp_header: "X-Time", tolerance: "5m" }], {
      backend: sqlite(":memory:", { clock }),
    });
    const seconds = (offset: number) => String(Math.floor(clock.now() / 1_000) + offset);
    const status = async (body: string, headers: Readonly<Record<string, string>>) =>
      (await send(served, "/w", body, headers)).status;
    expect(await status('{"n":1}', { "x-time": seconds(0) })).toBe(202);
    expect(await status('{"n":2}', { "x-time": seconds(-299) })).toBe(202);
    expect(await status('{"n":3}', { "x-time": seconds(-301) })).toBe(403);
    expect(await status('{"n":3}', { "x-time": seconds(301) })).toBe(403);
    for (const odd of ["", "yesterday", "-1", "1e9", "9".repeat(40), "NaN"]) {
      expect(await status('{"n":3}', { "x-time": odd }), odd).toBe(403);
    }
    expect(await status('{"n":3}', {})).toBe(403);
    // The same bytes within the tolerance are a replay, whatever time is claimed with them.
    expect(await status('{"n":1}', { "x-time": seconds(1) })).toBe(403);
    await clock.advance(10 * 60_000);
    expect(await status('{"n":1}', { "x-time": seconds(-600) })).toBe(403);
    await served.untilIdle();
    expect(await served.gateway.jobs.list({ limit: 10 })).toHaveLength(2);
  });
});

describe("a sender that goes away in the middle of its message", () => {
  it("queues nothing and breaks nothing", async () => {
    const served = await withEndpoints([{}]);
    const { hostname, port, host } = new URL(served.url);
    const socket = connect(Number(port), hostname);
    socket.write(`POST /w HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000\r\n\r\n{"half":`, () => socket.destroy());
    await new Promise((resolve) => socket.once("close", resolve));
    expect((await send(served, "/w", "{}")).status).toBe(202);
    await served.untilIdle();
    expect(await served.gateway.jobs.list({ limit: 9 })).toHaveLength(1);
  });
});
