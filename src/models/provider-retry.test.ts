import { expect, it } from "vitest";
import { delayAfter, isTransient, readError, readThrown, retryPolicy } from "./provider-retry.ts";

const policy = retryPolicy({});
const unknown = readThrown(new Error("x"));

it("finds the status wherever a provider client puts it", () => {
  for (const field of ["code", "status", "statusCode"]) {
    expect(readThrown(Object.assign(new Error("busy"), { [field]: 503 }))).toMatchObject({
      status: 503,
      message: "busy",
    });
  }
  expect(readThrown(Object.assign(new Error("reset"), { code: "ECONNRESET", status: 502 })).status).toBe(502);
  expect(readThrown("busy")).toEqual({ status: null, retry_after: null, message: "busy" });
});

it("calls only 429 and the 500s transient", () => {
  const status = (status: number) => isTransient(readError({ code: "http", message: "", data: { status } }));
  expect([428, 429, 430, 499, 500, 599, 600].filter(status)).toEqual([429, 500, 599]);
  expect(isTransient(unknown)).toBe(false);
});

it("waits as long as the provider asks, but never longer than the limit", () => {
  const asked = (retry_after: number) => readError({ code: "http", message: "", data: { status: 429, retry_after } });
  expect(delayAfter(1, asked(7), policy, 1)).toBe(7);
  expect(delayAfter(1, asked(7000), policy, 1)).toBe(60);
  expect(delayAfter(1, asked(-7), policy, 0)).toBe(2);
});

it("stays a delay for any attempt and any random number", () => {
  expect(delayAfter(5000, unknown, policy, 1)).toBe(60);
  expect(delayAfter(5000, unknown, retryPolicy({ retry_base_delay: 0 }), 1)).toBe(0);
  expect(delayAfter(1, unknown, policy, -3)).toBe(2);
});

it("keeps the defaults for options that make no sense", () => {
  expect(retryPolicy({ retry_max_attempts: Number.NaN, retry_base_delay: -1, retry_max_delay: 0 })).toEqual(policy);
  expect(retryPolicy({ retry_max_attempts: 2.9 }).max_attempts).toBe(2);
});
