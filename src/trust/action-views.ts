// Two sources of pending actions, seen as one: merged by their creation, and counted together.
import type { ActionCount } from "../backend/action-store.ts";
import { seal } from "../contracts/json.ts";
import type { PendingAction } from "../contracts/trust/pending-action.ts";
import { instant, type PendingActionSummary } from "../contracts/trust/pending-action-store.ts";

/**
 * One list of both, each in its own order, the older first. What comes first depends on nothing that comes later, so a
 * page can be made of two beginnings.
 */
export function mergeByCreation(
  own: readonly PendingAction[],
  others: readonly PendingAction[],
): readonly PendingAction[] {
  const merged: PendingAction[] = [];
  let next = 0;
  for (const action of own) {
    for (let other = others[next]; other && isOlder(other, action); other = others[next]) {
      merged.push(other);
      next++;
    }
    merged.push(action);
  }
  return [...merged, ...others.slice(next)];
}

function isOlder(one: PendingAction, other: PendingAction): boolean {
  return instant(one.created_at) < instant(other.created_at);
}

export function summaryOfCounts(counts: readonly ActionCount[]): PendingActionSummary {
  return seal({
    total: counts.reduce((total, { count }) => total + count, 0),
    by_status: added(counts.map(({ status, count }) => [status, count])),
    by_kind: added(counts.map(({ kind, count }) => [kind, count])),
  });
}

export function addSummaries(one: PendingActionSummary, other: PendingActionSummary): PendingActionSummary {
  const both = (field: "by_status" | "by_kind") =>
    added([...Object.entries(one[field]), ...Object.entries(other[field])]);
  return seal({ total: one.total + other.total, by_status: both("by_status"), by_kind: both("by_kind") });
}

function added(counts: readonly (readonly [name: string, count: number])[]): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count);
  return seal(Object.fromEntries(sums));
}
