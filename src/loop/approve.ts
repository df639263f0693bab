// A call that may only run once a person has agreed: the loop proposes it as a pending action and waits.
import * as canonicalJson from "../contracts/canonical-json.ts";
import { trimmed } from "../contracts/coerce.ts";
import { isMap, type Json, type JsonMap, seal } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import * as toolResult from "../contracts/tools/result.ts";
import * as pendingAction from "../contracts/trust/pending-action.ts";
import * as workspace from "../contracts/workspace.ts";
import { afterApproval, returnResult } from "./call.ts";
import type { Next } from "./next.ts";
import type { Step } from "./step.ts";
import { policyContext } from "./visible-tools.ts";
import { waitForApproval } from "./wait.ts";
import type { OpenCall } from "./working.ts";

/** Proposes the call and waits for the decision. If the proposal could not be stored, that is said, and nothing runs. */
export function askApproval(step: Step, arrived?: Outcome): Next | undefined {
  const { call, config, context } = step;
  const action = proposal(step);
  if (config.storesActions && !arrived) {
    const order = { kind: "store_action", action, context } as const;
    return step.begin({ kind: "store_action", call: call.number }, order, "call.approve");
  }
  const isStaged = !arrived || "returned" in arrived;
  const metadata = seal({ tool_call_id: call.id, tool_name: call.name, ...(!isStaged && { staged: false }) });
  const envelope = pendingAction.approvalEnvelope(action, { metadata });
  const shown = seal({ ...action, apply_input: applyInput(call, call.exposure.parameters) });
  waitForApproval(step, { envelope, asked: pendingAction.approvalEnvelope(shown, { metadata }) });
}

/**
 * What the loop proposes. Its id follows from the run and the call, so that a proposal made again after a crash takes the
 * place of the first one instead of standing beside it.
 */
function proposal(step: Step): pendingAction.PendingAction {
  const { call, state, now } = step;
  const context = policyContext(step);
  const { description } = call.prepared.ready ? call.prepared.tool_def : { description: "" };
  const identity = canonicalJson.sha256(`${state.key}|${call.number}|${call.id}`);
  return pendingAction.fromArray({
    action_id: `action-${identity.slice(0, 32)}`,
    kind: "tool_call",
    summary: summaryOf(call),
    preview: { tool_name: call.name, description, parameters: call.exposure.parameters },
    apply_input: applyInput(call, call.parameters),
    workspace: workspaceOf(context),
    agent: trimmed(context.agent_slug) ?? trimmed(context.agent_id) ?? null,
    creator: creatorOf(context),
    created_at: new Date(now).toISOString(),
    metadata: {
      run_id: context.run_id ?? null,
      turn: state.turn,
      tool_call_id: call.id,
      parameters_sha256: call.exposure.parameters_sha256,
    },
  });
}

/** One line for the person who decides; the preview has the whole. */
function summaryOf({ name, exposure }: OpenCall): string {
  const line = `Run ${name} ${JSON.stringify(exposure.parameters)}`;
  return line.length <= LONGEST_SUMMARY ? line : `${line.slice(0, LONGEST_SUMMARY - 1)}…`;
}

const LONGEST_SUMMARY = 200;

function applyInput({ id, name }: OpenCall, parameters: JsonMap): JsonMap {
  return seal({ tool_name: name, tool_call_id: id, parameters });
}

function workspaceOf(context: JsonMap): Json {
  try {
    return isMap(context.workspace) ? workspace.normalize(context.workspace) : null;
  } catch {
    return null;
  }
}

function creatorOf({ acting_user_id }: JsonMap): string | null {
  return typeof acting_user_id === "number" && acting_user_id > 0 ? `user:${acting_user_id}` : null;
}

/** True while the call waits for an approval that the loop itself asked for. */
export function isProposed(call: OpenCall): boolean {
  return call.policy === "preview" && call.result === null;
}

/** Runs the call if it was accepted. Anything else than that word is a no. */
export function takeDecision(step: Step, arrived: Outcome): undefined {
  const { call } = step;
  const answer = "returned" in arrived && isMap(arrived.returned) ? arrived.returned : {};
  if (answer.decision !== "accepted") {
    const error = trimmed(answer.reason) ?? "The action was rejected.";
    return returnResult(step, toolResult.failure(call.name, error, { error_type: "approval_rejected" }));
  }
  const { to, call: approved } = afterApproval(step, call);
  step.record({ type: "call.approved", call: approved.number }, to, [{ to: "call", value: approved }]);
}
