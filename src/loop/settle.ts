// What a call came to: a result that joins the transcript, or somebody outside who has to be waited for.
import * as canonicalJson from "../contracts/canonical-json.ts";
import { trim } from "../contracts/coerce.ts";
import * as budget from "../contracts/conversation/budget.ts";
import * as message from "../contracts/conversation/message.ts";
import { errorMessage } from "../contracts/error.ts";
import { emptyMap, isEmpty, isMap, type JsonMap, seal, snapshotMap } from "../contracts/json.ts";
import * as audit from "../contracts/tools/audit.ts";
import * as identicalFailure from "../contracts/tools/identical-failure.ts";
import type { ToolResult } from "../contracts/tools/result.ts";
import * as toolResult from "../contracts/tools/result.ts";
import * as runtimeTool from "../contracts/tools/runtime-tool.ts";
import { truncate } from "../contracts/tools/truncation.ts";
import { declarationOf, returnResult, toolEvent } from "./call.ts";
import { failCallback } from "./failure.ts";
import type { Next, Outcome } from "./next.ts";
import { added, keptEvent, type Step } from "./step.ts";
import { notifyExceeded } from "./turn.ts";
import type { Body, OpenCall } from "./working.ts";

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

function isPending(result: ToolResult): boolean {
  return result.status === PENDING || result.metadata.status === PENDING;
}

function approvalOf({ result }: ToolResult): JsonMap | undefined {
  return isMap(result) && result.type === "approval_required" ? (result as JsonMap) : undefined;
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
  const told = { turn: state.turn, tool_name: call.name, tool_call_id: call.id, request_id };
  step.notify(PENDING, told);
  const parks = config.rules.waiting === "park";
  step.record(
    { type: "call.waiting", call: call.number, request_id, as: "pending" },
    parks ? "call.parked" : "call.open",
    [
      ...(parks ? [] : [added(waitingMessage(call, request))]),
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

function waitingMessage(call: OpenCall, request: runtimeTool.RuntimeToolRequest): message.Message {
  const payload = seal({ success: false, status: PENDING, result: request, tool_name: call.name });
  return resultMessage(call, canonicalJson.text(request), payload);
}

/** A call that a person has to approve. The envelope stands in the transcript in place of a result. */
function waitForApproval(step: Step, call: OpenCall, approval: JsonMap): undefined {
  const { state, config } = step;
  const action_id = isMap(approval.payload) ? (approval.payload.action_id ?? null) : null;
  const told = { turn: state.turn, tool_name: call.name, tool_call_id: call.id, action_id: action_id as string | null };
  step.notify("approval_required", told);
  step.record(
    { type: "call.waiting", call: call.number, request_id: String(action_id ?? call.id), as: "approval" },
    config.rules.waiting === "park" ? "call.parked" : "call.open",
    [added(message.normalize(approval)), { to: "stop", value: { approval } }],
  );
}

/** Waits until the result of the parked call is brought. */
export function parkCall(step: Step, arrived?: Outcome): Next | undefined {
  const { call, state } = step;
  if (arrived) {
    const returned = "threw" in arrived ? { error: errorMessage(arrived.threw) } : snapshotMap(arrived.returned);
    return returnResult(step, toolResult.normalize({ tool_name: call.name, ...returned }));
  }
  const { pending } = state.stops;
  return { kind: "park", call: call.number, request_id: pending?.request_id ?? call.id };
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
  if (config.truncateBytes === null) return { result, truncated: false, metadata: emptyMap };
  return truncate(result, config.truncateBytes);
}

/** Gives the open call its one result and counts it. Nothing is asked any more, so a stop can settle through here too. */
export function recordSettled(step: Step, original: ToolResult, diagnostics: JsonMap): void {
  const { call, config, state } = step;
  const { turn } = state;
  const about = { turn, tool_name: call.name, tool_call_id: call.id };
  const bodies: Body[] = [];
  const { result, truncated, metadata } = limited(step, original);
  if (truncated) {
    step.notify("tool_result_truncated", { ...metadata, ...about, original_result: original });
    bodies.push(keptEvent("tool_result_truncated", { ...metadata, ...about }));
  }
  step.notify("tool_result", { ...about, success: result.success });
  if (!isEmpty(diagnostics)) bodies.push(step.notifyAndKeep("tool_result_diagnostics", { ...about, ...diagnostics }));
  bodies.push(...resultBodies(step, result, diagnostics));
  const nudged = nudge(step, result);
  bodies.push(...nudged.bodies);
  const spent = spendCall(step);
  const { decision } = call;
  const completes = decision.action !== "proceed" && decision.complete;
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

function resultBodies(step: Step, result: ToolResult, diagnostics: JsonMap): Body[] {
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
  const content = result.success ? canonicalJson.text(result.result) : result.error;
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
      messages: working.transcript.slice(),
    };
    return { kind: "consult", question: { hook: "completion", context } };
  }
  if ("threw" in arrived) return failCallback(step, arrived.threw);
  const answer = snapshotMap(arrived.returned);
  const complete = Boolean(answer.complete);
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
