// What a run has begun and not heard of yet.
import type { Arrived, Order, Outcome } from "../machine/next.ts";
import { errorOfThrown } from "../steps/errors-of-steps.ts";
import { after } from "../steps/long-timer.ts";

export type WorkUnderWay = {
  readonly begin: (order: Order) => void;
  /** What arrives first; undefined when the time was up before, or the signal has fired. */
  readonly next: (milliseconds: number | undefined, signal: AbortSignal | undefined) => Promise<Arrived | undefined>;
  /** Waits for nothing any more, and tells what it waited for. */
  readonly giveUp: () => readonly string[];
};

// One list of what has arrived: a race of all promises again and again would hang ever more on one that takes long.
export function workUnderWay(perform: (order: Order) => Promise<Outcome>): WorkUnderWay {
  const orders = new Map<string, Order>();
  const arrived: Arrived[] = [];
  let wake = () => {};

  async function carryOut(order: Order): Promise<void> {
    const outcome = await outcomeOf(order);
    if (orders.get(order.path) !== order) return;
    orders.delete(order.path);
    arrived.push({ path: order.path, attempt: order.attempt, outcome });
    wake();
  }

  async function outcomeOf(order: Order): Promise<Outcome> {
    try {
      return await perform(order);
    } catch (thrown) {
      return { as: "failed", error: errorOfThrown(thrown) };
    }
  }

  return {
    begin(order) {
      orders.set(order.path, order);
      void carryOut(order);
    },
    async next(milliseconds, signal) {
      if (arrived.length === 0 && !signal?.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const callOff = milliseconds === undefined ? undefined : after(milliseconds, resolve);
        signal?.addEventListener("abort", wake, { once: true });
        await promise;
        callOff?.();
        signal?.removeEventListener("abort", wake);
      }
      return arrived.shift();
    },
    giveUp() {
      const left = [...orders.keys()];
      orders.clear();
      return left;
    },
  };
}
