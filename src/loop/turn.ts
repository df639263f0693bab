// The way into a turn: clock, compaction, the model's answer, and which of the two paths it takes.
import * as budget from "../contracts/conversation/budget.ts";
import * as compaction from "../contracts/conversation/compaction.ts";
import * as message from "../contracts/conversation/message.ts";
import * as result from "../contracts/conversation/result.ts";
import * as usage from "../contracts/conversation/usage.ts";
import { errorMessage, HoldfastError, holdfastError } from "../contracts/error.ts";
import { isContainer, isMap, type Json, type JsonMap, seal, snapshot, snapshotMap } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { announceTurn, notifyExceeded } from "./announce.ts";
import { failureOf, reportedFailure } from "./failure.ts";
import type { Next } from "./next.ts";
import type { CheckedPlace, Position } from "./records.ts";
import { settleRest } from "./settle-rest.ts";
import { added, keptEvent, type Step } from "./step.ts";
import type { Body, TurnAnswer } from "./working.ts";

const WALL_CLOCK = "wall_clock_seconds";

export function beginFlow(step: Step): undefined {
  const { config, working } = step;
  const messages = working.transcript.length;
  step.record({ type: "flow.started", key: config.key, messages, budgets: config.budgets }, nextTurn(step));
}

/** Where a turn begins. */
export function nextTurn({ config }: Step): Position {
  return config.rules.inbox ? "turn.inbox" : "turn.begin";
}

export function beginTurn(step: Step): undefined {
  const spent = wallClock(step);
  if (spent && budget.isExceeded(spent)) {
    notifyExceeded(step, spent);
    settleRest(step);
    step.record({ type: "budget.set", name: WALL_CLOCK, used: spent.current, exceeded: true }, "flow.end");
    return;
  }
  if (spent && spent.current !== step.state.budgets[WALL_CLOCK]?.current) {
    step.record({ type: "budget.set", name: WALL_CLOCK, used: spent.current, exceeded: false }, "turn.begin");
  }
  const turn = step.state.turn + 1;
  step.record({ type: "turn.started", turn }, step.checked(afterStart(step)), [{ to: "turn", turn }]);
}

function afterStart({ config, state }: Step): CheckedPlace {
  if (state.queued > 0) return "turn.queued";
  return config.asked.visibility ? "turn.tools" : "turn.compact";
}

function wallClock({ config, state, now }: Step): budget.Budget | undefined {
  const clock = config.budgets[WALL_CLOCK];
  if (!clock) return undefined;
  return budget.setCurrent(clock, clock.current + Math.floor((now - state.started_at) / 1000));
}

/** Compacts the transcript when its policy says so, then goes on to the model. */
export function compact(step: Step, arrived?: Outcome): Next | undefined {
  const { config, state, working } = step;
  // An effect that is under way, or was put off, belongs to a turn that was announced before.
  if (!state.in_flight && !state.postponed && !config.asked.visibility) announceTurn(step);
  if (!config.compaction || !compaction.isDue(working.transcript.length, config.compaction)) return callModel(step);
  const plan = compaction.plan(working.transcript, config.compaction);
  if (plan.kind === "skip") return callModel(step);
  if (plan.kind === "archive") return archive(step, plan.outcome, arrived);
  if (!arrived) {
    const order = { kind: "summarize", messages: plan.head, context: plan.context } as const;
    return step.begin({ kind: "summarize" }, order, "turn.compact");
  }
  return recordCompaction(step, compaction.finish(plan, working.transcript, config.compaction, arrived));
}

/** Hands the oldest messages over before they leave the transcript; if nobody could take them, they stay. */
function archive(step: Step, outcome: compaction.CompactionOutcome, arrived?: Outcome): Next | undefined {
  if (step.config.archives && !arrived) {
    const order = {
      kind: "archive",
      items: outcome.archive_items ?? [],
      details: outcome.metadata.compaction,
    } as const;
    return step.begin({ kind: "archive" }, order, "turn.compact");
  }
  if (!arrived || "returned" in arrived) return recordCompaction(step, outcome);
  const failed = keptEvent("compaction_failed", { ...outcome.metadata.compaction, error: errorMessage(arrived.threw) });
  step.record({ type: "compaction.failed" }, "turn.model", [failed]);
}

