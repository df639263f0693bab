// What stands between the permission to use an ability and its execution: somebody may answer in its place, and a host
// may want a person to approve the call first.
import { emptyMap, isMap, type JsonMap, snapshot } from "../json.ts";
import { approvalEnvelope, fromArray, type PendingAction } from "../trust/pending-action.ts";
import { type PendingActionHost, stageAction } from "../trust/stage-action.ts";

/** Whether the ability may run; if not, what its caller gets instead. */
export type GateAnswer = { readonly passed: true } | { readonly passed: false; readonly value: unknown };

/** The hooks that have a say, where an action that needs approval is kept, and what else is known about the call. */
type GateHost = PendingActionHost & {
  readonly context?: JsonMap | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Asks the hooks about one call. Somebody's answer passes through untouched; a decision that needs approval is stored
 * and answered with an `approval_required` message. Throws what a hook throws, and `invalid_ai_pending_action` for a
 * decision that is none: without a clear yes the ability does not run.
 */
export async function gate(ability: string, input: JsonMap, host: GateHost): Promise<GateAnswer> {
  const { hooks } = host;
  if (!hooks) return { passed: true };
  const answer = await hooks.apply("preExecuteAbility", undefined, ability, input);
  if (answer !== undefined) return { passed: false, value: answer };
  const decision = await hooks.apply("abilityPreExecuteDecision", null, ability, input);
  if (decision === null) return { passed: true };
  return { passed: false, value: await askForApproval(ability, decision, host) };
}

async function askForApproval(ability: string, decision: unknown, host: GateHost) {
  const action = fromArray(decision);
  const { instruction, grants } = isMap(decision) ? decision : emptyMap;
  // Copied before the action is stored, so that nothing is left behind by a decision that turns out to be unusable.
  const extra = { instruction, grants: snapshot(grants) };
  const metadata = { ability_name: ability, ...(await stage(action, host)) };
  return approvalEnvelope(action, { ...extra, metadata });
}

/**
 * Keeps the action if there is a store for it. A store that fails neither opens the gate nor breaks the call: the
 * message then says that it is the only trace of the action.
 */
async function stage(action: PendingAction, host: GateHost): Promise<{ staged?: false }> {
  try {
    await stageAction(action, host, host.context ?? emptyMap, host.signal);
    return {};
  } catch {
    return { staged: false };
  }
}
