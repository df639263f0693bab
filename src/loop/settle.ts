// What a call came to joins the transcript and is counted.
import * as canonicalJson from "../contracts/canonical-json.ts";
import * as budget from "../contracts/conversation/budget.ts";
import * as message from "../contracts/conversation/message.ts";
import { emptyMap, isEmpty, type JsonMap, seal, snapshotMap } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import * as audit from "../contracts/tools/audit.ts";
import { canonicalName } from "../contracts/tools/declaration.ts";
import * as identicalFailure from "../contracts/tools/identical-failure.ts";
import type { ToolResult } from "../contracts/tools/result.ts";
import * as toolResult from "../contracts/tools/result.ts";
import { surelyFits, truncate } from "../contracts/tools/truncation.ts";
import { notifyExceeded } from "./announce.ts";
import { resultMessage, salted, toolEvent } from "./call.ts";
import type { Decision } from "./decision.ts";
import { declarationOf, isRepeatable } from "./declared.ts";
import { meaningOf } from "./lifecycle.ts";
import type { Next } from "./next.ts";
import { added, keptEvent, type Step } from "./step.ts";
import { waitOutside } from "./wait.ts";
import { isWaiting } from "./waiting-result.ts";
import type { Body, OpenCall } from "./working.ts";

/** Settles the open call, unless its result says that somebody outside has to act first. */
export function settleCall(step: Step, arrived?: Outcome): Next | undefined {
  const { call, config } = step;
  const result = resultOf(call);
  if (isWaiting(result)) return waitOutside(step, result, arrived);
  if (config.asked.diagnostics && !arrived) {
    return { kind: "consult", question: { hook: "diagnostics", about: diagnosticsContext(step, call, result) } };
  }
  recordSettled(step, result, arrived && "returned" in arrived ? snapshotMap(arrived.returned) : emptyMap);
}

function resultOf(call: OpenCall): ToolResult {
  if (!call.result) throw new Error(`Call ${call.number} has no result to settle.`);
  return call.result;
}

function diagnosticsContext(step: Step, call: OpenCall, result: ToolResult) {
  return {
    tool_name: call.name,
    tool_call_id: call.id,
    turn: step.state.turn,
    turn_context: step.context,
    tool_declaration: declarationOf(step, call.name),
    result: limited(step, result).result,
    success: result.success,
    parameters_sha256: call.exposure.parameters_sha256,
  };
}

type Limited = { readonly result: ToolResult; readonly truncated: boolean; readonly metadata: JsonMap };

/** The result within the limit that was set, if one was. */
function limited({ call, config }: Step, result: ToolResult): Limited {
  const { truncateBytes } = config;
  if (truncateBytes === null || surelyFits(result, truncateBytes)) return whole(result);
  return unlessTooLarge(call, () => truncate(result, truncateBytes));
}

function whole(result: ToolResult): Limited {
  return { result, truncated: false, metadata: emptyMap };
}

/** A result can be longer than a text can be. The tool ran; the model is told that its answer is lost, not that nothing happened. */
function unlessTooLarge<Written extends Limited>({ name }: OpenCall, write: () => Written): Written | Limited {
  try {
    return write();
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    const error = "The tool ran, but its result is too large to be written down.";
    return whole(toolResult.failure(name, error, { error_type: "result_too_large" }));
  }
}

/** Settles the open call of a run that is about to stop: nothing is asked, and nothing is counted any more. */
export function settleStopped(step: Step, result: ToolResult): void {
  recordSettled(step, result, emptyMap, { counts: false });
}

/** Gives the open call its one result, and counts it against guards and budgets. */
function recordSettled(step: Step, original: ToolResult, diagnostics: JsonMap, { counts = true } = {}): void {
  const { call, config, state } = step;
  const about = { turn: state.turn, tool_name: call.name, tool_call_id: call.id };
  const bodies: Body[] = [];
  const { result, truncated, metadata, content } = written(step, original);
  if (truncated) {
    step.notify("tool_result_truncated", { ...metadata, ...about, original_result: original });
    bodies.push(keptEvent("tool_result_truncated", { ...metadata, ...about }));
  }
  step.notify("tool_result", { ...about, success: result.success });
  if (!isEmpty(diagnostics)) bodies.push(step.notifyAndKeep("tool_result_diagnostics", { ...about, ...diagnostics }));
  bodies.push(...resultBodies(step, result, content, diagnostics));
  const nudged = counts ? nudge(step, result) : { bodies: [] };
  bodies.push(...nudged.bodies);
  const spent = counts ? spendCall(step) : {};
  const completes = endsBatch(call.decision);
  const goesOn = spent.exceeded === undefined && !completes;
  step.record(
    {
      type: "call.settled",
      call: call.number,
      success: result.success,
      ...(nudged.failures && { failures: nudged.failures }),
      ...spent,
      ...(completes && { completes }),
      ...(counts && meaningOf(step, result)),
    },
    counts && goesOn && config.asked.completion ? "call.judge" : "call.open",
    bodies,
  );
}

