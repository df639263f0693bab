// Calls that were queued for a run, as the calls of a turn.
import { seal } from "../contracts/json.ts";
import type { Step } from "./step.ts";

/** Makes the queued calls the batch that is taken next. */
export function acceptQueue(step: Step): void {
  const { queued } = step.working;
  step.record({ type: "queue.accepted", calls: queued.length }, "call.open", [
    { to: "answer", value: { result: seal({ tool_calls: seal([...queued]) }), history: null } },
    { to: "queued", calls: [] },
  ]);
}
