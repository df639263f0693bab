// The end of a batch of calls: what the turn still adds, and whether the conversation is complete as far as it goes.
import type { Next } from "./next.ts";
import type { Position } from "./records.ts";
import { added, type Step } from "./step.ts";
import type { Body } from "./working.ts";

/** True when the model said what it has to say, and that was asked for in a form. */
function isLastWord({ config, state }: Step, complete: boolean): boolean {
  return config.asked.output && complete && state.batch.count === 0 && Object.keys(state.stops).length === 0;
}

function afterBatch(step: Step, complete: boolean): Position {
  if (step.state.frames.length > 0) return "turn.frame";
  return isLastWord(step, complete) ? "turn.output" : step.checked("turn.verdict");
}

export function endBatch(step: Step): Next | undefined {
  const { config, state, working } = step;
  const bodies: Body[] = [];
  for (const continuation of working.continuation) {
    const { role } = continuation;
    bodies.push(added(continuation), step.notifyAndKeep("continuation_message_added", { turn: state.turn, role }));
  }
  const { stalled } = state.stops;
  if (stalled) step.notify("loop_stalled", stalled);
  // The last words of a side end its turn, if its rules say so; they are not the end of the conversation. Those of a
  // prompt that speaks for a call end nothing but that.
  const isOfConversation = config.sides === null && state.frames.length === 0;
  const isSaid = isOfConversation && working.continuation.length === 0;
  const complete = state.batch.count === 0 ? isSaid : state.complete;
  step.record({ type: "batch.ended", complete }, afterBatch(step, complete), bodies);
  return undefined;
}
