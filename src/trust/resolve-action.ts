// One decision about one pending action. The order is what makes it safe: permission first, then the claim in the
// database, which only one of any number of decisions gets, then the handler, then what came of it. Whoever dies between
// the claim and the end leaves an action that says so, and that nobody applies a second time.
import type { ActionClaim, ActionStore, StoredAction } from "../backend/action-store.ts";
import { trimmed } from "../contracts/coerce.ts";
import { errorMessage, type HoldfastError, holdfastError } from "../contracts/error.ts";
import { emptyMap, type Json, snapshot, snapshotMap } from "../contracts/json.ts";
import { isOperationError } from "../contracts/operation-error.ts";
import { isStorable } from "../contracts/storable-name.ts";
import * as approvalDecision from "../contracts/trust/approval-decision.ts";
import type { PendingAction } from "../contracts/trust/pending-action.ts";
import { isTerminal } from "../contracts/trust/pending-action.ts";
import { readFields } from "../contracts/trust/record-fields.ts";
import type { ActionDecision, ActionHandler, ActionOutcome, ActionSealing } from "./action-handler.ts";
import { actionOf, sealedOutcome, writtenTime } from "./action-record.ts";
import { invalidArgument } from "./check-input.ts";

export type ResolvingHost = {
  readonly store: ActionStore;
  readonly sealing: ActionSealing;
  /** By the kind of the action. */
  readonly handlers: Readonly<Record<string, ActionHandler>>;
  readonly now: () => Date;
  /** Called once the end of an action is stored; it must not throw. */
  readonly onResolved: (actionId: string) => Promise<void>;
};

/** A decision with all its fields. Throws for a word that is no decision, and for a resolver that is nobody. */
export function readDecision(given: ActionDecision): Required<ActionDecision> {
  const { decision, resolver, payload, context } = readFields(given, (_, cause) =>
    invalidArgument("the decision must be a map that can be read", cause),
  );
  const { value } = approvalDecision.fromString(decision);
  const by = readResolver(resolver);
  return Object.freeze({
    decision: value,
    resolver: by,
    payload: snapshotMap(payload),
    context: snapshotMap(context),
  });
}

/** Who decides, as he is noted. */
export function readResolver(resolver: unknown): string {
  const by = trimmed(resolver);
  if (by !== undefined && isStorable(by)) return by;
  throw holdfastError("invalid_ai_pending_action", "resolver must be a non-empty string of whole characters");
}

/**
 * Decides an action and gives what its handler returned, as JSON. Refuses with `pending_action_ended`, `_claimed`, `_expired`,
 * `_no_handler`, `_denied` or `_changed` before anything has happened; a handler that fails is `pending_action_failed`.
 */
export async function resolveAction(
  row: StoredAction,
  decision: Required<ActionDecision>,
  { store, sealing, handlers, now, onResolved }: ResolvingHost,
): Promise<unknown> {
  const { action_id, kind, revision } = row;
  const refusal = refusalOf(row, now());
  if (refusal) throw refusal;
  const handler = Object.hasOwn(handlers, kind) ? handlers[kind] : undefined;
  if (!handler) throw holdfastError("pending_action_no_handler", `Nobody here decides actions of the kind "${kind}".`);
  const action = actionOf(row, sealing);
  if ((await handler.canResolve(action, decision)) !== true) {
    throw holdfastError("pending_action_denied", `${decision.resolver} may not decide action "${action_id}".`);
  }

  const at = now();
  const claim: ActionClaim = {
    claim_id: crypto.randomUUID(),
    decision: decision.decision,
    claimed_by: decision.resolver,
    claimed_at: at.toISOString(),
  };
  if (!(await store.claim(action_id, revision, claim, at.getTime() * 1_000))) {
    throw await lostClaim(action_id, store, now());
  }
  const applied = await apply(handler, action, decision);
  const isNoted = await store.end(action_id, claim.claim_id, {
    status: decision.decision,
    resolver: decision.resolver,
    resolved_at: writtenTime(now().toISOString()),
    outcome: sealedOutcome(action_id, applied.outcome, sealing),
  });
  if (isNoted) await onResolved(action_id);
  if (applied.failure) throw applied.failure;
  if (!isNoted) {
    throw holdfastError("pending_action_overtaken", `Action "${action_id}" was settled by hand while it was applied.`);
  }
  return applied.returned;
}

/** Why nobody can decide an action any more, or not now; undefined when somebody can. */
function refusalOf(
  { action_id, status, resolver, claim, expires_at }: StoredAction,
  now: Date,
): HoldfastError | undefined {
  if (status === "expired") return expired(action_id);
  if (isTerminal(status)) {
    return holdfastError("pending_action_ended", `Action "${action_id}" was ${status} by ${resolver ?? "nobody"}.`);
  }
  if (claim) {
    const { claimed_by, claimed_at, decision } = claim;
    const detail = `${claimed_by} ${decision} action "${action_id}" at ${claimed_at}, and what came of it is not known yet.`;
    return holdfastError("pending_action_claimed", detail);
  }
  const expires = expires_at === null ? null : writtenTime(expires_at).us;
  return expires !== null && expires <= now.getTime() * 1_000 ? expired(action_id) : undefined;
}

/** Somebody else was faster; with what, the row tells by now. */
async function lostClaim(actionId: string, store: ActionStore, now: Date): Promise<HoldfastError> {
  const row = await store.get(actionId);
  const refusal = row && refusalOf(row, now);
  return refusal ?? holdfastError("pending_action_changed", `Action "${actionId}" was stored anew in the meantime.`);
}

type Applied = { readonly outcome: ActionOutcome; readonly returned?: unknown; readonly failure?: HoldfastError };

async function apply(
  handler: ActionHandler,
  action: PendingAction,
  decision: Required<ActionDecision>,
): Promise<Applied> {
  let returned: unknown;
  try {
    returned = await handler.handle(action, decision);
  } catch (thrown) {
    const detail = `Action "${action.action_id}" was ${decision.decision}, and its handler failed: ${errorMessage(thrown)}`;
    const failure = holdfastError("pending_action_failed", detail, thrown);
    return { outcome: outcomeOf(null, errorMessage(thrown)), failure };
  }
  if (isOperationError(returned))
    return { outcome: outcomeOf(null, `${returned.code}: ${returned.message}`), returned };
  try {
    const result = snapshot(returned);
    return { outcome: outcomeOf(result, null), returned: result };
  } catch (thrown) {
    // It was applied, and that has to be noted, whatever it returned.
    return { outcome: outcomeOf(null, errorMessage(thrown)), returned: null };
  }
}

// An error without words is still an error.
function outcomeOf(resolution_result: Json, error: string | null): ActionOutcome {
  const resolution_error = error === null ? null : (trimmed(error) ?? "It failed without a word.");
  return { resolution_result, resolution_error, resolution_metadata: emptyMap };
}

function expired(actionId: string): HoldfastError {
  return holdfastError("pending_action_expired", `Nobody decided action "${actionId}" in time.`);
}
