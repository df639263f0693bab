// A message that someone has recorded on its way to a webhook and sends again: with what it had, and with other headers.
import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import { heldClock } from "../../src/testing/held-clock.ts";
import { eachDatabase } from "../databases.ts";
import { shell } from "../plugin-folders.ts";
import { type ServedGateway, type ServedSpec, serveGateway } from "./served-gateway.ts";
import { send, WEBHOOK_SECRET } from "./signed.ts";

const usual = { path: "/w", plugin: "tell", secret: WEBHOOK_SECRET, signature_header: "X-Sig" };
const OK = { script: shell(`echo '{"status":"ok","result":"good"}'`) };
const FAILS = { script: shell(`echo '{"status":"error","error":"no","retry":false}'`) };

const withEndpoint = (endpoint: JsonMap, more: ServedSpec = {}) =>
  serveGateway({ plugins: { tell: OK }, config: { webhooks: [{ ...usual, ...endpoint }] }, ...more });

const mac = (signed: string, key: string | Buffer = WEBHOOK_SECRET) => createHmac("sha256", key).update(signed);
const count = async ({ gateway }: ServedGateway) => (await gateway.jobs.list({ limit: 20 })).length;
const BODY = '{"order":7}';

eachDatabase((newWorld) => {
  describe("a signature that was taken", () => {
    it.each([
      ["x-time", { timestamp_header: "X-Time", tolerance: "24h" }],
      ["x-id", { dedupe_header: "X-Id" }],
    ] as const)(
      "is refused whatever %s is claimed with it, also at once and after its job has failed",
      async (header, endpoint) => {
        const world = await newWorld();
        const served = await withEndpoint(endpoint, { plugins: { tell: FAILS }, backend: world.backend });
        const now = Math.floor(Date.now() / 1_000);
        const value = (n: number) => ({ [header]: String(now + n) });
        const first = await Promise.all([0, 1, 2, 3].map((n) => send(served, "/w", BODY, value(n))));
        expect(first.map(({ status }) => status).sort()).toEqual([202, 403, 403, 403]);
        await served.untilIdle();
        for (const n of [0, 1, 4]) expect((await send(served, "/w", BODY, value(n))).status, String(n)).toBe(403);
        const [job] = await served.gateway.jobs.list({ limit: 2 });
        expect(job).toMatchObject({ status: "failed" });
        expect(await count(served)).toBe(1);
      },
    );

    it("is refused in whatever letters it is written", async () => {
      const world = await newWorld();
      const served = await withEndpoint({ dedupe_header: "X-Id" }, { backend: world.backend });
      const digits = mac(BODY).digest("hex");
      const written = [digits, digits.toUpperCase(), `sha256=${digits}`, ` sha256= ${digits} `];
      const statuses: number[] = [];
      for (const [n, sig] of written.entries()) {
        statuses.push((await send(served, "/w", BODY, { "x-sig": sig, "x-id": `m${n}` })).status);
      }
      expect(statuses).toEqual([202, 403, 403, 403]);
    });

    it("takes no job of another message away, and is one of its own endpoint", async () => {
      const world = await newWorld();
      const webhooks = ["/w", "/other"].map((path) => ({ ...usual, path, dedupe_header: "X-Id" }));
      const served = await serveGateway({ plugins: { tell: OK }, config: { webhooks }, backend: world.backend });
      expect((await send(served, "/w", BODY, { "x-id": "1" })).status).toBe(202);
      expect((await send(served, "/w", '{"order":8}', { "x-id": "2" })).status).toBe(202);
      expect((await send(served, "/other", BODY, { "x-id": "1" })).status).toBe(202);
      // A message that was refused for its id has not used its signature up.
      expect((await send(served, "/w", '{"order":9}', { "x-id": "1" })).status).toBe(403);
      expect((await send(served, "/w", '{"order":9}', { "x-id": "3" })).status).toBe(202);
      expect(await count(served)).toBe(4);
    });
  });
});

