import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { holdfastError } from "../contracts/error.ts";
import { LeaseLost, retryWhileDatabaseDown } from "./retry-commit.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const down = holdfastError("database_unavailable", "The server is gone.");
const ofServer = (code: string) => Object.assign(new Error(code), { code });

it.each([down, ofServer("40P01"), ofServer("57P01"), ofServer("25006")])(
  "tries again until the database is back: %s",
  async (failure) => {
    let attempts = 0;
    const done = retryWhileDatabaseDown(
      async () => {
        if (++attempts < 9) throw failure;
        return "stored";
      },
      () => false,
    );
    await vi.runAllTimersAsync();
    expect(await done).toBe("stored");
    expect(attempts).toBe(9);
  },
);

it.each([new Error("a mistake"), ofServer("23505"), holdfastError("thread_not_found", "There is none.")])(
  "does not try again what would fail again: %s",
  async (failure) => {
    const failing = () => Promise.reject(failure);
    await expect(retryWhileDatabaseDown(failing, () => false)).rejects.toBe(failure);
  },
);

it("ends as a lost lease when the work was given up meanwhile", async () => {
  let isGivenUp = false;
  const done = retryWhileDatabaseDown(
    () => Promise.reject(down),
    () => isGivenUp,
  );
  const outcome = expect(done).rejects.toBeInstanceOf(LeaseLost);
  await vi.advanceTimersByTimeAsync(1_000);
  isGivenUp = true;
  await vi.runAllTimersAsync();
  await outcome;
});
