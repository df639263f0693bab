// One tool call on its way to a result: opened, run.
import { trimmed } from "../contracts/coerce.ts";
import * as message from "../contracts/conversation/message.ts";
import { isMap, type Json, type JsonMap, seal, snapshotMap } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import type { Control } from "../contracts/standard/control.ts";
import * as callGate from "../contracts/tools/call-gate.ts";
import { canonicalName } from "../contracts/tools/declaration.ts";
import * as execution from "../contracts/tools/execution.ts";
import * as exposure from "../contracts/tools/exposure.ts";
import type { ToolResult } from "../contracts/tools/result.ts";
import * as spin from "../contracts/tools/spin.ts";
import type { Config } from "./config.ts";
import * as decision from "./decision.ts";
import { callableTools, hiddenParameters, hidingDeclarationOf, isRepeatable } from "./declared.ts";
import { metadataOf } from "./kept-with-answer.ts";
import type { Next } from "./next.ts";
import { afterOpening } from "./permit.ts";
import type { Fact, Position } from "./records.ts";
import { speakerOf } from "./speaker.ts";
import { added, type Step } from "./step.ts";
import type { Body, OpenCall } from "./working.ts";

/** Opens the next call of the batch; what is no call is passed over. */
export function openCall(step: Step, arrived?: Outcome): Next | undefined {
  const raw = readCall(step);
  if (!raw) {
    step.record({ type: "call.skipped" }, "call.open");
    return;
  }
  const { name, parameters, context } = raw;
  const hidden = hiddenParameters(step, name, parameters);
  if (hidden) return prepareCall(step, raw, exposure.exposeShown(hidden));
  const declaration = hidingDeclarationOf(step, name);
  if (!step.config.asked.auditFilter) return prepareCall(step, raw, exposure.expose(parameters, declaration));
  if (!arrived) {
    const redacted = exposure.redact(parameters, declaration);
    const about = { raw: parameters, tool_name: name, declaration, context };
    return { kind: "consult", question: { hook: "audit_parameters", redacted, ...about } };
  }
  const isReplaced = "returned" in arrived && isMap(arrived.returned);
  const shown = isReplaced ? snapshotMap(arrived.returned) : exposure.redact(parameters, declaration);
  return prepareCall(step, raw, exposure.exposeShown(shown));
}

type RawCall = Pick<OpenCall, "id" | "name" | "raw" | "parameters"> & { readonly context: JsonMap };

/** The next call as the answer has it, if it is one. */
export function readCall(step: Step): RawCall | undefined {
  const { state, working } = step;
  const calls = working.answer.result.tool_calls;
  const raw = Array.isArray(calls) ? calls[state.batch.next] : undefined;
  if (!isMap(raw)) return undefined;
  const name = raw.name ?? raw.tool_name;
  if (typeof name !== "string" || name === "") return undefined;
  const id = trimmed(raw.id ?? raw.tool_call_id) ?? `tool-call-${state.turn}-${state.batch.next + 1}`;
  const context = toolContext(step, id);
  return { id, name, raw: raw as JsonMap, parameters: snapshotMap(raw.parameters), context };
}

/** What a tool is told of the run it belongs to. */
function toolContext({ context }: Step, tool_call_id: string): JsonMap {
  return seal({ ...context, tool_call_id });
}

function prepareCall(
  step: Step,
  { id, name, raw, parameters, context }: RawCall,
  exposed: exposure.Exposure,
): undefined {
  const { config, state } = step;
  const prepared =
    typeof raw.refused === "string"
      ? execution.refused(name, raw.refused)
      : typeof raw.invalid_input === "string"
        ? execution.unreadable(name)
        : execution.prepare(name, parameters, callableTools(step), context);
  const verdict = callGate.judgeCall(config.callRules, state.tallies, canonicalName(name, config.tools));
  const opened: OpenCall = {
    number: state.calls,
    id,
    name,
    raw,
    parameters,
    prepared,
    exposure: exposed,
    policy: "direct",
    preview: null,
    approved: false,
    decision: verdict.allowed ? decision.proceed : decision.gateRejection(verdict, name),
    result: null,
  };
  const { to, call } = afterOpening(step, opened);
  recordOpened(step, call, to, spinning(step, call));
}

type Spinning = Pick<Extract<Fact, { type: "call.opened" }>, "spin" | "stalled">;

