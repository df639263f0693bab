import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isFresh, MAX_WEBHOOK_BYTES, webhookStatus } from "./webhook-body.ts";

const secret = "s";
const sign = (body: string | Uint8Array) => createHmac("sha256", secret).update(body).digest("hex");

describe("scenario 44: the body of a webhook", () => {
  it("is accepted with a right signature, prefixed or bare, over its very bytes", () => {
    const body = new Uint8Array([0xff, 0x00, 0x7b]);
    expect(webhookStatus({ secret, body, header: `sha256=${sign(body)}` })).toBe(202);
    expect(webhookStatus({ secret, body, header: sign(body) })).toBe(202);
  });

  it("is refused with a wrong signature or none", () => {
    for (const header of ["", undefined, "sha256=", `sha1=${sign("{}")}`, sign("{} ")]) {
      expect(webhookStatus({ secret, body: "{}", header })).toBe(403);
    }
    expect(webhookStatus({ secret: "", body: "{}", header: sign("{}") })).toBe(403);
  });

  it("is too large before its signature counts", () => {
    const body = "x".repeat(2 * MAX_WEBHOOK_BYTES);
    expect(webhookStatus({ secret, body, header: "" })).toBe(413);
    expect(webhookStatus({ secret, body, header: sign(body) })).toBe(413);
    expect(webhookStatus({ secret, body, header: sign(body), max_body_bytes: body.length })).toBe(202);
    expect(webhookStatus({ secret, body: "éé", header: sign("éé"), max_body_bytes: 3 })).toBe(413);
  });
});

describe("the time in a header", () => {
  const now = Date.parse("2026-02-16T12:00:00Z");

  it("is fresh within the tolerance, in both directions", () => {
    const headers = (ms: number) => [String(ms / 1000), String(ms), new Date(ms).toISOString()];
    for (const header of [...headers(now), ...headers(now - 300_000), ...headers(now + 300_000)]) {
      expect(isFresh(header, now, 300_000)).toBe(true);
    }
    for (const header of [...headers(now - 301_000), ...headers(now + 301_000)]) {
      expect(isFresh(header, now, 300_000)).toBe(false);
    }
  });

  it("is never fresh when it is missing or no time", () => {
    for (const header of [undefined, "", " ", "now", "1.5", "-1", "2026-02-16", "2026-99-16T12:00:00Z"]) {
      expect(isFresh(header, now, Number.MAX_SAFE_INTEGER)).toBe(false);
    }
  });
});
