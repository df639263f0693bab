// One tool call on its way to a result: opened, decided about, run.
import { trimmed } from "../contracts/coerce.ts";
import * as message from "../contracts/conversation/message.ts";
import { isMap, type JsonMap, seal, snapshotMap } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import type { ActionPolicy } from "../contracts/tools/action-policy.ts";
import * as actionPolicy from "../contracts/tools/action-policy.ts";
import * as callGate from "../contracts/tools/call-gate.ts";
import type { Prepared } from "../contracts/tools/execution.ts";
import * as execution from "../contracts/tools/execution.ts";
import * as exposure from "../contracts/tools/exposure.ts";
import type { ToolResult } from "../contracts/tools/result.ts";
import * as toolResult from "../contracts/tools/result.ts";
import * as spin from "../contracts/tools/spin.ts";
import { isThenable } from "../contracts/when-ready.ts";
import * as decision from "./decision.ts";
import { endBatch } from "./end-batch.ts";
import type { MediationContext, Next } from "./next.ts";
import type { Position } from "./records.ts";
import { added, type Step } from "./step.ts";
import { anyDeclarationOf, declarationOf, policyContext } from "./visible-tools.ts";
import { type Body, type Config, type OpenCall, showExecutions, showTranscript } from "./working.ts";

/** Takes the next call of the batch, or ends the batch when there is none or it was halted. */
export function openCall(step: Step, arrived?: Outcome): Next | undefined {
  const { batch } = step.state;
  if (batch.halted || batch.next >= batch.count) return endBatch(step);
  const raw = readCall(step);
  if (!raw) {
    step.record({ type: "call.skipped" }, "call.open");
    return;
  }
  const { name, parameters, context } = raw;
  const declaration = anyDeclarationOf(step, name);
  if (!step.config.asked.auditFilter) return recordOpened(step, raw, exposure.expose(parameters, declaration));
  if (!arrived) {
    const redacted = exposure.redact(parameters, declaration);
    const about = { raw: parameters, tool_name: name, declaration, context };
    return { kind: "consult", question: { hook: "audit_parameters", redacted, ...about } };
  }
  const isReplaced = "returned" in arrived && isMap(arrived.returned);
  const shown = isReplaced ? snapshotMap(arrived.returned) : exposure.redact(parameters, declaration);
  return recordOpened(step, raw, exposure.exposeShown(shown));
}

type RawCall = Pick<OpenCall, "id" | "name" | "raw" | "parameters"> & { readonly context: JsonMap };

function readCall(step: Step): RawCall | undefined {
  const { state, working } = step;
  const calls = working.answer.result.tool_calls;
  const raw = Array.isArray(calls) ? calls[state.batch.next] : undefined;
  if (!isMap(raw)) return undefined;
  const name = raw.name ?? raw.tool_name;
  if (typeof name !== "string" || name === "") return undefined;
  const id = trimmed(raw.id) ?? trimmed(raw.tool_call_id) ?? `tool-call-${state.turn}-${state.batch.next + 1}`;
  const context = toolContext(step, id);
  return { id, name, raw: raw as JsonMap, parameters: snapshotMap(raw.parameters), context };
}

/** What a tool is told of the run it belongs to. */
function toolContext({ context }: Step, tool_call_id: string): JsonMap {
  return seal({ ...context, tool_call_id });
}

function recordOpened(
  step: Step,
  { id, name, raw, parameters, context }: RawCall,
  exposed: exposure.Exposure,
): undefined {
  const { config, state, working } = step;
  const prepared = execution.prepare(name, parameters, working.tools, context);
  const verdict = callGate.judgeCall(config.callRules, state.tallies, name);
  const opened = {
    ...{ number: state.calls, id, name, raw, parameters, prepared, exposure: exposed },
    ...({ policy: "direct", result: null } as const),
    decision: verdict.allowed ? decision.proceed : decision.gateRejection(verdict, name),
  };
  const { to, call } = afterDecision(step, underPolicy(step, opened), "open");
  const { turn } = state;
  step.notify("tool_call", { turn, tool_name: name, tool_call_id: id, ...exposed });
  step.record(
    {
      type: "call.opened",
      call: state.calls,
      ...spinning(step, name, parameters, exposed),
    },
    to,
    [
      { to: "call", value: call },
      added(callMessage(call, turn)),
      toolEvent("tool_call", call, turn, { status: "called", ...exposed }),
    ],
  );
}

