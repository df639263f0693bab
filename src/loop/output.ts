// The last words of a run that were asked for in a form: accepted, or told to the model once, or the end of the run.
import * as message from "../contracts/conversation/message.ts";
import { isMap, type Json, seal, snapshotMap } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { endLate, isLate } from "./clock.ts";
import { failCallback } from "./failure.ts";
import type { Next } from "./next.ts";
import { added, type Step } from "./step.ts";

const MOST_REPAIRS = 1;

export function judgeOutput(step: Step, arrived?: Outcome): Next | undefined {
  const { state, working } = step;
  const text = typeof working.answer.result.content === "string" ? working.answer.result.content : "";
  if (!arrived) return { kind: "consult", question: { hook: "output", text } };
  if ("threw" in arrived) {
    // A schema that was cut off because the time was up has not failed.
    if (isLate(step) && endLate(step)) return;
    return failCallback(step, arrived.threw);
  }
  const verdict = isMap(arrived.returned) ? arrived.returned : {};
  if (verdict.ok === true) {
    const structured_output = { parsed: verdict.value as Json, diagnostics: seal({ status: "parsed" }) };
    const accepted = { to: "accepted", value: { structured_output } } as const;
    step.record({ type: "output.judged", as: "accepted" }, step.checked("turn.verdict"), [accepted]);
    return;
  }
  const problems = String(verdict.problems);
  if (state.repairs >= MOST_REPAIRS) return refuse(step, problems);
  const event = step.notifyAndKeep("output_repair_requested", { turn: state.turn, problems });
  const words = `Your answer is not what was asked for: ${problems} Answer again, with the corrected JSON alone.`;
  const asked = added(message.text("user", words, snapshotMap({ type: "output_repair" })));
  step.record({ type: "output.judged", as: "repaired" }, step.checked("turn.verdict"), [asked, event]);
}

function refuse(step: Step, problems: string): undefined {
  const { turn } = step.state;
  const failure = seal({
    type: "structured_output_mismatch",
    code: "structured_output_mismatch",
    message: `The model's last words are not what was asked for: ${problems}`,
    turn_count: turn,
  });
  step.notify("failed", { turn, error: failure.message });
  step.record({ type: "output.judged", as: "refused" }, "flow.end", [{ to: "stop", value: { failure } }]);
}
