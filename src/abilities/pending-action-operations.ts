// The operations on pending actions, for whoever calls: what threads have proposed and the caller may see, and everything
// there is for who manages threads. What applying an action takes is shown to nobody: it is not applied at a door.
import { z } from "zod";
import { wholeNumber } from "../contracts/coerce.ts";
import { HoldfastError, holdfastError } from "../contracts/error.ts";
import { REDACTED } from "../contracts/tools/sensitive-keys.ts";
import type { PendingAction } from "../contracts/trust/pending-action.ts";
import { matches, type PendingActionFilters, summaryOf } from "../contracts/trust/pending-action-store.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import { lenientInput } from "./lenient-input.ts";
import type { Operation } from "./operation.ts";
import * as pendingActions from "./pending-actions.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { anyId, jsonMap } from "./shapes.ts";
import { type RequestsPage, visibleRequests } from "./visible-requests.ts";

const statuses = ["pending", "accepted", "rejected", "expired", "deleted"] as const;

const filters = z
  .object({
    status: z.enum(statuses).optional(),
    ...optionalTexts("kind", "workspace_type", "workspace_id", "agent", "creator", "resolver"),
    ...optionalTexts("created_after", "created_before", "resolved_after", "resolved_before"),
    limit: z.int().min(0).optional().meta({ description: "500 at most." }),
    offset: z.int().min(0).optional(),
  })
  .optional();

const counts = z.record(z.string(), z.int());

/** How many are listed at once. */
const MOST_LISTED = 500;

/** How many pages of those that a caller may see are looked through for one list. */
const PAGES = 10;
const PAGE = 100;

export function pendingActionOperations(workbench: Workbench): readonly Operation[] {
  const { define } = workbench;
  const hostFor = visibleActions(workbench);

  return [
    define({
      name: "agents/list-pending-actions",
      title: "List pending actions",
      description: "Lists the actions that match the filters, in whatever status.",
      input: lenientInput(z.object({ filters })),
      output: z.object({ actions: z.array(jsonMap) }),
      effect: "read",
      capability: "threads.read",
      execute: async (input, { principal }) => plain(await pendingActions.list(input, hostFor(principal))),
    }),

    define({
      name: "agents/summary-pending-actions",
      title: "Count pending actions",
      description: "Counts the actions that match the filters, by status and by kind.",
      input: lenientInput(z.object({ filters })),
      output: z.object({ total: z.int(), by_status: counts, by_kind: counts }),
      effect: "read",
      capability: "threads.read",
      execute: async (input, { principal }) => plain(await pendingActions.summary(input, hostFor(principal))),
    }),

    define({
      name: "agents/get-pending-action",
      title: "Look at a pending action",
      description: "One action, or null; one that has ended only when that is asked for.",
      input: lenientInput(z.object({ action_id: anyId, include_resolved: z.boolean().optional() })),
      output: z.object({ action: jsonMap.nullable() }),
      effect: "read",
      capability: "threads.read",
      execute: async (input, { principal }) => plain(await pendingActions.get(input, hostFor(principal))),
    }),

    define({
      name: "agents/resolve-pending-action",
      title: "Decide a pending action",
      description: "Accepts or rejects an action, if it is the caller's to decide. Who decides is whoever calls.",
      input: lenientInput(
        z.object({
          action_id: anyId,
          decision: z.enum(["accepted", "rejected"]),
          payload: jsonMap
            .optional()
            .meta({ writeOnly: true, description: "A reason, other parameters, or remember." }),
          context: jsonMap.optional(),
        }),
      ),
      output: z.object({ action_id: z.string(), decision: z.enum(["accepted", "rejected"]), result: z.json() }),
      effect: "write",
      idempotent: true,
      capability: "approvals.decide",
      async execute(input, { principal }) {
        const named = { ...input, resolver: resolverOf(principal) };
        return plain(await pendingActions.resolve(named, hostFor(principal), { principal }));
      },
    }),
  ];
}

type Decision = { readonly payload: { readonly remember?: unknown } };

type Host = Parameters<typeof pendingActions.list>[1] & Parameters<typeof pendingActions.resolve>[1];

/** The queue as a caller sees it. */
function visibleActions(workbench: Workbench): (principal: Principal) => Host {
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

  return (principal) => {
    /** Those that the caller may see, as far as one call looks: `most` of them. */
    async function found({ limit, offset, ...wanted }: PendingActionFilters, most: number) {
      const status = wanted.status === "pending" || wanted.status === "expired" ? { status: wanted.status } : {};
      const actions: PendingAction[] = [];
      let after: string | null = null;
      for (let page = 0; page < PAGES && actions.length < most; page += 1) {
        const place: { after?: string } = after === null ? {} : { after };
        const asked: RequestsPage = await visible.list(
          { kind: "approval", ...status, ...place, limit: PAGE },
          principal,
        );
        const seen = await Promise.all(asked.requests.map(({ id }) => requests.pendingAction(id)));
        actions.push(...seen.map(hidden).filter((action) => matches(action, wanted)));
        after = asked.next;
        if (after === null) break;
      }
      return actions;
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
          const from = wholeNumber(given.offset, 0) ?? 0;
          const limit = Math.min(wholeNumber(given.limit, 0) ?? MOST_LISTED, MOST_LISTED);
          if (!(await manages(principal))) return (await found(given, from + limit)).slice(from, from + limit);
          const here = filtersHere(given);
          return here ? (await approvals.list({ ...here, limit })).map(hidden) : [];
        },
        async summary(given = {}) {
          if (!(await manages(principal))) return summaryOf(await found(given, Number.POSITIVE_INFINITY));
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

/** Who decides, as it is noted: nobody else can be named. */
function resolverOf({ acting_user_id, auth_source }: Principal): string {
  return acting_user_id > 0 ? `user:${acting_user_id}` : auth_source;
}

function optionalTexts<Field extends string>(...fields: readonly Field[]) {
  return Object.fromEntries(fields.map((field) => [field, anyId.optional()])) as Record<
    Field,
    z.ZodOptional<z.ZodString>
  >;
}
