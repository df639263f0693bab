import { connect, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { retryAfter } from "./model-retry.ts";

const retry = { attempts: 4, backoffMs: 100, mostMs: 300 };
const withCode = (code: unknown, cause?: unknown) => Object.assign(new Error("No.", { cause }), { code });

describe("a model that failed", () => {
  it.each([429, 500, 503, 529])(
    "is asked again when its provider answers %s, later each time, and not for ever",
    (status) => {
      const failed = Object.assign(new Error("Busy."), { status });
      expect([0, 1, 2, 3].map((times) => retryAfter(failed, times, retry))).toEqual([100, 200, 300, undefined]);
    },
  );

  it.each(["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "EAI_AGAIN", "UND_ERR_SOCKET"])(
    "is asked again when the network says %s, however deep that is wrapped",
    (code) => {
      const fetchFailed = new TypeError("fetch failed", { cause: withCode(code) });
      const byClient = new Error("Connection error.", { cause: fetchFailed });
      for (const thrown of [withCode(code), fetchFailed, byClient]) expect(retryAfter(thrown, 0, retry)).toBe(100);
      expect(retryAfter(byClient, 3, retry)).toBeUndefined();
    },
  );

  it("is asked again after a real fetch that nobody answered, and one that was cut off", async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const failure = () => fetch(`http://127.0.0.1:${port}`).then(String, (thrown: unknown) => thrown);
    expect(retryAfter(await failure(), 0, retry)).toBe(100);
    await new Promise((resolve) => server.close(resolve));
    expect(retryAfter(await failure(), 0, retry)).toBe(100);
    const refused = await new Promise((resolve) => connect(port, "127.0.0.1").once("error", resolve));
    expect(retryAfter(refused, 0, retry)).toBe(100);
  });

  it("is not asked again when that would not help", () => {
    const circular = withCode("ODD");
    circular.cause = circular;
    const useless = [
      ...[400, 401, 404, 422].map((status) => Object.assign(new Error("No."), { status })),
      ...[new Error("A bug."), withCode("ENOENT"), withCode("ENOTFOUND"), withCode(7), circular],
      ...["ECONNRESET", null, undefined, { code: "ECONNRESET" }],
    ];
    for (const thrown of useless) expect(retryAfter(thrown, 0, retry), String(thrown)).toBeUndefined();
  });

  it("is asked when its provider says so, though not next year", () => {
    const busy = (seconds: number) =>
      Object.assign(new Error("Busy."), { status: 429, data: { retry_after: seconds } });
    expect(retryAfter(busy(2), 0, retry)).toBe(2_000);
    expect(retryAfter(busy(0.01), 0, retry)).toBe(100);
    expect(retryAfter(busy(31_536_000), 0, retry)).toBe(3_600_000);
  });
});
