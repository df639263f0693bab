// A call that is parked: nothing happens until what it waits for is brought.
import type { Outcome } from "../contracts/outcome.ts";
import { isProposed, takeDecision } from "./approve.ts";
import type { Next } from "./next.ts";
import type { Step } from "./step.ts";
import { takeResult } from "./wait.ts";

/** Waits for the decision on a call that the loop proposed, or for the result of one that runs elsewhere. */
export function parkCall(step: Step, arrived?: Outcome): Next | undefined {
  const { call, state } = step;
  if (!arrived) return { kind: "park", call: call.number, request_id: state.waiting?.request_id ?? call.id };
  return isProposed(call) ? takeDecision(step, arrived) : takeResult(step, arrived);
}
