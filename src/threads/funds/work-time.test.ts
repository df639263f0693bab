import { describe, expect, it } from "vitest";
import * as budget from "../../contracts/conversation/budget.ts";
import type { Config } from "../../loop/config.ts";
import { initialState } from "../../loop/state.ts";
import { untilTimeUp, workTimeLeft } from "./work-time.ts";

const config = (ceiling?: number, current = 0) => {
  const clock = ceiling !== undefined && { wall_clock_seconds: budget.create({ name: "clock", ceiling, current }) };
  return { budgets: { ...clock } } as Config;
};
const began = { ...initialState, started_at: 10_000 };

describe("the time that a run may be at work", () => {
  it("is what its limit leaves since it began", () => {
    expect(workTimeLeft(config(60), began, 10_000)).toBe(60_000);
    expect(workTimeLeft(config(60), began, 30_500)).toBe(39_500);
  });

  it("does not count what the run waited for somebody, and counts what it was told it had used before", () => {
    expect(workTimeLeft(config(60), { ...began, waited: 3_600_000 }, 3_620_000)).toBe(50_000);
    expect(workTimeLeft(config(60, 45), began, 10_000)).toBe(15_000);
  });

  it("is never nothing, so that a timer can be set for it", () => {
    expect(workTimeLeft(config(60), began, 99_999_999)).toBe(1);
  });

  it("is not limited unless somebody says so", () => {
    expect(workTimeLeft(config(), began, 99_999_999)).toBeUndefined();
    expect(workTimeLeft(config(60), null, 10_000)).toBeUndefined();
  });
});

describe("work that is cut off when the time is up", () => {
  const { signal } = new AbortController();

  it("is left alone while there is time, and comes to what it comes to", async () => {
    expect(await untilTimeUp(60_000, signal, () => "done")).toBe("done");
    expect(await untilTimeUp(undefined, signal, async () => "done")).toBe("done");
    for (const left of [60_000, undefined]) {
      const failing = untilTimeUp(left, signal, () => Promise.reject(new Error("No.")));
      await expect(failing).rejects.toThrow("No.");
      const throwing = untilTimeUp(left, signal, () => {
        throw new Error("At once.");
      });
      await expect(throwing).rejects.toThrow("At once.");
    }
  });

  it("is told by its signal, and may still say why it ends", async () => {
    const told = Promise.withResolvers<unknown>();
    const heeding = untilTimeUp(1, signal, (until) => {
      until.addEventListener("abort", () => told.resolve(until.reason));
      return new Promise<never>(() => {});
    });
    await expect(heeding).rejects.toThrow("time");
    expect(await told.promise).toBeInstanceOf(Error);
  });

  it("is not waited for when it does not listen", async () => {
    await expect(untilTimeUp(1, signal, () => new Promise(() => {}))).rejects.toThrow("time");
  });

  it("may have to be paid for", async () => {
    const cut = untilTimeUp(1, signal, () => new Promise(() => {}));
    await expect(cut).rejects.toMatchObject({ hasSpoken: true });
  });

  it("is told, too, when the run is cut off for another reason", async () => {
    const run = new AbortController();
    for (const left of [60_000, undefined]) {
      const working = untilTimeUp(left, run.signal, (until) => {
        return new Promise((_, reject) => {
          if (until.aborted) reject(until.reason);
          until.addEventListener("abort", () => reject(until.reason));
          run.abort(new Error("Stopped."));
        });
      });
      await expect(working).rejects.toThrow("Stopped.");
    }
  });

  it("may take longer than a timer can be set for", async () => {
    // A timer that overflows fires at once.
    expect(await untilTimeUp(365 * 86_400_000, signal, () => new Promise((done) => setImmediate(done, "done")))).toBe(
      "done",
    );
  });
});
