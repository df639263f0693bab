// What a call came to: a result that joins the transcript, or somebody outside who has to be waited for.
import * as canonicalJson from "../contracts/canonical-json.ts";
import { trim, truthy } from "../contracts/coerce.ts";
import * as budget from "../contracts/conversation/budget.ts";
import * as message from "../contracts/conversation/message.ts";
import { errorMessage } from "../contracts/error.ts";
import { emptyMap, isEmpty, isMap, type JsonMap, seal, snapshotMap } from "../contracts/json.ts";
import * as audit from "../contracts/tools/audit.ts";
import { redact } from "../contracts/tools/exposure.ts";
import * as identicalFailure from "../contracts/tools/identical-failure.ts";
import type { ToolResult } from "../contracts/tools/result.ts";
import * as toolResult from "../contracts/tools/result.ts";
import * as runtimeTool from "../contracts/tools/runtime-tool.ts";
import { surelyFits, truncate } from "../contracts/tools/truncation.ts";
import { declarationOf, returnResult, toolEvent } from "./call.ts";
import type { Decision } from "./decision.ts";
import { failCallback } from "./failure.ts";
import type { Next, Outcome } from "./next.ts";
import { added, keptEvent, type Step } from "./step.ts";
import { notifyExceeded } from "./turn.ts";
import { type Body, type OpenCall, showTranscript } from "./working.ts";

const PENDING = "runtime_tool_pending";

/** Settles the open call, unless its result says that somebody outside has to act first. */
export function settleCall(step: Step, arrived?: Outcome): Next | undefined {
  const { call, config } = step;
  const result = resultOf(call);
  if (isPending(result)) return waitForRuntime(step, call, result, arrived);
  const approval = approvalOf(result);
  if (approval) return waitForApproval(step, call, approval);
  if (config.asked.diagnostics && !arrived) {
    return { kind: "consult", question: { hook: "diagnostics", about: diagnosticsContext(step, call, result) } };
  }
  recordSettled(step, result, arrived && "returned" in arrived ? snapshotMap(arrived.returned) : emptyMap);
}

function resultOf(call: OpenCall): ToolResult {
  if (!call.result) throw new Error(`Call ${call.number} has no result to settle.`);
  return call.result;
}

/** True when the result only says that somebody outside has to act. */
export function isWaiting(result: ToolResult): boolean {
  return isPending(result) || approvalOf(result) !== undefined;
}

function isPending(result: ToolResult): boolean {
  return result.status === PENDING || result.metadata.status === PENDING;
}

/** What an executor returned to ask for approval, and the message it makes. */
type Approval = { readonly envelope: JsonMap; readonly asked: message.Message };

function approvalOf({ result }: ToolResult): Approval | undefined {
  if (!isMap(result) || result.type !== "approval_required") return undefined;
  try {
    const asked = message.normalize({ schema: message.SCHEMA, version: 1, ...result });
    return { envelope: result as JsonMap, asked };
  } catch {
    // Not an envelope after all: the tool ran, so its answer is kept as the plain result it is.
    return undefined;
  }
}

/** A call that an external runtime answers: its request is stored, and the run ends or parks with it. */
function waitForRuntime(step: Step, call: OpenCall, result: ToolResult, arrived?: Outcome): Next | undefined {
  const { config, state, context } = step;
  let request: runtimeTool.RuntimeToolRequest;
  try {
    request = pendingRequest(call, result, context, state.turn);
    if (config.storesRequests && !arrived) {
      const order = { kind: "store_request", request, context } as const;
      return step.begin({ kind: "store_request", call: call.number }, order, "call.settle");
    }
    if (arrived && "threw" in arrived) throw arrived.threw;
  } catch (thrown) {
    // Nobody could ever answer a request that is not stored, so the model gets an error instead of a wait.
    return returnResult(step, requestFailed(call, thrown));
  }
  const { request_id } = request;
  step.notify(PENDING, { turn: state.turn, tool_name: call.name, tool_call_id: call.id, request_id });
  const parks = config.rules.waiting === "park";
  step.record(
    { type: "call.waiting", call: call.number, request_id, as: "pending", parks },
    parks ? "call.parked" : "call.open",
    [
      // A parked call gets its one result when somebody brings it.
      ...(parks ? [] : [added(waitingMessage(step, request))]),
      toolEvent(PENDING, call, state.turn, { status: PENDING, request_id }),
      { to: "stop", value: { pending: request } },
    ],
  );
}

