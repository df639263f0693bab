// Makes a model's answer part of the run, on one of two paths: the loop runs its calls, or the caller already did.
import * as message from "../contracts/conversation/message.ts";
import * as result from "../contracts/conversation/result.ts";
import * as usage from "../contracts/conversation/usage.ts";
import { HoldfastError, holdfastError } from "../contracts/error.ts";
import { isContainer, isMap, type Json, type JsonMap, seal } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { canonicalName } from "../contracts/tools/declaration.ts";
import { failModel, refuse } from "./ask-model.ts";
import { failureOf, reportedFailure } from "./failure.ts";
import { metadataOf } from "./kept-with-answer.ts";
import type { Next } from "./next.ts";
import { speakerOf } from "./speaker.ts";
import { added, type Step } from "./step.ts";
import type { Body } from "./working.ts";

/** Makes the answer part of the run and chooses the path: the loop runs the calls, or the caller already did. */
export function accept(step: Step, arrived?: Outcome): Next | undefined {
  if (arrived && "threw" in arrived) return failModel(step, failureOf(arrived.threw, step.state.turn), "thrown");
  const { config, state, working } = step;
  const { result: answer } = working.answer;
  const bodies: Body[] = [];
  if (isContainer(answer.provider_diagnostics)) {
    bodies.push({ to: "provider_diagnostics", value: answer.provider_diagnostics as JsonMap });
  }
  if (isContainer(answer.failure)) {
    return failModel(step, reportedFailure(answer.failure, state.turn), "reported", { bodies });
  }
  bodies.push(...acceptedContent(step, answer));
  try {
    const accepted = config.mediates && Array.isArray(answer.tool_calls) ? mediated(step) : managed(step);
    const used = isMap(answer.usage) ? usage.add(state.usage, answer.usage) : state.usage;
    const news = used === state.usage ? {} : { usage: used };
    const { limited } = state;
    const isCut = limited !== null && accepted.calls === 0 && finishReason(answer) === "length";
    const cut = isCut ? { exceeded: limited } : {};
    const fact = { type: "model.accepted", calls: accepted.calls, ...news, ...cut } as const;
    step.record(fact, accepted.to, [...bodies, ...accepted.bodies]);
  } catch (thrown) {
    if (thrown instanceof HoldfastError) return refuse(thrown);
    throw thrown;
  }
}

function finishReason({ request_metadata }: JsonMap): unknown {
  return isMap(request_metadata) ? request_metadata.finish_reason : undefined;
}

function acceptedContent({ config, working }: Step, answer: JsonMap): Body[] {
  const { run } = working;
  const { metadata, request_metadata } = answer;
  // What the thread itself checks it does not take on a model's word.
  const structured_output = config.asked.output ? undefined : answer.structured_output;
  const value = {
    ...(isMap(metadata) && { metadata: seal({ ...run.metadata, ...metadata }) }),
    ...(isMap(request_metadata) && { request_metadata }),
    ...(isMap(structured_output) &&
      Object.hasOwn(structured_output, "parsed") && {
        structured_output: seal({
          parsed: structured_output.parsed,
          diagnostics: publicDiagnostics(structured_output.diagnostics),
        }),
      }),
  };
  return Object.keys(value).length > 0 ? [{ to: "accepted", value }] : [];
}

/** The diagnostics that may leave the run: what a provider says beyond these may hold anything. */
function publicDiagnostics(value: unknown): JsonMap {
  const kept: Record<string, string | number | boolean> = {};
  for (const key of ["status", "code", "parser", "valid"]) {
    const item = isMap(value) ? value[key] : undefined;
    if (typeof item === "string" || typeof item === "boolean" || Number.isInteger(item)) {
      kept[key] = item as string | number | boolean;
    }
  }
  return seal(kept);
}

type Accepted = { calls: number; to: Parameters<Step["record"]>[1]; bodies: Body[] };

function mediated(step: Step): Accepted {
  const { working } = step;
  const { result: answer, history } = working.answer;
  const bodies: Body[] = [];
  if (history) {
    const { keep, added: returned } = history;
    bodies.push({ to: "history", keep, added: message.normalizeMany(returned, keep) });
  }
  const { role, metadata } = speakerOf(step);
  const said = saidByStopping(step, answer) ?? answer.content;
  if (typeof said === "string" && said !== "") {
    bodies.push(added(message.text(role, said, seal({ ...metadataOf(answer), ...metadata }))));
  }
  for (const file of Array.isArray(answer.files) ? answer.files : []) {
    if (isMap(file)) bodies.push(added(message.text(role, [seal({ type: "file", ...(file as JsonMap) })], metadata)));
  }
  const { continuation_messages } = answer;
  // Read before any tool runs: an answer that cannot be used must not leave effects behind.
  const messages = Array.isArray(continuation_messages) ? message.normalizeMany(continuation_messages) : [];
  if (messages.length > 0) bodies.push({ to: "continuation", messages });
  const calls = Array.isArray(answer.tool_calls) ? answer.tool_calls.length : 0;
  return { calls, to: "call.open", bodies };
}

/** What a side says by calling the tool that ends its turn, where an argument of that holds it. */
function saidByStopping({ config, state }: Step, { tool_calls }: JsonMap): string | undefined {
  const { stopTool = null, stopToolResponseProperty: property = null } = config.sides ?? {};
  if (stopTool === null || property === null || state.frames.length > 0 || !Array.isArray(tool_calls)) return undefined;
  for (const call of tool_calls) {
    if (!isMap(call) || canonicalName(String(call.name ?? call.tool_name), config.tools) !== stopTool) continue;
    const said = isMap(call.parameters) ? call.parameters[property] : undefined;
    if (typeof said === "string") return said;
  }
  return undefined;
}

function managed(step: Step): Accepted {
  const { config, working } = step;
  const { result: answer, history } = working.answer;
  const whole = history
    ? { ...answer, messages: [...working.transcript.slice(0, history.keep), ...history.added] }
    : answer;
  const normalized = result.normalize(whole);
  const keep = history?.keep ?? 0;
  const bodies: Body[] = [
    { to: "history", keep, added: normalized.messages.slice(keep) },
    ...normalized.tool_execution_results.map((value): Body => ({ to: "execution", value })),
    ...normalized.tool_audit_events.map((value): Body => ({ to: "audit", value })),
    ...normalized.tool_events.map((value): Body => ({ to: "tool_event", value })),
    ...managedEvents(answer.events).map((value): Body => ({ to: "event", value })),
  ];
  const calls = config.asked.completion ? normalized.tool_execution_results.length : 0;
  return { calls, to: calls > 0 ? "caller.judge" : "turn.verdict", bodies };
}

function managedEvents(events: Json | undefined): readonly JsonMap[] {
  if (events === undefined || events === null) return [];
  if (Array.isArray(events) && events.every(isMap)) return events as readonly JsonMap[];
  throw holdfastError("invalid_agent_conversation_loop", "events must be a list of maps.");
}
