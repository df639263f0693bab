// Goes through a batch of calls, one after another, to its end.
import type { Outcome } from "../contracts/outcome.ts";
import { openCall } from "./call.ts";
import { endLate } from "./clock.ts";
import { endBatch } from "./end-batch.ts";
import type { Next } from "./next.ts";
import { settleRest } from "./settle-rest.ts";
import type { Step } from "./step.ts";

/** Takes the next call of the batch, or ends the batch when there is none or it was halted. */
export function takeCall(step: Step, arrived?: Outcome): Next | undefined {
  const { batch } = step.state;
  if (!batch.halted && batch.next < batch.count) {
    if (step.config.rules.clock === "call" && endLate(step)) return;
    return openCall(step, arrived);
  }
  settleRest(step);
  return endBatch(step);
}
