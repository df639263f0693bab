// A prompt that is used as a tool: it is asked once, on the same thread, and its words and calls are what the call came
// to. Meanwhile the call waits in a frame; what is said within it nobody outside is shown.
import * as message from "../contracts/conversation/message.ts";
import { errorMessage } from "../contracts/error.ts";
import { isMap } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { subPromptResult } from "../contracts/standard/sub-prompt-result.ts";
import * as toolResult from "../contracts/tools/result.ts";
import { returnResult } from "./call.ts";
import type { Next } from "./next.ts";
import { settleStopped } from "./settle.ts";
import { settleRest } from "./settle-rest.ts";
import type { Step } from "./step.ts";

/** True when the open call stands for a prompt. */
export function isPrompt({ call, config }: Step): boolean {
  return call.prepared.ready && config.prompts.includes(call.prepared.tool_def.name);
}

/** Begins to speak for the open call, once whoever knows the prompt has made it ready. */
export function enterFrame(step: Step, arrived?: Outcome): Next | undefined {
  const { call } = step;
  if (!call.prepared.ready) throw new Error(`Call ${call.number} is not ready to run.`);
  if (!arrived) return { kind: "consult", question: { hook: "frame", call: call.prepared.tool_call } };
  const answer = "returned" in arrived && isMap(arrived.returned) ? arrived.returned : {};
  if (answer.ok !== true) {
    const error = "threw" in arrived ? errorMessage(arrived.threw) : String(answer.error);
    return returnResult(step, toolResult.failure(call.name, error, { error_type: "invalid_parameters" }));
  }
  const messages = message.normalizeMany(answer.messages);
  const at = step.working.transcript.findLastIndex(
    ({ type, metadata }) => type === "tool_call" && metadata.tool_call_id === call.id,
  );
  const pushed = { call: call.number, prompt: String(answer.prompt), at, messages: messages.length };
  step.record({ type: "frame.pushed", ...pushed }, "turn.recast", [{ to: "frame", messages, at }]);
}

/** The prompt acts from now on: with its own tools, once those of its caller are put away. */
export function beginFrame(step: Step, arrived?: Outcome): Next | undefined {
  if (!arrived) return { kind: "consult", question: { hook: "cast" } };
  step.record({ type: "consulted", hook: "cast" }, step.config.asked.visibility ? "turn.tools" : "turn.compact");
}

/** The prompt has spoken, and what it called has its results: that is what the call came to. */
export function endFrame(step: Step): undefined {
  const { config, working } = step;
  const { failure, blocked, content } = working.answer.result;
  const name = working.outer.at(-1)?.call?.name ?? "";
  if (isMap(failure))
    return leave(step, toolResult.failure(name, String(failure.message), { error_type: "model_failed" }));
  if (blocked === true) return leave(step, toolResult.failure(name, String(content), { error_type: "hook_blocked" }));
  if (!config.frame) throw new Error("Nobody has said how the prompt gives its result.");
  const { success, text, attachments } = subPromptResult(working.transcript, config.frame);
  const metadata = attachments.length > 0 ? { metadata: { attachments } } : {};
  const given = success ? { success, result: text } : { success, error: text };
  return leave(step, toolResult.normalize({ ...given, ...metadata, tool_name: name }));
}

function leave(step: Step, result: toolResult.ToolResult): undefined {
  const frame = step.state.frames.at(-1);
  if (!frame) throw new Error("No prompt is speaking for a call.");
  step.record({ type: "frame.popped", call: frame.call }, "call.recast", [{ to: "outer", result }]);
}

/** The side whose call it was acts again. */
export function leaveFrame(step: Step, arrived?: Outcome): Next | undefined {
  if (!arrived) return { kind: "consult", question: { hook: "cast" } };
  step.record({ type: "call.returned", call: step.call.number }, "call.settle");
}

/** The run ends: every call that waits for a prompt gets its one result. */
export function closeFrames(step: Step): void {
  while (step.state.frames.length > 0) {
    const name = step.working.outer.at(-1)?.call?.name ?? "";
    leave(step, toolResult.failure(name, "Stopped before the prompt was done.", { error_type: "cancelled" }));
    const { result } = step.call;
    if (result) settleStopped(step, result);
    settleRest(step);
  }
}