/** Writes the call into the transcript, as it may be shown. */
export function recordOpened(step: Step, call: OpenCall, to: Position, counted?: Spinning): void {
  const { id, name, exposure: exposed } = call;
  const { turn } = step.state;
  step.notify("tool_call", { turn, tool_name: name, tool_call_id: id, ...exposed });
  step.record({ type: "call.opened", call: call.number, ...counted }, to, [
    { to: "call", value: call },
    added(callMessage(call, turn, { ...keptWith(step, call), ...speakerOf(step).metadata })),
    toolEvent("tool_call", call, turn, { status: "called", ...exposed }),
  ]);
}

/** Counts the call for the spin detector. Once it has fired, the run is going to stop and nothing more is counted. */
function spinning(step: Step, { name, parameters, exposure: exposed }: OpenCall): Spinning | undefined {
  const { config, state } = step;
  if (config.spinThreshold === null || state.stops.stalled || isRepeatable(step, name)) return undefined;
  const isKnown = config.salt === "" && isUnchanged(exposed.parameters, parameters);
  const knownHash = isKnown ? exposed.parameters_sha256 : undefined;
  const call = spin.identity(canonicalName(name, config.tools), salted(config, parameters), knownHash);
  const counted = spin.record(state.spin ?? undefined, call, config.spinThreshold);
  return {
    spin: counted.state,
    ...(counted.fired && { stalled: seal({ ...counted.fired, turn: state.turn }) }),
  };
}

/** What a hash of the parameters is made of: with the salt, if there is one, it tells nobody what they were. */
export function salted({ salt }: Config, parameters: JsonMap): JsonMap {
  return salt === "" ? parameters : { salt, parameters };
}

/** True when nothing was hidden: both maps hold the same values, in whatever order. */
function isUnchanged(exposed: JsonMap, parameters: JsonMap): boolean {
  const keys = Object.keys(exposed);
  return keys.length === Object.keys(parameters).length && keys.every((key) => exposed[key] === parameters[key]);
}

/** What the provider wants to see again with the call; the first one stands for an answer without words. */
function keptWith({ state, working }: Step, { raw }: OpenCall): JsonMap {
  const { result: answer } = working.answer;
  const isFirst = state.batch.next === 0 && !state.batch.queued && !answer.content;
  const { provider_metadata } = raw;
  return {
    ...(isFirst && metadataOf(answer)),
    ...(isMap(provider_metadata) && { provider_metadata: provider_metadata as JsonMap }),
  };
}

function callMessage({ id, name, exposure: exposed }: OpenCall, turn: number, kept: JsonMap): message.Message {
  const { parameters, ...hashes } = exposed;
  const metadata = seal({ ...kept, tool_call_id: id, ...hashes });
  return message.toolCall({ tool_name: name, parameters, turn, metadata });
}

/** The message that answers a call. */
export function resultMessage(step: Step, content: string, payload: JsonMap): message.Message {
  const { id, name } = step.call;
  const metadata = seal({ tool_call_id: id, ...speakerOf(step).metadata, ...shownWith(payload.metadata) });
  return message.toolResult({ content, tool_name: name, payload, metadata });
}

/** What readers of messages look for beside a result: its files, the child it speaks of, that it is not to be shown. */
const SHOWN = ["attachments", "subagent_id", "removed"] as const;

function shownWith(metadata: unknown): JsonMap {
  if (!isMap(metadata)) return {};
  return Object.fromEntries(SHOWN.flatMap((field) => (field in metadata ? [[field, metadata[field] as Json]] : [])));
}

/** The entry of `tool_events` that replays and observability read. */
export function toolEvent(type: string, call: OpenCall, turn: number, metadata: JsonMap & { status: string }): Body {
  const { id, name } = call;
  const { status } = metadata;
  const value = { type, tool_name: name, tool_call_id: id, turn_count: turn, metadata: seal(metadata), status };
  return { to: "tool_event", value: seal(value) };
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
  returnResult(step, execution.settle(tool_call, tool_def, arrived), arrived.control);
}

/** Takes down what a call came to, before anything is made of it. */
export function returnResult(step: Step, result: ToolResult, control?: Control): undefined {
  const value = { ...step.call, result };
  const fact = { type: "call.returned", call: value.number, ...(control && { control }) } as const;
  step.record(fact, "call.settle", [{ to: "call", value }]);
}
