// One step of the test: what was done, what came of it, and how things stood before.
import type { Prepared } from "./actions.ts";
import { type Asked, type Expectation, isRemembered, type Memory } from "./expectation.ts";
import type { RequestRow } from "./runtimes.ts";
import type { Wish } from "./shop.ts";

/** An action, what it had to come to if nothing else had happened, and what it came to. */
export type Told = { readonly prepared: Prepared; readonly expected: string | undefined; readonly outcome: string };

export type Step = {
  readonly told: readonly Told[];
  readonly before: ReadonlyMap<string, RequestRow>;
  /** What was remembered before. */
  readonly memory: Memory;
  /** The rule that was deployed while the actions happened, and the one that is by now. */
  readonly rule: number;
  readonly ruleAfter: number;
  /** Everything was left for somebody who came later to run the threads. */
  readonly isLeft: boolean;
  /** Nothing else happened beside the one action, so that what it comes to is known. */
  readonly isExact: boolean;
};

export function isStopped({ told }: Step, { wish }: Asked): boolean {
  return told.some(({ prepared }) => prepared.stops === wish.thread);
}

/** True when a call needs nobody's yes, or did not while the step went on. */
export function isDirect({ memory }: Expectation, wish: Wish, step: Step): boolean {
  return isRemembered(memory, "direct", wish, step.ruleAfter) || isRemembered(step.memory, "direct", wish, step.rule);
}
