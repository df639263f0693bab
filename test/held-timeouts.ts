// Timers of a certain length that a test holds in its hand: they go off when the test says so, and never because the
// machine is slow. All other timers are left as they are.
import { onTestFinished, vi } from "vitest";

export type HeldTimeouts = {
  /** How often a timer of such a length was set. */
  count(): number;
  /** Has those go off that were set and not cleared. */
  goOff(): void;
};

/** Holds the timers of these lengths, in milliseconds, until the test is over. */
export function heldTimeouts(...lengths: readonly number[]): HeldTimeouts {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const held = new Map<unknown, () => void>();
  let count = 0;
  const setting = vi.spyOn(globalThis, "setTimeout").mockImplementation(((
    callback: () => void,
    milliseconds?: number,
    ...given: []
  ) => {
    if (milliseconds === undefined || !lengths.includes(milliseconds)) return set(callback, milliseconds, ...given);
    count++;
    const timer = set(() => undefined, LONGEST_TIMER_MS).unref();
    held.set(timer, callback);
    return timer;
  }) as typeof setTimeout);
  const clearing = vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
    held.delete(timer);
    clear(timer);
  });
  onTestFinished(() => {
    setting.mockRestore();
    clearing.mockRestore();
    for (const timer of held.keys()) clear(timer as NodeJS.Timeout);
  });
  return {
    count: () => count,
    goOff() {
      for (const [timer, callback] of [...held]) {
        clear(timer as NodeJS.Timeout);
        held.delete(timer);
        callback();
      }
    },
  };
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;
