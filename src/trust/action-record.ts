// From a pending action to what the database keeps of it, and back: what applying it takes and what it came to are sealed,
// and the first is erased when the action has ended.
import type { ActionQuery, NewAction, StoredAction, WrittenTime } from "../backend/action-store.ts";
import { emptyMap, isEmpty, type Json, type JsonMap } from "../contracts/json.ts";
import { isStorable } from "../contracts/storable-name.ts";
import { REDACTED } from "../contracts/tools/sensitive-keys.ts";
import type { PendingAction } from "../contracts/trust/pending-action.ts";
import * as pendingAction from "../contracts/trust/pending-action.ts";
import { instant, type PendingActionFilters } from "../contracts/trust/pending-action-store.ts";
import type { ActionOutcome, ActionSealing } from "./action-handler.ts";

const applyInputOf = (actionId: string) => `apply_input of pending action ${actionId}`;
const outcomeOf = (actionId: string) => `outcome of pending action ${actionId}`;

/** What is stored of an action. */
export function rowOf(action: PendingAction, sealing: ActionSealing): NewAction {
  const { action_id, kind, status, workspace, agent, creator, resolver, summary, preview, metadata } = action;
  const isEnded = pendingAction.isTerminal(status);
  return {
    ...{ action_id, kind, status, agent, creator, resolver },
    workspace_type: workspace?.workspace_type ?? null,
    workspace_id: workspace?.workspace_id ?? null,
    created_at: writtenTime(action.created_at),
    expires_at: action.expires_at === null ? null : writtenTime(action.expires_at),
    resolved_at: action.resolved_at === null ? null : writtenTime(action.resolved_at),
    shown: JSON.stringify({ summary, preview, metadata }),
    sealed: isEnded ? null : sealing.seal(JSON.stringify(action.apply_input), applyInputOf(action_id)),
    outcome: sealedOutcome(action_id, action, sealing),
  };
}

/** The action as a list shows it: what applying it takes stays sealed, since it is for whoever decides. */
export function listedActionOf(row: StoredAction, sealing: ActionSealing): PendingAction {
  return actionOf({ ...row, sealed: null }, sealing);
}

/** The action as it stands. One that is claimed says so in its error, since nobody may decide it any more. */
export function actionOf(row: StoredAction, sealing: ActionSealing): PendingAction {
  const { action_id, kind, status, workspace_type, workspace_id, claim } = row;
  const shown = JSON.parse(row.shown) as JsonMap;
  const outcome: JsonMap =
    row.outcome === null ? emptyMap : (JSON.parse(sealing.open(row.outcome, outcomeOf(action_id))) as JsonMap);
  return pendingAction.fromArray({
    ...shown,
    ...{ action_id, kind, status, agent: row.agent, creator: row.creator, resolver: row.resolver },
    apply_input:
      row.sealed === null ? REDACTED : (JSON.parse(sealing.open(row.sealed, applyInputOf(action_id))) as Json),
    workspace: workspace_type === null ? null : { workspace_type, workspace_id },
    ...{ created_at: row.created_at, expires_at: row.expires_at, resolved_at: row.resolved_at },
    ...outcome,
    ...(claim && {
      resolver: claim.claimed_by,
      resolution_error: "pending_action_claimed",
      resolution_metadata: { decision: claim.decision, claimed_at: claim.claimed_at },
    }),
  });
}

/** What an action came to, sealed; null when there is nothing to say. */
export function sealedOutcome(
  actionId: string,
  { resolution_result, resolution_error, resolution_metadata }: ActionOutcome,
  sealing: ActionSealing,
): string | null {
  if (resolution_result === null && resolution_error === null && isEmpty(resolution_metadata)) return null;
  const text = JSON.stringify({ resolution_result, resolution_error, resolution_metadata });
  return sealing.seal(text, outcomeOf(actionId));
}

export function writtenTime(text: string): WrittenTime {
  const milliseconds = instant(text);
  return { text, us: Number.isNaN(milliseconds) ? null : milliseconds * 1_000 };
}

const exactFilters = [
  ...["status", "kind", "workspace_type", "workspace_id"],
  ...["agent", "creator", "resolver"],
] as const satisfies readonly (keyof PendingActionFilters)[];
const dateFilters = {
  created_after: "created_from",
  created_before: "created_to",
  resolved_after: "resolved_from",
  resolved_before: "resolved_to",
} as const satisfies Partial<Record<keyof PendingActionFilters, keyof ActionQuery>>;

/** What the filters ask of the database; undefined when nothing can match them. */
export function queryOf(filters: PendingActionFilters): ActionQuery | undefined {
  const query: Record<string, string | number> = {};
  for (const field of exactFilters) {
    const value: unknown = filters[field];
    if (value == null) continue;
    if (typeof value !== "string" || !isStorable(value)) return undefined;
    query[field] = value;
  }
  for (const [field, bound] of Object.entries(dateFilters)) {
    const value = filters[field as keyof typeof dateFilters];
    if (value == null) continue;
    const { us } = writtenTime(typeof value === "string" ? value : "");
    if (us === null) return undefined;
    query[bound] = us;
  }
  return query;
}
