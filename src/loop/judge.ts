// The completion policy has a say about every result: of a call the loop ran, or one that the caller reported.
import { trim, truthy } from "../contracts/coerce.ts";
import * as message from "../contracts/conversation/message.ts";
import { emptyMap, isMap, type JsonMap, seal, snapshotMap } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import type { ToolDeclaration } from "../contracts/tools/declaration.ts";
import { declarationOf } from "./declared.ts";
import { failCallback } from "./failure.ts";
import type { Next } from "./next.ts";
import { settleRest } from "./settle-rest.ts";
import { added, keptEvent, type Step } from "./step.ts";
import { type Body, showTranscript } from "./working.ts";

/** Asks the completion policy about the call that was just settled. */
export function judgeCall(step: Step, arrived?: Outcome): Next | undefined {
  const { call, state, working } = step;
  if (!arrived) return ask(step, call.name, declarationOf(step, call.name), working.turnExecutions.at(-1) ?? emptyMap);
  if ("threw" in arrived) {
    settleRest(step);
    return failCallback(step, arrived.threw);
  }
  const answer = snapshotMap(arrived.returned);
  const complete = truthy(answer.complete);
  const text = typeof answer.message === "string" ? answer.message : "";
  const told = { tool_name: call.name, turn: state.turn, message: text, context: snapshotMap(answer.context) };
  const bodies: Body[] = [];
  if (complete && !state.complete) bodies.push(keptEvent("completion_policy_stop", told));
  if (!complete && !state.complete && trim(text) !== "") {
    bodies.push(...continueAnyway(step, { ...told, message: trim(text) }));
  }
  step.record({ type: "call.judged", complete }, "call.open", bodies);
}

function continueAnyway(step: Step, told: JsonMap & { message: string }): Body[] {
  const event = step.notifyAndKeep("completion_policy_continue", told);
  const metadata = seal({ type: "completion_policy_continue", completion_policy_context: seal(told) });
  return [event, added(message.text("user", told.message, metadata))];
}

/** Asks the completion policy about a result that the caller reported. Its first yes ends the run. */
export function judgeReported(step: Step, arrived?: Outcome): Next | undefined {
  const { state, working } = step;
  const { batch } = state;
  const result = working.turnExecutions[batch.next];
  if (!result) throw new Error(`There is no result ${batch.next} to judge.`);
  if (!arrived) return ask(step, String(result.tool_name), null, result);
  if ("threw" in arrived) return failCallback(step, arrived.threw);
  const complete = isMap(arrived.returned) && truthy(arrived.returned.complete);
  const isLast = batch.next + 1 >= batch.count;
  step.record({ type: "result.judged", complete }, complete || isLast ? "turn.verdict" : "caller.judge");
}

function ask(step: Step, tool_name: string, tool_declaration: ToolDeclaration | null, result: JsonMap): Next {
  const { context: turn_context, state, working } = step;
  const messages = showTranscript(working);
  const context = { tool_name, tool_declaration, result, turn_context, turn: state.turn, messages };
  return { kind: "consult", question: { hook: "completion", context } };
}
