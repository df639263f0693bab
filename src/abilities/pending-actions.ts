// The operations on pending actions: what an operator lists, counts, reads and decides. They refuse with a coded value;
// only what nobody planned for, such as a store that fails, is thrown. Whoever calls them has checked who may.
import { identifier, truthy } from "../contracts/coerce.ts";
import { HoldfastError } from "../contracts/error.ts";
import { asMap, emptyMap, snapshot, snapshotMap, type UnknownMap } from "../contracts/json.ts";
import {
  isOperationError,
  type OperationError,
  operationError,
  operationErrorOf,
} from "../contracts/operation-error.ts";
import * as approvalDecision from "../contracts/trust/approval-decision.ts";
import type { PendingAction } from "../contracts/trust/pending-action.ts";
import type {
  PendingActionFilters,
  PendingActionStore,
  PendingActionSummary,
} from "../contracts/trust/pending-action-store.ts";
import type { ActionDecision } from "../trust/action-handler.ts";

/** What the operations work with; without it each of them answers that there is none. */
type PendingActionHost = {
  readonly store?: Pick<PendingActionStore, "get" | "list" | "summary"> | undefined;
  /** Looks the action up, checks who may decide it, has it applied and notes that. */
  readonly resolver?: { resolve(actionId: string, decision: Required<ActionDecision>): unknown } | undefined;
};

type Resolution = {
  readonly action_id: string;
  readonly decision: ActionDecision["decision"];
  readonly result: unknown;
};

/** The actions that match the filters, in whatever status. */
export async function list(
  input: unknown,
  { store }: PendingActionHost,
): Promise<{ readonly actions: readonly PendingAction[] } | OperationError> {
  return store ? { actions: await store.list(filtersOf(input)) } : noStore;
}

/** How many match the filters, by status and by kind. */
export async function summary(
  input: unknown,
  { store }: PendingActionHost,
): Promise<PendingActionSummary | OperationError> {
  return store ? await store.summary(filtersOf(input)) : noStore;
}

/** One action, or null; one that has ended only when that is asked for. */
export async function get(
  input: unknown,
  { store }: PendingActionHost,
): Promise<{ readonly action: PendingAction | null } | OperationError> {
  const { action_id, include_resolved } = fieldsOf(input);
  const actionId = identifier(action_id);
  if (actionId === undefined) return missingActionId;
  if (!store) return noStore;
  return { action: (await store.get(actionId, truthy(include_resolved))) ?? null };
}

/**
 * Decides an action. What the resolver refuses is refused here with the same code. The principal who decides is that of
 * the context, which is the host's: whoever writes the input could name anybody there.
 */
export async function resolve(
  input: unknown,
  { resolver }: PendingActionHost,
  { principal: by }: UnknownMap = {},
): Promise<Resolution | OperationError> {
  const given = fieldsOf(input);
  const actionId = identifier(given.action_id);
  if (actionId === undefined) return missingActionId;
  const named = identifier(given.resolver);
  if (named === undefined)
    return operationError("agents_pending_action_missing_resolver", "resolver says who decides.");
  const decision = decisionOf(given.decision);
  if (decision === undefined) {
    return operationError("agents_pending_action_invalid_decision", "decision must be accepted or rejected.");
  }
  if (!resolver) return operationError("agents_pending_action_no_resolver", "Nobody here decides pending actions.");
  try {
    const payload = snapshotMap(given.payload);
    const { principal: _, ...said } = snapshotMap(given.context);
    const context = by == null ? said : { ...said, principal: snapshot(by) };
    const result = await resolver.resolve(actionId, { decision, resolver: named, payload, context });
    return isOperationError(result) ? result : { action_id: actionId, decision, result };
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    return operationErrorOf(thrown, thrown.code);
  }
}

const noStore = operationError("agents_pending_action_no_store", "There is no store for pending actions.");
const missingActionId = operationError(
  "agents_pending_action_missing_action_id",
  "action_id must be a non-empty string.",
);

function fieldsOf(input: unknown): UnknownMap {
  return asMap(input) ?? emptyMap;
}

/** A filter of the wrong kind matches nothing; the store sees to that. */
function filtersOf(input: unknown): PendingActionFilters {
  return snapshotMap(fieldsOf(input).filters) as PendingActionFilters;
}

/** Trimmed here, because people and forms leave spaces; the word itself has to be exact. */
function decisionOf(value: unknown): ActionDecision["decision"] | undefined {
  try {
    return approvalDecision.fromString(identifier(value)).value;
  } catch {
    return undefined;
  }
}
