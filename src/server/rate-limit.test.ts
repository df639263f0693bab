import { describe, expect, it } from "vitest";
import { createRateLimit } from "./rate-limit.ts";

describe("a limit to how often somebody may come", () => {
  it("lets a burst through and then as many as fit into the time, for each alone", () => {
    let now = 0;
    const limit = createRateLimit({ perSecond: 2, burst: 3 }, () => now);
    expect([1, 2, 3, 4].map(() => limit.take("a"))).toEqual([0, 0, 0, 1]);
    expect(limit.take("b")).toBe(0);
    now += 500;
    expect([limit.take("a"), limit.take("a")]).toEqual([0, 1]);
    now += 60_000;
    expect([1, 2, 3, 4].map(() => limit.take("a"))).toEqual([0, 0, 0, 1]);
  });

  it("says after how many whole seconds it is worth to come again", () => {
    const limit = createRateLimit({ perSecond: 0.1, burst: 1 }, () => 0);
    expect([limit.take("a"), limit.take("a")]).toEqual([0, 10]);
  });

  it("is not undone by a clock that is set back", () => {
    let now = 100_000;
    const limit = createRateLimit({ perSecond: 1, burst: 1 }, () => now);
    limit.take("a");
    now = 0;
    expect(limit.take("a")).toBe(1);
  });

  it("forgets those who have not come for long, and nobody else", () => {
    let now = 0;
    const limit = createRateLimit({ perSecond: 1, burst: 1 }, () => now);
    for (let who = 0; who < 10_000; who++) limit.take(`old ${who}`);
    now = 1_500;
    limit.take("recent");
    now = 2_000;
    limit.take("new");
    expect(limit.take("recent")).toBe(1);
  });
});
