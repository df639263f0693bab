// Whether a call may run: the action policy, the mediator, the host's filter, and at last a person, each in turn.
import { isMap, type JsonMap, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import type { ActionPolicy } from "../contracts/tools/action-policy.ts";
import * as actionPolicy from "../contracts/tools/action-policy.ts";
import * as execution from "../contracts/tools/execution.ts";
import type { ToolResult } from "../contracts/tools/result.ts";
import * as toolResult from "../contracts/tools/result.ts";
import { isThenable } from "../contracts/when-ready.ts";
import type { Config } from "./config.ts";
import * as decision from "./decision.ts";
import { declarationOf, policyContext } from "./declared.ts";
import type { MediationContext, Next } from "./next.ts";
import type { Position, Remembered } from "./records.ts";
import type { Step } from "./step.ts";
import { isPending } from "./waiting-result.ts";
import { type OpenCall, showExecutions, showTranscript } from "./working.ts";

/** Where a call goes next, and the call as it is by then. */
type Route = { readonly to: Position; readonly call: OpenCall };

/** Where a call goes that was just opened: its policy comes first, because nothing that is decided later may lift it. */
export function afterOpening(step: Step, call: OpenCall): Route {
  return underPolicy(step, call, "open");
}

/** Where a call goes that a person has approved. Agreeing is no right: the policy of now has the last word. */
export function afterApproval(step: Step, call: OpenCall): Route {
  return underPolicy(step, { ...call, approved: true, policy: "direct" }, "filter");
}

/** Asks for the policy if there is somebody to ask; otherwise it follows from the context and the declaration alone. */
function underPolicy(step: Step, call: OpenCall, asked: "open" | "filter"): Route {
  const { config } = step;
  const { prepared } = call;
  if (!prepared.ready) return afterDecision(step, call, asked);
  if (config.asked.actionPolicy) return { to: "call.policy", call };
  if (!config.policesCalls && !actionPolicy.declaresPolicy(prepared.tool_def)) return afterDecision(step, call, asked);
  const policy = actionPolicy.resolve(policyAbout(step, prepared));
  return afterDecision(step, policed(call, isThenable(policy) ? undefined : policy), asked);
}

/** Asks the providers, memories and filters that have a say in how the call may run. */
export function resolvePolicy(step: Step, arrived?: Outcome): Next | undefined {
  const { prepared } = step.call;
  if (!prepared.ready) throw new Error(`Call ${step.call.number} is not ready to be judged.`);
  if (!arrived) {
    return { kind: "consult", question: { hook: "action_policy", context: policyAbout(step, prepared) } };
  }
  const { policy: answer, preview, remembered } = readAnswer("returned" in arrived ? arrived.returned : undefined);
  const { to, call } = afterDecision(step, { ...policed(step.call, answer), preview }, "open");
  const { number, policy } = call;
  const fact = { type: "call.policed", call: number, policy, ...(remembered && { remembered }) } as const;
  step.record(fact, to, [{ to: "call", value: call }]);
}

type PolicyAnswer = {
  readonly policy: ActionPolicy | undefined;
  readonly preview: JsonMap | null;
  readonly remembered: Remembered | undefined;
};

/** A policy, alone or with what a person is to be shown and the decision that it follows from. */
function readAnswer(answer: unknown): PolicyAnswer {
  const given: UnknownMap = isMap(answer) ? answer : { policy: answer };
  const preview = isMap(given.preview) ? snapshotMap(given.preview) : null;
  const remembered = isMap(given.remembered) ? (snapshotMap(given.remembered) as Remembered) : undefined;
  return { policy: actionPolicy.normalize(given.policy) ?? undefined, preview, remembered };
}

function policyAbout(step: Step, { tool_call, tool_def }: Extract<execution.Prepared, { ready: true }>): JsonMap {
  const { tool_name, parameters } = tool_call;
  return policyContext(step, { tool_name, tool_def, parameters });
}

/** The call under its policy. A policy that could not be resolved forbids: somebody may have wanted to. */
function policed(call: OpenCall, policy: ActionPolicy | undefined): OpenCall {
  if (policy === "direct" || policy === "preview") return { ...call, policy };
  return { ...call, policy: "forbidden", decision: decision.policyRejection(call.name, policy) };
}

/**
 * Where a call goes once it is decided as far as `asked`: to whoever has a say after that, to its approval, to its
 * execution, or, when nothing is to be executed, straight to its result. What a policy forbids nobody else is asked
 * about, and what a person has approved nobody is asked about again.
 */
function afterDecision({ config }: Step, call: OpenCall, asked: "open" | "mediator" | "filter"): Route {
  if (call.policy !== "forbidden" && !call.approved) {
    const isUndecided = asked === "open" && call.decision.action === "proceed";
    if (isUndecided && config.asked.mediator) return { to: "call.mediate", call };
    if (asked !== "filter" && config.asked.decisionFilter) return { to: "call.filter", call };
  }
  const result = resultWithoutRunning(config, call);
  const isRunSomewhere = result === undefined || isPending(result);
  if (isRunSomewhere && call.policy === "preview" && !call.approved) return { to: "call.approve", call };
  return result ? { to: "call.settle", call: { ...call, result } } : { to: "call.run", call };
}

function resultWithoutRunning(config: Config, { decision: decided, prepared }: OpenCall): ToolResult | undefined {
  if (!prepared.ready) {
    // What cannot run here is not handed to another runtime either.
    const isAnswered = decided.action !== "proceed" && !isPending(decided.result);
    return isAnswered ? decided.result : toolResult.normalize(prepared);
  }
  if (decided.action !== "proceed") return decided.result;
  const target = execution.executorTarget(prepared.tool_def);
  if (target === undefined) return undefined;
  // A client declares its own tools; which of the host's executors runs is not for it to say.
  const isClients = prepared.tool_def.executor === "client";
  if (!isClients && config.executorTargets.includes(target)) return undefined;
  return execution.targetUnavailable(prepared.tool_call, target);
}

/** Asks the product's mediator. One that throws or answers nonsense lets the call proceed. */
export function mediate(step: Step, arrived?: Outcome): Next | undefined {
  if (!arrived) return { kind: "consult", question: { hook: "mediator", context: mediationContext(step) } };
  decide(step, arrived, "mediator");
}

/** Asks the host's filter, which decides after the mediator, though not about what a policy forbids. */
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
  const { call, config, working } = step;
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
    prior_tool_results: config.rules.priorResults === "run" ? showExecutions(working) : working.turnExecutions.slice(),
    prior_mediated_results: working.turnExecutions.slice(),
  };
}