/** A call that waits ends its batch by waiting; once its result is there, the batch goes on. */
function endsBatch(decision: Decision): boolean {
  return (decision.action === "reject" || decision.action === "replace_result") && decision.complete;
}

/** The result within its limit, and the text of it that goes into the transcript. */
function written(step: Step, original: ToolResult): Limited & { readonly content: string } {
  const settled = limited(step, original);
  const fitting = unlessTooLarge(step.call, () => ({ ...settled, content: contentOf(step, settled.result) }));
  return "content" in fitting ? fitting : { ...fitting, content: contentOf(step, fitting.result) };
}

/** What a side is told in words it is shown as words. */
function contentOf(step: Step, result: ToolResult): string {
  const { edited, exposure } = step.call;
  const words = resultText(step, result);
  if (!edited) return words;
  return `Whoever approved this call had it run with ${canonicalJson.text(exposure.parameters)} instead.\n${words}`;
}

function resultText({ config }: Step, result: ToolResult): string {
  if (!result.success) return result.error;
  if (config.sides === null && config.frame === null) return canonicalJson.text(result.result);
  return typeof result.result === "string" ? result.result : (JSON.stringify(result.result) ?? "");
}

function resultBodies(step: Step, result: ToolResult, content: string, diagnostics: JsonMap): Body[] {
  const { call, state } = step;
  const { exposure, id, name } = call;
  const { turn } = state;
  const rejected = call.decision.action === "reject";
  const execution = seal({
    tool_name: name,
    tool_call_id: id,
    result,
    parameters: call.parameters,
    parameters_sha256: exposure.parameters_sha256,
    parameters_redacted: true,
    turn_count: turn,
    ...(result.runtime && { runtime: result.runtime }),
    ...(!isEmpty(diagnostics) && { diagnostics }),
  });
  const declaration = declarationOf(step, name);
  const status = result.success ? "success" : "error";
  return [
    toolEvent("tool_result", call, turn, { status, success: result.success, rejected }),
    { to: "execution", value: execution },
    { to: "audit", value: audit.event({ tool_name: name, tool_call_id: id, exposure, result, declaration, turn }) },
    added(resultMessage(step, content, result)),
  ];
}

/** Tells the model when it keeps failing in the same way. */
function nudge(step: Step, result: ToolResult): { bodies: Body[]; failures?: identicalFailure.FailureState } {
  const { call, config, state } = step;
  if (result.success || config.failureThreshold === null || isRepeatable(step, call.name)) return { bodies: [] };
  const signature = identicalFailure.signature(
    canonicalName(call.name, config.tools),
    salted(config, call.parameters),
    result,
  );
  const counted = identicalFailure.record(state.failures ?? undefined, signature, config.failureThreshold);
  if (!counted.nudge) return { bodies: [], failures: counted.state };
  const told = step.notify("identical_failure_nudged", { ...counted.nudge, turn: state.turn });
  const metadata = seal({ type: "identical_failure_nudge", identical_failure_signature: told });
  return { bodies: [added(message.text("assistant", counted.nudge.message, metadata))], failures: counted.state };
}

/** The budget of the tool alone, under the name that the model used or, if there is none, under its own. */
function ownBudget({ call, config, state }: Step): string {
  const given = `tool_calls_${call.name}`;
  return Object.hasOwn(state.budgets, given) ? given : `tool_calls_${canonicalName(call.name, config.tools)}`;
}

/** Counts the call against the run's budget, and against its tool's own when the first still holds. */
function spendCall(step: Step): { budgets?: Record<string, number>; exceeded?: string } {
  if (!step.config.countsCalls) return {};
  const budgets: Record<string, number> = {};
  for (const name of ["tool_calls", ownBudget(step)]) {
    const counted = Object.hasOwn(step.state.budgets, name) ? step.state.budgets[name] : undefined;
    if (!counted) continue;
    const spent = budget.increment(counted);
    budgets[name] = spent.current;
    if (!budget.isExceeded(spent)) continue;
    notifyExceeded(step, spent);
    return { budgets, exceeded: name };
  }
  return { budgets };
}
