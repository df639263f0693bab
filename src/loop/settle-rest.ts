// The calls of a batch that nobody will take any more. Where the rules say so, each gets the one result that says it was
// never begun, so that the history stays whole.
import { seal } from "../contracts/json.ts";
import { expose, exposeShown } from "../contracts/tools/exposure.ts";
import * as toolResult from "../contracts/tools/result.ts";
import { acceptQueue } from "./accept-queue.ts";
import { readCall, recordOpened } from "./call.ts";
import { proceed } from "./decision.ts";
import { hiddenParameters, hidingDeclarationOf } from "./declared.ts";
import { settleStopped } from "./settle.ts";
import type { Step } from "./step.ts";

/** Settles what is left of the batch, and of the queue, before the run ends. Nobody is asked and nothing is counted. */
export function settleRest(step: Step): void {
  if (step.config.rules.rest !== "settle") return;
  if (step.state.queued > 0) acceptQueue(step);
  // The results that a caller reported are a batch too, but they are no calls.
  if (!step.state.position.startsWith("call.")) return;
  while (step.state.batch.next < step.state.batch.count) settleNext(step);
}

function settleNext(step: Step): void {
  const given = readCall(step);
  if (!given) {
    step.record({ type: "call.skipped" }, "call.open");
    return;
  }
  const { id, name, raw, parameters } = given;
  const hidden = hiddenParameters(step, name, parameters);
  const error = "Not begun: the run stopped before this call had its turn.";
  const result = toolResult.failure(name, error, { error_type: "cancelled" });
  const call = {
    number: step.state.calls,
    ...{ id, name, raw, parameters },
    prepared: seal({ ready: false, ...result } as const),
    exposure: hidden ? exposeShown(hidden) : expose(parameters, hidingDeclarationOf(step, name)),
    policy: "direct",
    preview: null,
    approved: false,
    decision: proceed,
    result,
  } as const;
  recordOpened(step, call, "call.settle");
  settleStopped(step, result);
}
