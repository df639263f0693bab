// The queue of pending actions as a caller sees it: what threads have proposed and the caller may see, and everything there is
// for who manages threads. What applying an action takes is shown to nobody.
import { wholeNumber } from "../contracts/coerce.ts";
import { HoldfastError, holdfastError } from "../contracts/error.ts";
import { writePlace } from "../contracts/list-place.ts";
import { REDACTED } from "../contracts/tools/sensitive-keys.ts";
import type { PendingAction } from "../contracts/trust/pending-action.ts";
import { matches, type PendingActionFilters, summaryOf } from "../contracts/trust/pending-action-store.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { Request } from "../threads/requests/requests.ts";
import type * as pendingActions from "./pending-actions.ts";
import type { Workbench } from "./reach.ts";
import { type RequestsPage, visibleRequests } from "./visible-requests.ts";

/** How many are listed at once. */
const MOST_LISTED = 500;

/** How many pages of those that a caller may see are looked through for one list. */
const PAGES = 10;
const PAGE = 100;

type Decision = { readonly payload: { readonly remember?: unknown } };

type Host = Parameters<typeof pendingActions.list>[1] & Parameters<typeof pendingActions.resolve>[1];

/** Where a list goes on, and who is told where the next page does, if there is more. */
export type ActionsPage = { readonly after?: string; onNext(place: string): void };

export function visibleActions(workbench: Workbench): (principal: Principal, page?: ActionsPage) => Host {
  const { approvals, requests } = workbench.runtime;
  const { managesThreads: manages } = workbench.reach;
  const visible = visibleRequests(workbench);

  async function isVisible(actionId: string, principal: Principal): Promise<boolean> {
    try {
      return (await visible.get(actionId, principal)).kind === "approval";
    } catch (thrown) {
      if (!(thrown instanceof HoldfastError) || thrown.code !== "request_not_found") throw thrown;
    }
    // What no thread has proposed is for those who manage them, where they are.
    const action = (await manages(principal)) ? await approvals.get(actionId, true) : null;
    return action !== null && isHere(action, principal);
  }

  /** Throws why it is not the caller's to decide. */
  async function checkDecider(actionId: string, { payload }: Decision, principal: Principal): Promise<void> {
    try {
      await visible.toAnswer(actionId, principal, { remember: payload.remember });
    } catch (thrown) {
      // No thread has proposed it.
      if (!(thrown instanceof HoldfastError) || thrown.code !== "request_not_found") throw thrown;
    }
  }

  return (principal, page) => {
    /** Those that the caller may see, as far as one call looks: so many, behind the first `offset` of them. */
    async function found({ offset, limit: _, ...wanted }: PendingActionFilters, limit: number) {
      const status = wanted.status === "pending" || wanted.status === "expired" ? { status: wanted.status } : {};
      const actions: PendingAction[] = [];
      // Those to be passed were passed before the first page.
      let passed = page?.after === undefined ? (wholeNumber(offset, 0) ?? 0) : 0;
      let after = page?.after;
      let last: Request | undefined;
      for (let looked = 0; looked < PAGES; looked += 1) {
        const place = after === undefined ? {} : { after };
        const query = { kind: "approval", ...status, ...place, limit: PAGE } as const;
        const asked: RequestsPage = await visible.list(query, principal);
        const seen = await Promise.all(asked.requests.map(({ id }) => requests.pendingAction(id)));
        for (const [index, action] of seen.map(hidden).entries()) {
          if (!matches(action, wanted) || passed-- > 0) continue;
          // One more than fits tells that there is more.
          if (actions.length >= limit) return { actions, next: last && writePlace(last) };
          actions.push(action);
          last = asked.requests[index];
        }
        if (asked.next === null) return { actions };
        after = asked.next;
      }
      return { actions, next: after };
    }

    /** The same of all there are, for who manages threads. */
    async function foundAll(given: PendingActionFilters, limit: number) {
      const here = filtersHere(given);
      if (!here) return { actions: [] };
      const { offset: _, ...behind } = here;
      const { actions, next } =
        page?.after === undefined
          ? await approvals.page(here, { limit })
          : await approvals.page(behind, { limit, after: page.after });
      return { actions: actions.map(hidden), next };
    }

    /** The filters of whoever sees everything, where he is; undefined when he asks about another workspace. */
    function filtersHere(given: PendingActionFilters): PendingActionFilters | undefined {
      const { workspace_id: own } = principal;
      if (own === null) return given;
      return given.workspace_id === undefined || given.workspace_id === own
        ? { ...given, workspace_id: own }
        : undefined;
    }

    return {
      store: {
        async get(actionId, includeResolved) {
          if (!(await isVisible(actionId, principal))) return null;
          const action = await approvals.get(actionId, includeResolved);
          return action && hidden(action);
        },
        async list(given = {}) {
          const limit = Math.min(wholeNumber(given.limit, 0) ?? MOST_LISTED, MOST_LISTED);
          const { actions, next } = await ((await manages(principal)) ? foundAll : found)(given, limit);
          if (next !== undefined) page?.onNext(next);
          return actions;
        },
        async summary(given = {}) {
          if (!(await manages(principal))) return summaryOf((await found(given, Number.POSITIVE_INFINITY)).actions);
          const here = filtersHere(given);
          return here ? await approvals.summary(here) : summaryOf([]);
        },
      },
      resolver: {
        async resolve(actionId, decision) {
          if (await isVisible(actionId, principal)) {
            await checkDecider(actionId, decision, principal);
            return await approvals.resolve(actionId, decision);
          }
          throw holdfastError("pending_action_not_found", `There is no pending action "${actionId}".`);
        },
      },
    };
  };
}

function isHere({ workspace }: PendingAction, { workspace_id }: Principal): boolean {
  return workspace_id === null || workspace?.workspace_id === workspace_id;
}

function hidden(action: PendingAction): PendingAction {
  return { ...action, apply_input: REDACTED };
}