describe("signed_payload: timestamp.body", () => {
  const endpoint = { signed_payload: "timestamp.body", timestamp_header: "X-Time", tolerance: "5m" };
  const at = (time: string, signed = time) => ({ "x-time": time, "x-sig": mac(`${signed}.${BODY}`).digest("hex") });

  it("takes a message with its own time alone, once, and refuses it after the tolerance", async () => {
    const clock = heldClock();
    const served = await withEndpoint(endpoint, { backend: sqlite(":memory:", { clock }) });
    const seconds = (offset: number) => String(Math.floor(clock.now() / 1_000) + offset);
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await send(served, "/w", BODY, headers)).status;
    const recorded = at(seconds(0));
    // Signed for the body alone, for another time, for none, and with the time missing.
    expect(await status({ "x-time": seconds(0) })).toBe(403);
    expect(await status(at(seconds(1), seconds(0)))).toBe(403);
    expect(await status(at("", seconds(0)))).toBe(403);
    expect(await status({ "x-sig": recorded["x-sig"] })).toBe(403);
    expect(await status(recorded)).toBe(202);
    expect(await status(recorded)).toBe(403);
    // The same body at another time, which the sender has signed, is a message of its own.
    expect(await status(at(seconds(1)))).toBe(202);
    await served.untilIdle();
    await clock.advance(6 * 60_000);
    expect(await status(recorded)).toBe(403);
    expect(await status({ ...recorded, "x-time": seconds(0) })).toBe(403);
    expect(await count(served)).toBe(2);
  });

  it("refuses a repeat for as long as its time is good, however long the tolerance is", async () => {
    const clock = heldClock();
    const served = await withEndpoint({ ...endpoint, tolerance: "40h" }, { backend: sqlite(":memory:", { clock }) });
    const recorded = at(String(Math.floor(clock.now() / 1_000) + 30 * 3_600));
    expect((await send(served, "/w", BODY, recorded)).status).toBe(202);
    await served.untilIdle();
    for (const hours of [23, 30, 14]) {
      await clock.advance(hours * 3_600_000);
      expect((await send(served, "/w", BODY, recorded)).status).toBe(403);
    }
  });
});

describe("signed_payload: id.timestamp.body", () => {
  const key = Buffer.from("0123456789abcdef0123456789abcdef");
  const endpoint = {
    ...{ signed_payload: "id.timestamp.body", secret: `whsec_${key.toString("base64")}` },
    ...{ signature_header: "webhook-signature", timestamp_header: "webhook-timestamp", dedupe_header: "webhook-id" },
  };

  it("is the scheme of Standard Webhooks: neither id nor time can be changed, and an id counts once", async () => {
    const clock = heldClock();
    const served = await withEndpoint(endpoint, { backend: sqlite(":memory:", { clock }) });
    const now = Math.floor(clock.now() / 1_000);
    const message = (id: string, time: number, signed = `${id}.${time}.${BODY}`) => ({
      ...{ "webhook-id": id, "webhook-timestamp": String(time) },
      "webhook-signature": `v1,bm90IGl0 v1,${mac(signed, key).digest("base64")}`,
    });
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await send(served, "/w", BODY, headers)).status;
    expect(await status(message("m1", now))).toBe(202);
    expect(await status(message("m1", now))).toBe(403);
    expect(await status(message("m2", now, `m1.${now}.${BODY}`))).toBe(403);
    expect(await status(message("m1", now + 1, `m1.${now}.${BODY}`))).toBe(403);
    // Another attempt of the sender, signed anew.
    expect(await status(message("m1", now + 1))).toBe(403);
    expect(await status(message("m2", now))).toBe(202);
    const { "webhook-id": _, ...without } = message("m3", now);
    expect(await status(without)).toBe(403);
    expect(await count(served)).toBe(2);
  });
});
