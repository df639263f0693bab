// The driver in memory: steps the machine to its end, or to where it has to wait, and does between the steps what it asks for.

import { advance, type Step } from "../machine/advance.ts";
import type { Arrived, Next, Order, Outcome } from "../machine/next.ts";
import { parentOf, ROOT } from "../machine/path.ts";
import { initialState, type State } from "../machine/state.ts";
import type { Working } from "../machine/working.ts";

export type Carrier = {
  readonly now: () => number;
  /** Does what was ordered. It never throws: what goes wrong is an outcome. */
  readonly perform: (order: Order) => Promise<Outcome>;
  /** Asked before each step and after it. */
  readonly isCancelled: () => boolean | Promise<boolean>;
  /** Told of each step of the machine, before what it orders is done. */
  readonly stepped?: (step: Step) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
};

export type Driven = { readonly state: State; readonly next: Exclude<Next, { kind: "effects" }> };

export async function drive(working: Working, carrier: Carrier, start: State = initialState): Promise<Driven> {
  const underWay = new Map<string, Promise<Arrived>>();
  let state = start;
  let arrived: readonly Arrived[] = [];
  for (let steps = 1; ; steps++) {
    // Steps that are done at once would keep timers and signals waiting.
    if (steps % STEPS_AT_A_STRETCH === 0) await new Promise(setImmediate);
    const wish: readonly Arrived[] = (await carrier.isCancelled()) ? [{ wish: "cancel" }] : [];
    const step = advance(state, working, carrier.now(), [...arrived, ...wish]);
    state = step.state;
    await carrier.stepped?.(step);
    const { next } = step;
    if (next.kind === "park" && next.until !== null) {
      arrived = (await slept(next.until - carrier.now(), carrier.signal)) ? [] : [{ wish: "cancel" }];
      continue;
    }
    if (next.kind !== "effects") return { state, next };
    for (const order of next.begin) underWay.set(order.path, begin(order, carrier));
    arrived = await firstOf(underWay, carrier.signal);
  }
}

const STEPS_AT_A_STRETCH = 256;

async function begin(order: Order, { perform }: Carrier): Promise<Arrived> {
  return { path: order.path, attempt: order.attempt, outcome: await perform(order) };
}

/** What arrives first. When the signal fires, nothing is waited for any more. */
async function firstOf(
  underWay: Map<string, Promise<Arrived>>,
  signal: AbortSignal | undefined,
): Promise<readonly Arrived[]> {
  const first = await unlessAborted(Promise.race(underWay.values()), signal);
  if (first === undefined) {
    const left = [...underWay.keys()];
    underWay.clear();
    return [...left.map((path) => ({ path, outcome: { as: "failed", error: aborted } }) as const), { wish: "cancel" }];
  }
  if ("path" in first) underWay.delete(first.path);
  return [first];
}

/** Waits for so many milliseconds; false when the signal fired first. */
async function slept(milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> {
  if (signal?.aborted) return false;
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<true>((resolve) => {
    timer = setTimeout(resolve, Math.min(Math.max(milliseconds, 1), LONGEST_TIMER_MS), true);
  });
  const isOver = await unlessAborted(time, signal);
  clearTimeout(timer);
  return isOver === true;
}

/** A longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const aborted = { code: "cancel_requested", message: "The run was asked to stop." };

function unlessAborted<Value>(value: Promise<Value>, signal: AbortSignal | undefined): Promise<Value | undefined> {
  if (!signal) return value;
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** The positions of the steps of the run itself that ended in this step of the machine. */
export function endedSteps({ facts }: Step): number[] {
  return facts.flatMap((fact) =>
    fact.type === "step.ended" && parentOf(fact.path) === ROOT ? [Number(fact.path)] : [],
  );
}