function pendingRequest(call: OpenCall, result: ToolResult, context: JsonMap, turn: number) {
  const given = isMap(result.runtime_tool_request) ? result.runtime_tool_request : result.result;
  const request = runtimeTool.request({
    tool_name: call.name,
    tool_call_id: call.id,
    parameters: call.parameters,
    run_id: context.run_id,
    timeout_at: context.runtime_tool_timeout_at,
    runtime: result.runtime,
    metadata: result.metadata,
    ...snapshotMap(given),
  });
  return runtimeTool.request({ ...request, metadata: { ...request.metadata, turn_count: turn } });
}

function requestFailed(call: OpenCall, thrown: unknown): ToolResult {
  const error = `The request could not be handed over: ${errorMessage(thrown)}`;
  return toolResult.failure(call.name, error, { error_type: "runtime_tool_request_failed" });
}

/** The request as the transcript shows it: whoever runs the tool gets the secrets from the request itself. */
function waitingMessage(step: Step, request: runtimeTool.RuntimeToolRequest): message.Message {
  const { call } = step;
  const asked = canonicalJson.sortedText(request.parameters);
  const isOwn = asked === canonicalJson.sortedText(call.parameters);
  const parameters = isOwn ? call.exposure.parameters : redact(request.parameters, declarationOf(step, call.name));
  const shown = canonicalJson.sortedText(parameters) === asked ? request : seal({ ...request, parameters });
  const payload = seal({ success: false, status: PENDING, result: shown, tool_name: call.name });
  return resultMessage(call, canonicalJson.text(shown), payload);
}

/** A call that a person has to approve. The envelope stands in the transcript in place of a result. */
function waitForApproval(step: Step, call: OpenCall, { envelope, asked }: Approval): undefined {
  const { state, config } = step;
  const action_id =
    isMap(envelope.payload) && typeof envelope.payload.action_id === "string" ? envelope.payload.action_id : null;
  step.notify("approval_required", { turn: state.turn, tool_name: call.name, tool_call_id: call.id, action_id });
  const parks = config.rules.waiting === "park";
  step.record(
    { type: "call.waiting", call: call.number, request_id: action_id ?? call.id, as: "approval", parks },
    parks ? "call.parked" : "call.open",
    [added(asked), { to: "stop", value: { approval: envelope } }],
  );
}

/** Waits until the result of the parked call is brought. */
export function parkCall(step: Step, arrived?: Outcome): Next | undefined {
  const { call, state } = step;
  if (arrived) return returnResult(step, broughtResult(call, arrived));
  return { kind: "park", call: call.number, request_id: state.waiting?.request_id ?? call.id };
}

