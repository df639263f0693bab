// A call whose result somebody outside has to bring: a client that runs the tool, or a person who approves it.
import * as canonicalJson from "../contracts/canonical-json.ts";
import { trimmed } from "../contracts/coerce.ts";
import type * as message from "../contracts/conversation/message.ts";
import { errorMessage } from "../contracts/error.ts";
import { emptyMap, isMap, type JsonMap, seal, snapshot, snapshotMap } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { redact } from "../contracts/tools/exposure.ts";
import type { ToolResult } from "../contracts/tools/result.ts";
import * as toolResult from "../contracts/tools/result.ts";
import * as runtimeTool from "../contracts/tools/runtime-tool.ts";
import { REDACTED } from "../contracts/tools/sensitive-keys.ts";
import { resultMessage, returnResult, toolEvent } from "./call.ts";
import { hidingDeclarationOf } from "./declared.ts";
import { nameOfWait } from "./name-of-wait.ts";
import type { Next } from "./next.ts";
import { added, type Step } from "./step.ts";
import { type Approval, approvalOf, isPending, PENDING } from "./waiting-result.ts";
import type { OpenCall } from "./working.ts";

/** Waits for whoever has to act; when waiting is not possible, the call gets an error as its result. */
export function waitOutside(step: Step, result: ToolResult, arrived?: Outcome): Next | undefined {
  const approval = isPending(result) ? undefined : approvalOf(result);
  return approval ? waitForApproval(step, withoutSecrets(approval)) : waitForRuntime(step, step.call, result, arrived);
}

/** The request without what applying it takes: the transcript shows it to the model, who has no use for it. */
function withoutSecrets({ envelope, asked }: Approval): Approval {
  if (asked.payload.apply_input == null) return { envelope, asked };
  return { envelope, asked: seal({ ...asked, payload: seal({ ...asked.payload, apply_input: REDACTED }) }) };
}

/** A call that an external runtime answers: its request is stored, and the run ends or parks with it. */
function waitForRuntime(step: Step, call: OpenCall, result: ToolResult, arrived?: Outcome): Next | undefined {
  const { config, state, context } = step;
  let request: runtimeTool.RuntimeToolRequest;
  try {
    request = pendingRequest(step, call, result);
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
    {
      type: "call.waiting",
      call: call.number,
      request_id: short(request_id),
      as: "pending",
      parks,
      ...(isOfChild(result) && { child: true }),
    },
    parks ? "call.parked" : "call.open",
    [
      // A parked call gets its one result when somebody brings it.
      ...(parks ? [] : [added(waitingMessage(step, request))]),
      toolEvent(PENDING, call, state.turn, { status: PENDING, request_id }),
      { to: "stop", value: { pending: request } },
    ],
  );
}

/** True when another thread brings the result. */
function isOfChild({ metadata }: ToolResult): boolean {
  return isMap(metadata) && metadata.waits_for === "child";
}

function pendingRequest(step: Step, call: OpenCall, result: ToolResult) {
  const { context, state, config } = step;
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
    ...approvedParts(call),
  });
  const request_id = config.rules.waiting === "park" ? nameOfWait(state.key, call.number) : request.request_id;
  return runtimeTool.request({ ...request, request_id, metadata: { ...request.metadata, turn_count: state.turn } });
}

/** What a person has agreed to is what another runtime gets, whoever wrote the request. */
function approvedParts({ approved, prepared }: OpenCall): JsonMap {
  if (!approved || !prepared.ready) return emptyMap;
  const { tool_name, parameters } = prepared.tool_call;
  return { tool_name, parameters };
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
  const parameters = isOwn
    ? call.exposure.parameters
    : redact(request.parameters, hidingDeclarationOf(step, call.name));
  const shown = canonicalJson.sortedText(parameters) === asked ? request : seal({ ...request, parameters });
  const payload = seal({ success: false, status: PENDING, result: shown, tool_name: call.name });
  return resultMessage(step, canonicalJson.text(shown), payload);
}

/** A call that a person has to approve. The envelope stands in the transcript in place of a result. */
export function waitForApproval(step: Step, { envelope, asked }: Approval): undefined {
  const { call, config, state } = step;
  const action_id =
    isMap(envelope.payload) && typeof envelope.payload.action_id === "string" ? envelope.payload.action_id : null;
  step.notify("approval_required", { turn: state.turn, tool_name: call.name, tool_call_id: call.id, action_id });
  const parks = config.rules.waiting === "park";
  // What the loop proposes is named after the call already; a tool may name what it proposes as it likes.
  const request_id = parks && call.result ? nameOfWait(state.key, call.number) : short(action_id ?? call.id);
  step.record(
    { type: "call.waiting", call: call.number, request_id, as: "approval", parks },
    parks ? "call.parked" : "call.open",
    [added(asked), { to: "stop", value: { approval: envelope } }],
  );
}

/** A name for the log and the state, which stay small whatever somebody calls his request. */
function short(id: string): string {
  return id.length <= LONGEST_ID ? id : `sha256:${canonicalJson.sha256(id)}`;
}

const LONGEST_ID = 200;

/** A parked call's result, as whoever was asked for it brings it. */
export function takeResult(step: Step, arrived: Outcome): undefined {
  const isApproval = step.state.waiting?.as === "approval";
  return returnResult(step, isApproval ? appliedResult(step.call, arrived) : broughtResult(step.call, arrived));
}

/** What was brought, as a result of this call; something that cannot be one is an error the model gets to see. */
function broughtResult({ name }: OpenCall, arrived: Outcome): ToolResult {
  if ("threw" in arrived) return notBrought(name, errorMessage(arrived.threw));
  const brought = snapshot(arrived.returned);
  const { success = true, ...fields } = isResult(brought) ? brought : { result: brought };
  return toolResult.normalize({ ...fields, success, tool_name: name });
}

/** What came of an action that the tool itself had proposed: whoever accepted it has applied it, and brings the result. */
function appliedResult(call: OpenCall, arrived: Outcome): ToolResult {
  const brought = "returned" in arrived ? snapshotMap(arrived.returned) : emptyMap;
  const { decision, reason, ...applied } = brought;
  if (decision !== undefined && decision !== "accepted") return rejectedByPerson(call.name, reason);
  if (decision === undefined || "threw" in arrived) return broughtResult(call, arrived);
  if (!isResult(applied)) return notBrought(call.name, "It was accepted, but nobody brought what came of it.");
  return broughtResult(call, { returned: applied });
}

function isResult(value: unknown): value is JsonMap {
  return isMap(value) && ["success", "result", "error"].some((field) => Object.hasOwn(value, field));
}

function notBrought(name: string, error: string): ToolResult {
  return toolResult.failure(name, error, { error_type: "runtime_tool_failed" });
}

/** The result of a call that a person was asked about and did not accept. */
export function rejectedByPerson(name: string, reason: unknown): ToolResult {
  return toolResult.failure(name, trimmed(reason) ?? "The action was rejected.", { error_type: "approval_rejected" });
}
