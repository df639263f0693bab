import { connect, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { ModelFailure } from "../../models/model-failure.ts";
import { nextAttempt } from "./model-retry.ts";

const retry = { attempts: 4, backoffMs: 100, mostMs: 300 };
const withCode = (code: unknown, cause?: unknown) => Object.assign(new Error("No.", { cause }), { code });

/** Milliseconds until the only model there is is asked again. */
const retryAfter = (thrown: unknown, times: number, rules = retry) =>
  nextAttempt(thrown, { times, model: 0, models: 1 }, rules)?.after;

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

  it("is asked again when its answer broke off, and says itself when", () => {
    expect(retryAfter(new ModelFailure("model_answer_broken", "Cut off."), 0)).toBe(100);
    expect(retryAfter(new ModelFailure("model_unavailable", "Busy.", { retryAfter: 3 }), 0)).toBe(3_000);
    expect(retryAfter(new ModelFailure("model_refused", "No such model.", { status: 404 }), 0)).toBeUndefined();
  });
});

describe("a model from which another one can take over", () => {
  const asked = (thrown: unknown, times: number, model = 0) => nextAttempt(thrown, { times, model, models: 3 }, retry);
  const busy = new ModelFailure("model_unavailable", "Busy.");
  const stalled = new ModelFailure("model_stalled", "Silence.");
  const refused = new ModelFailure("model_refused", "No.", { status: 401 });

  it("is tried as often as it may be first", () => {
    expect(asked(busy, 0)).toEqual({ after: 100, model: 0 });
    expect(asked(busy, 3)).toEqual({ after: 0, model: 1 });
    expect(asked(busy, 3, 1)).toEqual({ after: 0, model: 2 });
    expect(asked(busy, 3, 2)).toBeUndefined();
  });

  it("is not asked again when it hung or refused", () => {
    expect(asked(stalled, 0)).toEqual({ after: 0, model: 1 });
    expect(asked(refused, 0, 1)).toEqual({ after: 0, model: 2 });
    expect(asked(refused, 0, 2)).toBeUndefined();
    // There is nobody else left: a model that hung is better than none.
    expect(asked(stalled, 0, 2)).toEqual({ after: 100, model: 2 });
  });
});