/** What was brought, as a result of this call; something that cannot be one is an error the model gets to see. */
function broughtResult({ name }: OpenCall, arrived: Outcome): ToolResult {
  if ("threw" in arrived)
    return toolResult.failure(name, errorMessage(arrived.threw), { error_type: "runtime_tool_failed" });
  const { success = true, ...brought } = snapshotMap(arrived.returned);
  return toolResult.normalize({ ...brought, success, tool_name: name });
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

function limited({ config }: Step, result: ToolResult) {
  const { truncateBytes } = config;
  if (truncateBytes === null || surelyFits(result, truncateBytes))
    return { result, truncated: false, metadata: emptyMap };
  return truncate(result, truncateBytes);
}

/** Gives the open call its one result and counts it. Nothing is asked any more, so a stop can settle through here too. */
export function recordSettled(step: Step, original: ToolResult, diagnostics: JsonMap): void {
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
  const nudged = nudge(step, result);
  bodies.push(...nudged.bodies);
  const spent = spendCall(step);
  const completes = endsBatch(call.decision);
  const goesOn = spent.exceeded === undefined && !completes;
  step.record(
    {
      type: "call.settled",
      call: call.number,
      success: result.success,
      ...(nudged.failures && { failures: nudged.failures }),
      ...spent,
      completes,
    },
    goesOn && config.asked.completion ? "call.judge" : "call.open",
    bodies,
  );
}

/** A call that waits ends its batch by waiting; once its result is there, the batch goes on. */
function endsBatch(decision: Decision): boolean {
  return (decision.action === "reject" || decision.action === "replace_result") && decision.complete;
}

/** The result within its limit, and the text of it that goes into the transcript. */
function written(step: Step, original: ToolResult) {
  try {
    const settled = limited(step, original);
    return { ...settled, content: contentOf(settled.result) };
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    // Longer than a text can be. The tool ran; the model is told that its answer is lost, not that nothing happened.
    const error = "The tool ran, but its result is too large to be written down.";
    const result = toolResult.failure(step.call.name, error, { error_type: "result_too_large" });
    return { result, truncated: false, metadata: emptyMap, content: contentOf(result) };
  }
}

function contentOf(result: ToolResult): string {
  return result.success ? canonicalJson.text(result.result) : result.error;
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
    added(resultMessage(call, content, result)),
  ];
}

function resultMessage({ id, name }: OpenCall, content: string, payload: JsonMap): message.Message {
  return message.toolResult({ content, tool_name: name, payload, metadata: seal({ tool_call_id: id }) });
}

/** Tells the model when it keeps failing in the same way. */
function nudge(step: Step, result: ToolResult) {
  const { call, config, state } = step;
  if (result.success || config.failureThreshold === null) return { bodies: [] };
  const signature = identicalFailure.signature(call.name, call.parameters, result);
  const counted = identicalFailure.record(state.failures ?? undefined, signature, config.failureThreshold);
  if (!counted.nudge) return { bodies: [], failures: counted.state };
  const told = step.notify("identical_failure_nudged", { ...counted.nudge, turn: state.turn });
  const metadata = seal({ type: "identical_failure_nudge", identical_failure_signature: told });
  return { bodies: [added(message.text("assistant", counted.nudge.message, metadata))], failures: counted.state };
}

/** Counts the call against the run's budget, and against its tool's own when the first still holds. */
function spendCall(step: Step): { budgets: Record<string, number>; exceeded?: string } {
  const budgets: Record<string, number> = {};
  for (const name of ["tool_calls", `tool_calls_${step.call.name}`]) {
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

/** Asks the completion policy about the call that was just settled. */
export function judgeCall(step: Step, arrived?: Outcome): Next | undefined {
  const { call, state, working } = step;
  if (!arrived) {
    const context = {
      tool_name: call.name,
      tool_declaration: declarationOf(step, call.name),
      result: working.turnExecutions.at(-1) ?? emptyMap,
      turn_context: step.context,
      turn: state.turn,
      messages: showTranscript(working),
    };
    return { kind: "consult", question: { hook: "completion", context } };
  }
  if ("threw" in arrived) return failCallback(step, arrived.threw);
  const answer = snapshotMap(arrived.returned);
  const complete = truthy(answer.complete);
  const text = typeof answer.message === "string" ? answer.message : "";
  const told = { tool_name: call.name, turn: state.turn, message: text, context: snapshotMap(answer.context) };
  const bodies: Body[] = [];
  if (complete && !state.complete) bodies.push(keptEvent("completion_policy_stop", told));
  if (!complete && !state.complete && trim(text) !== "")
    bodies.push(...continueAnyway(step, { ...told, message: trim(text) }));
  step.record({ type: "call.judged", complete }, "call.open", bodies);
}

function continueAnyway(step: Step, told: JsonMap & { message: string }): Body[] {
  const event = step.notifyAndKeep("completion_policy_continue", told);
  const metadata = seal({ type: "completion_policy_continue", completion_policy_context: seal(told) });
  return [event, added(message.text("user", told.message, metadata))];
}
