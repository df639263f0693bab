// What threads have proposed and wait to have decided, as pending actions in the queue of all of them.
import type { StoredRequest } from "../../backend/request-store.ts";
import type { UnknownMap } from "../../contracts/json.ts";
import type { ListPlace } from "../../contracts/list-place.ts";
import type { PendingAction } from "../../contracts/trust/pending-action.ts";
import { matches, type PendingActionFilters, summaryOf } from "../../contracts/trust/pending-action-store.ts";
import type { PlacedAction } from "../../trust/action-views.ts";
import type { OtherActions } from "../../trust/pending-actions.ts";
import type { Host } from "../host.ts";
import { pendingActionOf } from "./pending-action-view.ts";
import type { Requests } from "./requests.ts";

const PAGE = 200;

export function createApprovalQueue({ stores: { requests: store } }: Host, requests: Requests): OtherActions {
  /** Page by page, because the audit of a year does not fit where a page does. */
  async function* matching(filters: PendingActionFilters, from?: ListPlace): AsyncGenerator<PlacedAction> {
    const status = filters.status === "pending" || filters.status === "expired" ? { status: filters.status } : {};
    for (let after = from; ; ) {
      const page: readonly StoredRequest[] = await store.list({
        ...{ kind: "approval", limit: PAGE, ...status },
        ...(after && { behind: after }),
      });
      for (const request of page) {
        after = { created_at: request.created_at, id: request.id };
        // Nothing is opened for a list: what applying an action takes is for whoever decides it.
        const action = pendingActionOf(request, null);
        if (matches(action, filters)) yield { place: after, action };
      }
      if (page.length < PAGE) return;
    }
  }

  return {
    async list(filters, { limit = Number.POSITIVE_INFINITY, after }) {
      const found: PlacedAction[] = [];
      if (limit <= 0) return found;
      for await (const placed of matching(filters, after)) {
        found.push(placed);
        if (found.length >= limit) break;
      }
      return found;
    },
    async get(actionId, includeResolved) {
      const request = await store.get(actionId);
      if (request?.kind !== "approval" || (request.status !== "pending" && !includeResolved)) return null;
      return await requests.pendingAction(actionId);
    },
    async summary(filters) {
      const actions: PendingAction[] = [];
      for await (const { action } of matching(filters)) actions.push(action);
      return summaryOf(actions);
    },
    async resolve(actionId, { decision, resolver, payload, context }) {
      const { reason, parameters, remember } = payload;
      const { request } = await requests.submit(
        actionId,
        {
          ...{ decision, by: resolver },
          ...(typeof reason === "string" && { reason }),
          // What is no map of parameters is refused, and not taken for an approval of the call as it is.
          ...(parameters != null && { parameters }),
          ...(remember != null && { remember }),
        } as Parameters<Requests["submit"]>[1],
        context.principal == null ? {} : { principal: context.principal as UnknownMap },
      );
      return { request_id: request.id, status: request.status };
    },
  };
}