function recordCompaction(step: Step, outcome: compaction.CompactionOutcome): undefined {
  const { working } = step;
  const bodies: Body[] = outcome.events.map((event) => ({ to: "event", value: event }));
  if (outcome.messages === working.transcript) {
    step.record({ type: "compaction.failed" }, "turn.model", bodies);
    return;
  }
  const [summary] = outcome.messages;
  const drop = working.transcript.length - outcome.messages.length + 1;
  if (summary) bodies.push({ to: "compaction", drop, added: [summary] });
  step.record({ type: "compacted", messages: outcome.messages.length }, "turn.model", bodies);
}

/** Calls the model, and takes down what came back before anything is made of it. */
export function callModel(step: Step, arrived?: Outcome): Next | undefined {
  if (!arrived) return step.begin({ kind: "call_model" }, modelOrder(step), "turn.model");
  if ("threw" in arrived) return failModel(step, failureOf(arrived.threw, step.state.turn), "thrown");
  const { returned } = arrived;
  if (!isContainer(returned)) return refuse(notAMap(), { isReported: true });
  try {
    const value = readAnswer(isMap(returned) ? returned : {}, step.working.transcript);
    step.record({ type: "model.responded" }, step.checked("turn.accept"), [{ to: "answer", value }]);
  } catch (thrown) {
    return failModel(step, failureOf(thrown, step.state.turn), "thrown");
  }
}

function modelOrder({ state, working, context }: Step) {
  const { tools, transcript } = working;
  return { kind: "call_model", messages: transcript.slice(), context, tools, budgets: state.budgets } as const;
}

/** The answer as JSON. Of a returned transcript only what is not ours already is kept: it is usually ours. */
function readAnswer(returned: Readonly<Record<string, unknown>>, transcript: readonly unknown[]): TurnAnswer {
  const { messages, ...rest } = returned;
  if (!Array.isArray(messages)) return { result: snapshotMap(returned), history: null };
  let keep = 0;
  while (keep < messages.length && keep < transcript.length && messages[keep] === transcript[keep]) keep++;
  return { result: snapshotMap(rest), history: { keep, added: snapshot(messages.slice(keep)) as readonly JsonMap[] } };
}

function failModel(step: Step, failure: JsonMap, as: "thrown" | "reported", bodies: readonly Body[] = []): undefined {
  step.notify("failed", { turn: step.state.turn, error: failure.message ?? "" });
  step.record({ type: "model.failed", as }, "flow.end", [...bodies, { to: "stop", value: { failure } }]);
}

function refuse(error: HoldfastError, { isReported = false } = {}): Next {
  return { kind: "refuse", error, isReported };
}

function notAMap(): HoldfastError {
  return holdfastError("invalid_agent_conversation_loop", "The turn runner must return a map.");
}

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
    return failModel(step, reportedFailure(answer.failure, state.turn), "reported", bodies);
  }
  bodies.push(...acceptedContent(step, answer));
  try {
    const accepted = config.mediates && Array.isArray(answer.tool_calls) ? mediated(step) : managed(step);
    const used = isMap(answer.usage) ? usage.add(state.usage, answer.usage) : state.usage;
    const fact = { type: "model.accepted", calls: accepted.calls, usage: used } as const;
    step.record(fact, accepted.to, [...bodies, ...accepted.bodies]);
  } catch (thrown) {
    if (thrown instanceof HoldfastError) return refuse(thrown);
    throw thrown;
  }
}

function acceptedContent({ working }: Step, answer: JsonMap): Body[] {
  const { run } = working;
  const { metadata, request_metadata, structured_output } = answer;
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
  if (typeof answer.content === "string" && answer.content !== "") {
    bodies.push(added(message.text("assistant", answer.content)));
  }
  const { continuation_messages } = answer;
  // Read before any tool runs: an answer that cannot be used must not leave effects behind.
  const messages = Array.isArray(continuation_messages) ? message.normalizeMany(continuation_messages) : [];
  if (messages.length > 0) bodies.push({ to: "continuation", messages });
  const calls = Array.isArray(answer.tool_calls) ? answer.tool_calls.length : 0;
  return { calls, to: "call.open", bodies };
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