/** Counts the call for the spin detector. Once it has fired, the run is going to stop and nothing more is counted. */
function spinning({ config, state }: Step, name: string, parameters: JsonMap, exposed: exposure.Exposure) {
  if (config.spinThreshold === null || state.stops.stalled) return {};
  const knownHash = isUnchanged(exposed.parameters, parameters) ? exposed.parameters_sha256 : undefined;
  const call = spin.identity(name, parameters, knownHash);
  const counted = spin.record(state.spin ?? undefined, call, config.spinThreshold);
  return {
    spin: counted.state,
    ...(counted.fired && { stalled: seal({ ...counted.fired, turn: state.turn }) }),
  };
}

/** True when nothing was hidden: both maps hold the same values, in whatever order. */
function isUnchanged(exposed: JsonMap, parameters: JsonMap): boolean {
  const keys = Object.keys(exposed);
  return keys.length === Object.keys(parameters).length && keys.every((key) => exposed[key] === parameters[key]);
}

function callMessage({ id, name, exposure: exposed }: OpenCall, turn: number): message.Message {
  const { parameters, ...hashes } = exposed;
  const metadata = seal({ tool_call_id: id, ...hashes });
  return message.toolCall({ tool_name: name, parameters, turn, metadata });
}

/** The message that answers a call. */
export function resultMessage({ id, name }: OpenCall, content: string, payload: JsonMap): message.Message {
  return message.toolResult({ content, tool_name: name, payload, metadata: seal({ tool_call_id: id }) });
}

/** The entry of `tool_events` that replays and observability read. */
export function toolEvent(type: string, call: OpenCall, turn: number, metadata: JsonMap & { status: string }): Body {
  const { id, name } = call;
  const { status } = metadata;
  const value = { type, tool_name: name, tool_call_id: id, turn_count: turn, metadata: seal(metadata), status };
  return { to: "tool_event", value: seal(value) };
}

/**
 * Where a call goes once it is decided as far as `asked`: to whoever has a say after that, to its approval, to its
 * execution, or, when nothing is to be executed, straight to its result. What a policy forbids nobody else is asked about.
 */
function afterDecision(
  { config }: Step,
  call: OpenCall,
  asked: "open" | "policy" | "mediator" | "filter",
): { to: Position; call: OpenCall } {
  const { action } = call.decision;
  if (asked === "open" && config.asked.actionPolicy && call.prepared.ready) return { to: "call.policy", call };
  if (call.policy !== "forbidden") {
    const isNew = asked === "open" || asked === "policy";
    if (isNew && config.asked.mediator && action === "proceed") return { to: "call.mediate", call };
    if (asked !== "filter" && config.asked.decisionFilter) return { to: "call.filter", call };
  }
  const result = resultWithoutRunning(config, call);
  const isRun = result === undefined || action === "pending";
  if (isRun && call.policy === "preview") return { to: "call.approve", call };
  return result ? { to: "call.settle", call: { ...call, result } } : { to: "call.run", call };
}

/** Where a call goes that a person has approved. */
export function afterApproval({ config }: Step, approved: OpenCall): { to: Position; call: OpenCall } {
  const call: OpenCall = { ...approved, policy: "direct" };
  const result = resultWithoutRunning(config, call);
  return result ? { to: "call.settle", call: { ...call, result } } : { to: "call.run", call };
}

function resultWithoutRunning(config: Config, { decision: decided, prepared }: OpenCall): ToolResult | undefined {
  if (decided.action !== "proceed") return decided.result;
  if (!prepared.ready) return toolResult.normalize(prepared);
  const target = execution.executorTarget(prepared.tool_def);
  if (target === undefined || config.executorTargets.includes(target)) return undefined;
  return execution.targetUnavailable(prepared.tool_call, target);
}

