import { describe, expect, it } from "vitest";
import { backoff, backoffMs } from "./backoff.ts";

describe("the delay before the next attempt", () => {
  it("scenario 37: doubles from a base of 30 s when there is no jitter: 30, 60, 120", () => {
    expect([1, 2, 3].map((failed) => backoff(30, failed, 0))).toEqual([30, 60, 120]);
  });

  it("has up to a quarter of the base as jitter, whatever the attempt", () => {
    expect(backoff(30, 1, 1)).toBe(37.5);
    expect(backoff(30, 4, 1)).toBe(247.5);
    expect(backoff(30, 1, 0.5)).toBe(33.75);
    expect(backoff(30, 1, 7)).toBe(37.5);
  });

  it("stays a time that can be stored, however many attempts a job is allowed", () => {
    expect(backoffMs(30_000, 5000, 1)).toBe(backoffMs(30_000, 50_000, 0));
    expect(Number.isSafeInteger(backoffMs(30_000, 5000, 1) * 1000)).toBe(true);
    expect(backoffMs(1001, 1, 0.333)).toBe(1084);
  });
});
