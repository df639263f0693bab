// Where pending actions wait for a decision and stay for audit: the port a host implements, and a store for one process
// and for tests.
import { wholeNumber } from "../coerce.ts";
import { isMap, type Json, type JsonMap, seal } from "../json.ts";
import type { ApprovalDecision } from "./approval-decision.ts";
import * as approvalDecision from "./approval-decision.ts";
import { fromArray, isTerminal, type PendingAction, type PendingActionStatus } from "./pending-action.ts";

/** Which actions to list or count. Both ends of a date range are included. */
export type PendingActionFilters = {
  readonly status?: PendingActionStatus;
  readonly kind?: string;
  readonly workspace_type?: string;
  readonly workspace_id?: string;
  readonly agent?: string;
  readonly creator?: string;
  readonly resolver?: string;
  readonly created_after?: string;
  readonly created_before?: string;
  readonly resolved_after?: string;
  readonly resolved_before?: string;
  /** A page of the list; a summary counts all that match. */
  readonly limit?: number;
  readonly offset?: number;
};

export type PendingActionSummary = {
  readonly total: number;
  readonly by_status: { readonly [Status in PendingActionStatus]?: number };
  readonly by_kind: { readonly [kind: string]: number };
};

/** How an action was decided, and by whom. */
export type PendingActionResolution = {
  readonly decision: ApprovalDecision["value"];
  readonly resolver: string;
  readonly result?: Json;
  readonly error?: string | null;
  readonly metadata?: JsonMap;
};

type Awaitable<Value> = Value | Promise<Value>;

/**
 * An action leaves pending once: of any number of concurrent calls that decide, expire or delete it exactly one does,
 * and the record stays. Lists and summaries include what has ended unless they are filtered.
 */
export interface PendingActionStore {
  /** Stores an action, in place of a pending one with its id; false when one stands there that was decided. */
  store(action: PendingAction): Awaitable<boolean>;
  /** The action, if it is pending; with `includeResolved` also when it has ended. */
  get(actionId: string, includeResolved?: boolean): Awaitable<PendingAction | null | undefined>;
  /** The actions that match, in the order they were first stored. */
  list(filters?: PendingActionFilters): Awaitable<readonly PendingAction[]>;
  summary(filters?: PendingActionFilters): Awaitable<PendingActionSummary>;
  /** Ends a pending action with a decision; false when there is none. */
  recordResolution(actionId: string, resolution: PendingActionResolution): Awaitable<boolean>;
  /** Ends the pending actions that expire at this time (by default now) or earlier, and says how many. */
  expire(before?: string): Awaitable<number>;
  /** Withdraws a pending action; false when there is none. */
  delete(actionId: string): Awaitable<boolean>;
}

/** True for what can at least keep an action; a host need not offer the rest to the loop. */
export function isPendingActionStore(value: unknown): value is PendingActionStore {
  return isMap(value) && typeof value.store === "function";
}

/** A deleted action must say through whom, and deleting names nobody. */
export const DELETED_BY = "system";

/** A store in memory: for one process and for tests. It keeps every action it was ever given. */
export function createMemoryPendingActionStore({ now }: { readonly now: () => Date }): PendingActionStore {
  const actions = new Map<string, PendingAction>();

  // Nothing is awaited between the look and the change, which makes the transition atomic.
  function leavePending(actionId: string, change: Partial<PendingAction>): boolean {
    const action = actions.get(actionId);
    if (action === undefined || isTerminal(action.status)) return false;
    actions.set(actionId, fromArray({ ...action, ...change }));
    return true;
  }

  function matching(filters: PendingActionFilters): PendingAction[] {
    return [...actions.values()].filter((action) => matches(action, filters));
  }

  return {
    store(value) {
      const action = fromArray(value);
      const known = actions.get(action.action_id);
      if (known && isTerminal(known.status)) return false;
      actions.set(action.action_id, action);
      return true;
    },
    get(actionId, includeResolved = false) {
      const action = actions.get(actionId);
      return action && (includeResolved || !isTerminal(action.status)) ? action : null;
    },
    list(given) {
      const filters = given ?? {};
      const start = wholeNumber(filters.offset, 0) ?? 0;
      const limit = wholeNumber(filters.limit, 0) ?? Number.POSITIVE_INFINITY;
      return seal(matching(filters).slice(start, start + limit));
    },
    summary(filters) {
      return summaryOf(matching(filters ?? {}));
    },
    recordResolution(actionId, { decision, resolver, result = null, error = null, metadata = {} }) {
      return leavePending(actionId, {
        status: approvalDecision.fromString(decision).value,
        resolved_at: now().toISOString(),
        resolver,
        resolution_result: result,
        resolution_error: error,
        resolution_metadata: metadata,
      });
    },
    expire(before) {
      const boundary = before ?? now().toISOString();
      const due = matching({ status: "pending" }).filter((action) => isWithin(action.expires_at, undefined, boundary));
      for (const { action_id } of due) leavePending(action_id, { status: "expired", resolved_at: boundary });
      return due.length;
    },
    delete: (actionId) =>
      leavePending(actionId, { status: "deleted", resolved_at: now().toISOString(), resolver: DELETED_BY }),
  };
}

/** How many there are, of each status and each kind. */
export function summaryOf(actions: readonly PendingAction[]): PendingActionSummary {
  return seal({
    total: actions.length,
    by_status: counted(actions.map(({ status }) => status)),
    by_kind: counted(actions.map(({ kind }) => kind)),
  });
}

const exactFilters = ["status", "kind", "agent", "creator", "resolver"] as const;
const workspaceFilters = ["workspace_type", "workspace_id"] as const;

/** True when an action is one of those that are asked for. */
export function matches(action: PendingAction, filters: PendingActionFilters): boolean {
  return (
    exactFilters.every((field) => filters[field] == null || filters[field] === action[field]) &&
    workspaceFilters.every((field) => filters[field] == null || filters[field] === action.workspace?.[field]) &&
    isWithin(action.created_at, filters.created_after, filters.created_before) &&
    isWithin(action.resolved_at, filters.resolved_after, filters.resolved_before)
  );
}

/** True when a time lies in a range, or when there is no range. A time that is absent or unreadable lies in none. */
function isWithin(time: string | null, after: string | undefined, before: string | undefined): boolean {
  if (after == null && before == null) return true;
  const moment = instant(time ?? "");
  return (after == null || moment >= instant(after)) && (before == null || moment <= instant(before));
}

/** Milliseconds since 1970, or NaN for what names no moment. A time without a zone is UTC, wherever this process runs. */
export function instant(time: string): number {
  const hasZone = /(?:Z|GMT|UTC|[+-]\d\d(?::?\d\d)?)$/i.test(time);
  return Date.parse(hasZone || !time.includes(":") ? time : `${time}Z`);
}

function counted<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  const counts = new Map<Name, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return seal(Object.fromEntries(counts) as Record<Name, number>);
}
