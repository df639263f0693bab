// Two sources of pending actions, seen as one: merged by when they were stored, and counted together.
import type { ActionCount } from "../backend/action-store.ts";
import { seal } from "../contracts/json.ts";
import { comparePlaces, type ListPlace } from "../contracts/list-place.ts";
import type { PendingAction } from "../contracts/trust/pending-action.ts";
import type { PendingActionSummary } from "../contracts/trust/pending-action-store.ts";

/** A pending action and where it stands in the queue. */
export type PlacedAction = { readonly place: ListPlace; readonly action: PendingAction };

/**
 * One list of both, each of which is in the order of the queue already. What comes first depends on nothing that comes later,
 * so a page can be made of two beginnings.
 */
export function mergePlaced(own: readonly PlacedAction[], others: readonly PlacedAction[]): readonly PlacedAction[] {
  const merged: PlacedAction[] = [];
  let next = 0;
  for (const each of own) {
    for (let other = others[next]; other && comparePlaces(other.place, each.place) < 0; other = others[next]) {
      merged.push(other);
      next++;
    }
    merged.push(each);
  }
  return [...merged, ...others.slice(next)];
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
