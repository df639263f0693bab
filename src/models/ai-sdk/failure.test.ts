import { expect, it, onTestFinished, vi } from "vitest";
import { failureOf } from "./failure.ts";

const unheard = { name: "local.chat/small", hasSpoken: false, isStreaming: false };

/** An error as provider packages throw it: it holds the whole request. */
function refusal(statusCode: number | undefined, more: object = {}): Error {
  return Object.assign(new Error("No."), {
    name: "AI_APICallError",
    statusCode,
    requestBodyValues: { messages: ["a secret"] },
    isRetryable: false,
    ...more,
  });
}

function wait(headers: Record<string, string>): number | null {
  return failureOf(refusal(429, { responseHeaders: headers }), unheard).retryAfter;
}

it.each([
  ...[408, 409, 429, 500, 503, 529].map((status) => [status, "model_unavailable"] as const),
  ...[400, 401, 403, 404, 413, 422].map((status) => [status, "model_refused"] as const),
])("tells from status %i whether to ask again", (status, code) => {
  expect(failureOf(refusal(status), unheard)).toMatchObject({ code, status, hasSpoken: false });
});

it("believes a package that says of a status that it will pass", () => {
  expect(failureOf(refusal(400, { isRetryable: true }), unheard).code).toBe("model_unavailable");
});

it("waits as long as the provider asks for, in seconds, milliseconds or until a date", () => {
  expect(wait({ "retry-after": "7" })).toBe(7);
  expect(wait({ "Retry-After": "0.5" })).toBe(0.5);
  expect(wait({ "retry-after": "7", "retry-after-ms": "1500" })).toBe(1.5);
  vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect(wait({ "retry-after": new Date(1_100_000).toUTCString() })).toBe(100);
  expect(wait({ "retry-after": new Date(0).toUTCString() })).toBe(0);
  expect(wait({ "retry-after": "soon" })).toBeNull();
  expect(wait({})).toBeNull();
});

it.each([
  ["a connection that did not come about", refusal(undefined)],
  ["what fetch throws", new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) })],
  ["what a socket throws", Object.assign(new Error("reset"), { code: "ECONNRESET" })],
])("takes %s for a provider that is out of reach", (_what, thrown) => {
  expect(failureOf(thrown, unheard).code).toBe("model_unavailable");
});

it("refuses what the package refuses to send", () => {
  const thrown = Object.assign(new Error("'audio' is not supported."), { name: "AI_UnsupportedFunctionalityError" });

  expect(failureOf(thrown, unheard).code).toBe("model_refused");
});

it("reads an error in a stream like a status as long as nothing was said, and takes the answer for broken after", () => {
  const overloaded = { message: "Overloaded", code: 529 };
  const unknown = { message: "Sorry", code: "server_error" };

  expect(failureOf(overloaded, { ...unheard, isStreaming: true }).code).toBe("model_unavailable");
  expect(failureOf(unknown, { ...unheard, isStreaming: true }).code).toBe("model_answer_broken");
  expect(failureOf(overloaded, { ...unheard, isStreaming: true, hasSpoken: true })).toMatchObject({
    code: "model_answer_broken",
    hasSpoken: true,
  });
});

it("has the provider's words, without keys, and not without end", () => {
  const words = [
    "Incorrect API key provided: sk-proj-abc***xyz.",
    "Authorization: Bearer abcdef.ghi",
    "AIzaSyA1234567890abcdefghijklmnopqrstu",
    "0123456789abcdef0123456789abcdef",
    "request 123e4567-e89b-12d3-a456-426614174000",
  ].join(" | ");

  expect(failureOf(refusal(401, { message: words }), unheard).detail).toBe(
    "local.chat/small answered with status 401: Incorrect API key provided: [redacted] | " +
      "Authorization: [redacted] | [redacted] | [redacted] | request 123e4567-e89b-12d3-a456-426614174000",
  );
  expect(failureOf(refusal(400, { message: "long ".repeat(500) }), unheard).detail.length).toBeLessThan(600);
  expect(failureOf(refusal(502, { message: "", responseBody: "<h1>Bad gateway</h1>" }), unheard).detail).toContain(
    "Bad gateway",
  );
});

it.each([
  ["an error", refusal(400)],
  ["an error without words", refusal(400, { message: "" })],
  ["an error within an error", new Error("outer", { cause: refusal(400) })],
  ["an error of another realm", { ...refusal(400), message: "" }],
])("never holds what was sent: %s", (_what, thrown) => {
  const failure = failureOf(thrown, unheard);
  const cause = failure.cause as Error;

  expect(JSON.stringify([failure, failure.message, cause, cause.message, cause.cause])).not.toContain("a secret");
  expect(Object.keys(cause)).not.toContain("requestBodyValues");
});

it("reads anything that can be thrown", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;

  for (const thrown of [undefined, null, "text", 7, cycle, Symbol("s"), { odd: 1 }]) {
    expect(failureOf(thrown, unheard).code).toBe("model_answer_broken");
  }
});
