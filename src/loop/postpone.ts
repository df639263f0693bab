// An attempt that came to nothing yet, because a provider is busy or out of reach: the run waits, and tries again.
import { spentInVain } from "./funds.ts";
import type { Next, Postponed } from "./next.ts";
import type { Step } from "./step.ts";

/** Puts off what is under way. Only what changes nothing outside may be tried again. */
export function postpone(step: Step, { postponed: { until, model, hasSpoken = false } }: Postponed): void {
  const { in_flight, position } = step.state;
  if (in_flight?.kind !== "call_model" && in_flight?.kind !== "summarize") {
    throw new Error(`Only the model and the summarizer can be tried again, and neither is under way at ${position}.`);
  }
  const spent = spentInVain(step.state, hasSpoken);
  const fact = {
    type: "effect.postponed",
    until,
    ...(model !== undefined && { model }),
    ...(spent && { spent }),
  } as const;
  step.record(fact, position);
}

/** The wait, while it lasts. An attempt that has begun again is not held up by the time of the one before. */
export function waiting({ now, state: { in_flight, postponed } }: Step): Next | undefined {
  return postponed && !in_flight && now < postponed.until ? { kind: "wait", until: postponed.until } : undefined;
}
