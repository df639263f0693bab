// Asks the model, and takes down what came back before anything is made of it.
import { type HoldfastError, holdfastError } from "../contracts/error.ts";
import { isContainer, isMap, type JsonMap, seal, snapshot, snapshotMap } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { endLate, isLate } from "./clock.ts";
import { failureOf } from "./failure.ts";
import { endShort, reserve, type SharedFunds, spentInVain, spentOn } from "./funds.ts";
import type { Next } from "./next.ts";
import type { Amounts } from "./records.ts";
import type { Step } from "./step.ts";
import type { Body, TurnAnswer } from "./working.ts";

/**
 * An attempt that somebody began before a crash: what was set aside for it counts as spent, and when the time is up it is
 * not made again. True if there was such an attempt.
 */
export function loseAttempt(step: Step): boolean {
  const { in_flight, position, reserved } = step.state;
  if (!in_flight || !(reserved || isLate(step))) return false;
  step.record({ type: "attempt.lost" }, position);
  return true;
}

/** Where costs are counted, what the model is to be shown stands first: everything that is asked then is about its cost. */
export function goToModel(step: Step): Next | undefined {
  if (!step.config.funds) return callModel(step);
  step.record({ type: "turn.assembled" }, "turn.model");
}

/** Calls the model, and takes down what came back before anything is made of it. */
export function callModel(step: Step, arrived?: Outcome): Next | undefined {
  if (!step.state.in_flight) return beginModel(step, arrived);
  if (!arrived && loseAttempt(step)) return;
  if (!arrived) return step.begin({ kind: "call_model" }, modelOrder(step), "turn.model");
  const { state, config } = step;
  if ("threw" in arrived) {
    const spent = spentInVain(state, arrived.hasSpoken === true);
    // A model that was cut off because the time was up has not failed.
    if (!isLate(step)) return failModel(step, failureOf(arrived.threw, state.turn), "thrown", { spent });
    step.record({ type: "effect.postponed", until: step.now, ...(spent && { spent }) }, "turn.model");
    return;
  }
  const { returned } = arrived;
  if (!isContainer(returned)) return refuse(notAMap(), { isReported: true });
  try {
    const value = readAnswer(isMap(returned) ? returned : {}, step.working.transcript);
    const spent = spentOn(state, config.funds, value.result.usage);
    const { control } = arrived;
    const fact = { type: "model.responded", ...(control && { control }), ...(spent && { spent }) } as const;
    step.record(fact, step.checked("turn.accept"), [{ to: "answer", value }]);
  } catch (thrown) {
    const spent = spentOn(state, config.funds, isMap(returned) ? returned.usage : undefined);
    return failModel(step, failureOf(thrown, state.turn), "thrown", { spent });
  }
}

/** Begins to ask the model, once the time and the funds for it are there. `arrived`: what is left of shared funds. */
function beginModel(step: Step, arrived?: Outcome): Next | undefined {
  const { config } = step;
  if (config.rules.clock === "call" && endLate(step)) return;
  if (!config.funds) return step.begin({ kind: "call_model" }, modelOrder(step), "turn.model");
  if (config.funds.isShared && !arrived) return { kind: "consult", question: { hook: "funds" } };
  if (arrived && "threw" in arrived) return failModel(step, failureOf(arrived.threw, step.state.turn), "thrown");
  const made = reserve(step, config.funds, (arrived?.returned as SharedFunds | undefined) ?? null);
  if ("short" in made) return endShort(step, made);
  const { reserved, maxOutputTokens, limited } = made;
  const order = { ...modelOrder(step), ...(maxOutputTokens !== undefined && { maxOutputTokens }) };
  const cost = { reserved, ...(limited !== undefined && { limited }) };
  return step.begin({ kind: "call_model" }, order, "turn.model", cost);
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

export function failModel(
  step: Step,
  failure: JsonMap,
  as: "thrown" | "reported",
  { bodies = [], spent }: { bodies?: readonly Body[]; spent?: Amounts | undefined } = {},
): undefined {
  if (step.state.frames.length > 0) {
    const answer = { to: "answer", value: { result: seal({ failure }), history: null } } as const;
    step.record({ type: "model.failed", as, framed: true, ...(spent && { spent }) }, "turn.frame", [...bodies, answer]);
    return;
  }
  step.notify("failed", { turn: step.state.turn, error: failure.message ?? "" });
  step.record({ type: "model.failed", as, ...(spent && { spent }) }, "flow.end", [
    ...bodies,
    { to: "stop", value: { failure } },
  ]);
}

export function refuse(error: HoldfastError, { isReported = false } = {}): Next {
  return { kind: "refuse", error, isReported };
}

function notAMap(): HoldfastError {
  return holdfastError("invalid_agent_conversation_loop", "The turn runner must return a map.");
}