/** The policy that follows from the context and the declaration alone, when nobody else has a say in it. */
function underPolicy(step: Step, call: OpenCall): OpenCall {
  const { config, context } = step;
  const { prepared } = call;
  if (!prepared.ready || config.asked.actionPolicy || !actionPolicy.isConfigured(context, prepared.tool_def))
    return call;
  const policy = actionPolicy.resolve(policyAbout(step, prepared));
  return policed(call, isThenable(policy) ? undefined : policy);
}

/** Asks the providers, memories and filters that have a say in how the call may run. */
export function resolvePolicy(step: Step, arrived?: Outcome): Next | undefined {
  const { prepared } = step.call;
  if (!prepared.ready) throw new Error(`Call ${step.call.number} is not ready to be judged.`);
  if (!arrived) {
    return { kind: "consult", question: { hook: "action_policy", context: policyAbout(step, prepared) } };
  }
  const answer = "returned" in arrived ? actionPolicy.normalize(arrived.returned) : null;
  const { to, call } = afterDecision(step, policed(step.call, answer ?? undefined), "policy");
  const { number, policy } = call;
  step.record({ type: "call.policed", call: number, policy }, to, [{ to: "call", value: call }]);
}

function policyAbout(step: Step, { tool_call, tool_def }: Extract<Prepared, { ready: true }>): JsonMap {
  const { tool_name, parameters } = tool_call;
  return policyContext(step, { tool_name, tool_def, parameters });
}

/** The call under its policy. A policy that could not be resolved forbids: somebody may have wanted to. */
function policed(call: OpenCall, policy: ActionPolicy | undefined): OpenCall {
  if (policy === "direct" || policy === "preview") return { ...call, policy };
  return { ...call, policy: "forbidden", decision: decision.policyRejection(call.name, policy) };
}

/** Asks the product's mediator. One that throws or answers nonsense lets the call proceed. */
export function mediate(step: Step, arrived?: Outcome): Next | undefined {
  if (!arrived) return { kind: "consult", question: { hook: "mediator", context: mediationContext(step) } };
  decide(step, arrived, "mediator");
}

/** Asks the host's filter, which has the last word. */
export function filterDecision(step: Step, arrived?: Outcome): Next | undefined {
  if (!arrived) {
    const question = {
      hook: "decision_filter",
      decision: step.call.decision,
      context: mediationContext(step),
    } as const;
    return { kind: "consult", question };
  }
  decide(step, arrived, "filter");
}

function decide(step: Step, arrived: Outcome, asked: "mediator" | "filter"): void {
  const before = step.call;
  const answer = "returned" in arrived ? arrived.returned : undefined;
  const decided = decision.normalize(answer, before.decision, before);
  const { to, call } = afterDecision(step, { ...before, decision: decided }, asked);
  step.record({ type: "call.decided", call: call.number, action: decided.action }, to, [{ to: "call", value: call }]);
}

function mediationContext(step: Step): MediationContext {
  const { call, working } = step;
  return {
    messages: showTranscript(working),
    raw_tool_call: call.raw,
    prepared_tool_call: call.prepared.ready ? call.prepared.tool_call : null,
    tool_declaration: declarationOf(step, call.name),
    tool_name: call.name,
    parameters: call.parameters,
    tool_call_id: call.id,
    turn_context: step.context,
    turn: step.state.turn,
    prior_tool_results: showExecutions(working),
    prior_mediated_results: working.turnExecutions.slice(),
  };
}

/** Runs the tool; that it begins is recorded before. */
export function runCall(step: Step, arrived?: Outcome): Next | undefined {
  const { call } = step;
  const { prepared } = call;
  if (!prepared.ready) throw new Error(`Call ${call.number} is not ready to run.`);
  const { tool_call, tool_def } = prepared;
  if (!arrived) {
    const order = {
      kind: "run_tool",
      call: tool_call,
      declaration: tool_def,
      context: toolContext(step, call.id),
    } as const;
    return step.begin({ kind: "run_tool", call: call.number }, order, "call.run");
  }
  returnResult(step, execution.settle(tool_call, tool_def, arrived));
}

/** Takes down what a call came to, before anything is made of it. */
export function returnResult(step: Step, result: ToolResult): undefined {
  const value = { ...step.call, result };
  step.record({ type: "call.returned", call: value.number }, "call.settle", [{ to: "call", value }]);
}
