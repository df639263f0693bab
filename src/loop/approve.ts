// A call that may only run once a person has agreed: the loop proposes it as a pending action and waits.
import * as canonicalJson from "../contracts/canonical-json.ts";
import { trimmed } from "../contracts/coerce.ts";
import { isMap, type JsonMap, seal, snapshotMap } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import type { Prepared } from "../contracts/tools/execution.ts";
import { expose, redact } from "../contracts/tools/exposure.ts";
import * as toolResult from "../contracts/tools/result.ts";
import * as pendingAction from "../contracts/trust/pending-action.ts";
import * as workspace from "../contracts/workspace.ts";
import { returnResult, salted } from "./call.ts";
import { policyContext } from "./declared.ts";
import type { Next } from "./next.ts";
import { afterApproval } from "./permit.ts";
import type { Step } from "./step.ts";
import { rejectedByPerson, waitForApproval } from "./wait.ts";
import type { OpenCall, Working } from "./working.ts";

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
  const asked = pendingAction.approvalEnvelope(asTheModelSeesIt(call, action), { metadata });
  waitForApproval(step, { envelope: pendingAction.approvalEnvelope(action, { metadata }), asked });
}

type Ready = Extract<Prepared, { ready: true }>;

function ready({ number, prepared }: OpenCall): Ready {
  if (!prepared.ready) throw new Error(`Call ${number} cannot run, so nobody can approve it.`);
  return prepared;
}

/**
 * What the loop proposes: the call as it will run, with what was bound or filled in. Its id follows from the run, the call
 * and all of its parameters, so that a proposal made again after a crash is the same one, and another one never is.
 */
function proposal(step: Step): pendingAction.PendingAction {
  const { call, config, state, now } = step;
  const { tool_call, tool_def } = ready(call);
  const { tool_name, parameters } = tool_call;
  const context = policyContext(step);
  const shown = call.preview ?? { tool_name, parameters: redact(parameters, tool_def) };
  const identity = canonicalJson.sha256(
    canonicalJson.text([
      ...[state.key, call.number, call.id, tool_name],
      canonicalJson.sortedText(salted(config, parameters)),
    ]),
  );
  return pendingAction.fromArray({
    action_id: `action-${identity.slice(0, 32)}`,
    kind: "tool_call",
    summary: summaryOf(shown),
    preview: { description: tool_def.description, ...shown },
    apply_input: { tool_name, tool_call_id: call.id, parameters },
    workspace: workspace.read(context.workspace) ?? null,
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

/** The proposal with the parameters that the model gave, redacted: what was bound from the context is none of its business. */
function asTheModelSeesIt(call: OpenCall, action: pendingAction.PendingAction): pendingAction.PendingAction {
  const applied = snapshotMap(action.apply_input);
  const apply_input = seal({ ...applied, parameters: call.exposure.parameters });
  return seal({ ...action, ...shownProposal(call), apply_input });
}

/** What anybody may see of a call that waits for a yes. Whoever decides opens the whole of it. */
export function shownProposal(call: OpenCall): { readonly summary: string; readonly preview: JsonMap } {
  const { prepared, name, exposure } = call;
  const tool_name = prepared.ready ? prepared.tool_call.tool_name : name;
  const preview = seal({ tool_name, parameters: exposure.parameters });
  return { summary: summaryOf(preview), preview };
}

/** One line for the person who decides; the preview has the whole. */
function summaryOf({ tool_name, parameters }: JsonMap): string {
  const line = `Run ${tool_name} ${JSON.stringify(parameters)}`;
  if (line.length <= LONGEST_SUMMARY) return line;
  // A character of two halves is not cut in the middle.
  return `${line.slice(0, LONGEST_SUMMARY - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

const LONGEST_SUMMARY = 200;

function creatorOf({ acting_user_id }: JsonMap): string | null {
  return typeof acting_user_id === "number" && acting_user_id > 0 ? `user:${acting_user_id}` : null;
}

/** True while the call waits for an approval that the loop itself asked for. */
export function isProposed(call: OpenCall): boolean {
  return call.policy === "preview" && !call.approved && call.result === null;
}

/** True when the call needs nobody's yes, or has it. The call is kept sealed; where the run stands is not. */
export function mayRun({ policy, approved }: OpenCall): boolean {
  return policy === "direct" || approved;
}

/** Takes a call back from where calls run: only whoever wrote past us can have put it there. */
export function askFirst(step: Step): undefined {
  step.record({ type: "effect.released" }, step.call.result ? "call.settle" : "call.approve");
}

/** The name of the request that the loop itself made for the open call; undefined where it made none. */
export function proposedRequest({ call, run: { approval } }: Working): string | undefined {
  if (!call || !isProposed(call) || !isMap(approval?.payload)) return undefined;
  return String(approval.payload.action_id);
}

/**
 * Runs the call if it was accepted and may still run, with other parameters if whoever accepted it gave some. Anything
 * else than that word is a no.
 */
export function takeDecision(step: Step, arrived: Outcome): undefined {
  const { call, config } = step;
  const answer = "returned" in arrived && isMap(arrived.returned) ? arrived.returned : {};
  if (answer.decision !== "accepted") return returnResult(step, rejectedByPerson(call.name, answer.reason));
  const { tool_call: proposed } = ready(call);
  const tool_call = isMap(answer.parameters)
    ? seal({ ...proposed, parameters: snapshotMap(answer.parameters) })
    : proposed;
  // The decision may come days later, to a version of the agent that declares the tool otherwise, or no more.
  const tool_def = Object.hasOwn(config.tools, tool_call.tool_name) ? config.tools[tool_call.tool_name] : undefined;
  if (!tool_def) return returnResult(step, toolResult.notFound(call.name));
  const prepared = seal({ ready: true, tool_call, tool_def } as const);
  const edited = tool_call !== proposed && { edited: true, exposure: expose(tool_call.parameters, tool_def) };
  const { to, call: approved } = afterApproval(step, { ...call, prepared, ...edited });
  step.record({ type: "call.approved", call: approved.number }, to, [{ to: "call", value: approved }]);
}
