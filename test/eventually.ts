// Waits for what a test cannot be told of. The time it gives up after bounds a test that hangs; it measures nothing.
import { vi } from "vitest";

const GIVES_UP_AFTER_MS = 240_000;

/** Checks again and again until the check throws nothing, and returns what it returns. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: GIVES_UP_AFTER_MS, interval: 20 });
}
