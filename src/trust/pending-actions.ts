// The queue of pending actions: what packages, hosts and conversations in memory propose waits here for a decision, and
// stays for audit. What threads wait for is kept with them, and is shown and decided through the same queue.
import type { StoredAction } from "../backend/action-store.ts";
import { wholeNumber } from "../contracts/coerce.ts";
import { HoldfastError, holdfastError } from "../contracts/error.ts";
import { emptyMap, type UnknownMap } from "../contracts/json.ts";
import { type ListPlace, readPlace, writePlace } from "../contracts/list-place.ts";
import { isName } from "../contracts/storable-name.ts";
import * as approvalDecision from "../contracts/trust/approval-decision.ts";
import type { PendingAction } from "../contracts/trust/pending-action.ts";
import * as pendingAction from "../contracts/trust/pending-action.ts";
import {
  DELETED_BY,
  type PendingActionFilters,
  type PendingActionResolution,
  type PendingActionStore,
  type PendingActionSummary,
} from "../contracts/trust/pending-action-store.ts";
import { readFields } from "../contracts/trust/record-fields.ts";
import { quietly } from "../contracts/when-ready.ts";
import type { ActionDecision, ActionObserver } from "./action-handler.ts";
import { actionOf, listedActionOf, queryOf, rowOf, sealedOutcome, writtenTime } from "./action-record.ts";
import { addSummaries, mergePlaced, type PlacedAction, summaryOfCounts } from "./action-views.ts";
import { checkIndexable, checkStorable, invalidArgument, readText } from "./check-input.ts";
import { type ResolvingHost, readDecision, readResolver, resolveAction } from "./resolve-action.ts";

/** Another keeper of pending actions, such as the threads: it decides what is its own. */
export interface OtherActions {
  /** In the order of their places. */
  list(filters: PendingActionFilters, page: ActionsBehind): Promise<readonly PlacedAction[]>;
  get(actionId: string, includeResolved: boolean): Promise<PendingAction | null | undefined>;
  summary(filters: PendingActionFilters): Promise<PendingActionSummary>;
  resolve(actionId: string, decision: Required<ActionDecision>): Promise<unknown>;
}

/** So many of those behind a place; all there are unless given. */
export type ActionsBehind = { readonly limit?: number; readonly after?: ListPlace };

export type ActionsPage = {
  readonly actions: readonly PendingAction[];
  /** What comes behind them is found after this; absent when there is nothing more. */
  readonly next?: string;
};

/** What somebody found out about an action whose process died while it was applied. */
export type ActionSettlement = Omit<PendingActionResolution, "decision"> & {
  /** True ends the action as it was decided; false lets it be decided again. */
  readonly applied: boolean;
};

export interface PendingActions extends PendingActionStore {
  store(action: PendingAction): Promise<boolean>;
  get(actionId: string, includeResolved?: boolean): Promise<PendingAction | null>;
  /** In the order in which they were first stored, wherever they are kept; those of one time by id. */
  list(filters?: PendingActionFilters): Promise<readonly PendingAction[]>;
  /**
   * So many of the same list, behind the place that the page before told of as `next`. What is decided between two pages
   * moves nothing: each action that stays is on one of them. What is no place has nothing behind it.
   */
  page(filters: PendingActionFilters, page: { readonly limit: number; readonly after?: string }): Promise<ActionsPage>;
  summary(filters?: PendingActionFilters): Promise<PendingActionSummary>;
  recordResolution(actionId: string, resolution: PendingActionResolution): Promise<boolean>;
  expire(before?: string): Promise<number>;
  delete(actionId: string): Promise<boolean>;
  /**
   * Decides an action: asks its handler whether that is allowed, and then has it applied, once, whoever else decides at
   * the same time. Throws `pending_action_not_found` and what `resolveAction` throws.
   */
  resolve(actionId: string, decision: ActionDecision): Promise<unknown>;
  /** Says what became of an action that stayed claimed; false when it is not. */
  settleClaimed(actionId: string, settlement: ActionSettlement): Promise<boolean>;
}

export type PendingActionsOptions = Omit<ResolvingHost, "now" | "onResolved"> & {
  readonly observers?: readonly ActionObserver[];
  /** What actions expire by, and the time that is noted when they end. */
  readonly now?: () => Date;
  readonly others?: OtherActions | undefined;
  /**
   * Shows in lists too what applying an action takes, for a host that hands them to nobody else. Unless given, only `get`
   * opens that.
   */
  readonly opensLists?: boolean;
};

export function createPendingActions(options: PendingActionsOptions): PendingActions {
  const { store, sealing, observers = [], now = () => new Date(), others, opensLists = false } = options;

  function tell(report: (observer: ActionObserver) => unknown): void {
    for (const observer of observers) quietly(() => report(observer));
  }

  async function read(actionId: string): Promise<PendingAction | undefined> {
    const row = await find(actionId);
    return row && actionOf(row, sealing);
  }

  /** By then the action has ended, so that not even a database that fails may make it look otherwise. */
  async function onResolved(actionId: string): Promise<void> {
    if (observers.length === 0) return;
    const action = (await quietly(() => read(actionId))) as PendingAction | undefined;
    const { status, resolver } = action ?? {};
    if (!action || !resolver || (status !== "accepted" && status !== "rejected")) return;
    tell((observer) => observer.onResolved?.(action, status, resolver));
  }

  /** Ends a pending action that is claimed as it was read, or by nobody, if that makes a valid record. */
  async function end(row: StoredAction, change: Partial<PendingAction>): Promise<boolean> {
    if (pendingAction.isTerminal(row.status)) return false;
    const ended = pendingAction.fromArray({
      ...actionOf({ ...row, claim: null }, sealing),
      resolved_at: now().toISOString(),
      ...change,
    });
    const { status, resolver, resolved_at } = ended;
    if (status === "pending" || resolved_at === null) return false;
    const isEnded = await store.end(row.action_id, row.claim?.claim_id ?? null, {
      status,
      resolver,
      resolved_at: writtenTime(resolved_at),
      outcome: sealedOutcome(row.action_id, ended, sealing),
    });
    if (isEnded) await onResolved(row.action_id);
    return isEnded;
  }

  async function expire(before?: string): Promise<number> {
    const boundary = writtenTime(before == null ? now().toISOString() : readText("before", before));
    // What names no moment is not after any.
    const expired = boundary.us === null ? [] : await store.expire(boundary);
    for (const row of expired) {
      const action = actionOf(row, sealing);
      tell((observer) => observer.onExpired?.(action));
    }
    return expired.length;
  }

  function placed(row: StoredAction): PlacedAction {
    const place = { created_at: row.stored_at, id: row.action_id };
    return { place, action: (opensLists ? actionOf : listedActionOf)(row, sealing) };
  }

  /** A part of the queue in its order. */
  async function queued(given: PendingActionFilters, behind: ActionsBehind): Promise<readonly PlacedAction[]> {
    const { offset: from, limit: _, ...filters } = given;
    const query = queryOf(filters);
    if (!query) return [];
    const offset = counted(from) ?? 0;
    if (!others) return (await store.list(query, { ...behind, offset })).map(placed);
    const most = behind.limit === undefined ? undefined : counted(offset + behind.limit);
    const beginning = { ...behind, ...(most !== undefined && { limit: most }) };
    const [own, rest] = await Promise.all([store.list(query, beginning), others.list(filters, beginning)]);
    return mergePlaced(own.map(placed), rest).slice(offset, most);
  }

  /** What is stored under an id. Under some nothing can be. */
  async function find(actionId: string): Promise<StoredAction | undefined> {
    return isName(readText("actionId", actionId)) ? await store.get(actionId) : undefined;
  }

  return {
    async store(given) {
      const action = readAction(given);
      // An id that stands for something else already must not hide it.
      if (await others?.get(action.action_id, true)) return false;
      const isStored = await store.put(rowOf(action, sealing));
      if (isStored) tell((observer) => observer.onStored?.(action));
      return isStored;
    },

    async get(actionId, includeResolved = false) {
      const action = await read(actionId);
      if (!action) return (isName(actionId) && (await others?.get(actionId, includeResolved))) || null;
      return includeResolved || !pendingAction.isTerminal(action.status) ? action : null;
    },

    async list(given) {
      const filters = readFilters(given);
      const limit = counted(filters.limit);
      return (await queued(filters, limit === undefined ? {} : { limit })).map(({ action }) => action);
    },

    async page(given, { limit, after: text }) {
      const after = text === undefined ? undefined : readPlace(text);
      if (text !== undefined && !after) return { actions: [] };
      // One more than fits tells that there is more.
      const found = await queued(readFilters(given), { limit: limit + 1, ...(after && { after }) });
      const shown = found.slice(0, limit);
      const last = found.length > limit ? shown.at(-1) : undefined;
      return { actions: shown.map(({ action }) => action), ...(last && { next: writePlace(last.place) }) };
    },

    async summary(given) {
      const filters = readFilters(given);
      const query = queryOf(filters);
      const own = summaryOfCounts(query ? await store.count(query) : []);
      return query && others ? addSummaries(own, await others.summary(filters)) : own;
    },

    async recordResolution(actionId, resolution) {
      const { decision, resolver, ...came } = readResolution(resolution);
      const { value } = approvalDecision.fromString(decision);
      const row = await find(actionId);
      if (!row || row.claim) return false;
      return await end(row, { status: value, resolver: readResolver(resolver), ...outcomeOf(came) });
    },

    expire,

    async delete(actionId) {
      const row = await find(actionId);
      if (!row || row.claim) return false;
      return await end(row, { status: "deleted", resolver: DELETED_BY });
    },

    async resolve(actionId, given) {
      const decision = readDecision(given);
      const row = await find(actionId);
      if (!row) {
        if (others && isName(actionId) && (await others.get(actionId, true)))
          return await others.resolve(actionId, decision);
        throw holdfastError("pending_action_not_found", `There is no pending action "${actionId}".`);
      }
      try {
        return await resolveAction(row, decision, { ...options, now, onResolved });
      } catch (thrown) {
        // What is found to be late is noted as such.
        if (thrown instanceof HoldfastError && thrown.code === "pending_action_expired") await expire();
        throw thrown;
      }
    },

    async settleClaimed(actionId, settlement) {
      const { applied, resolver, ...came } = readResolution(settlement);
      if (typeof applied !== "boolean") throw invalidArgument("applied must be true or false");
      const row = await find(actionId);
      if (!row?.claim) return false;
      if (!applied) return await store.release(actionId, row.claim.claim_id);
      return await end(row, { status: row.claim.decision, resolver: readResolver(resolver), ...outcomeOf(came) });
    },
  };
}

/** Throws `invalid_ai_pending_action`, also for what could not be found again as it was given. */
function readAction(given: unknown): PendingAction {
  const action = pendingAction.fromArray(given);
  // What may be any text is kept as JSON, and can hold whatever it likes.
  const { summary, preview, apply_input, resolution_result, resolution_error, ...named } = action;
  checkStorable({ ...named, ...action.workspace }, invalid);
  checkIndexable("action_id", [action.action_id], invalid);
  return action;
}

function readFilters(given: unknown): PendingActionFilters {
  return readFields(given ?? {}, (_, cause) => invalidArgument("the filters must be a map that can be read", cause));
}

/** A number of actions, as far as one can count. */
function counted(value: unknown): number | undefined {
  const number = wholeNumber(value, 0);
  return number === undefined ? undefined : Math.min(number, Number.MAX_SAFE_INTEGER);
}

function readResolution(given: unknown): UnknownMap {
  return readFields(given, (_, cause) => invalidArgument("what is noted must be a map that can be read", cause));
}

/** As the record takes it; what is wrong with it is told by the record. */
function outcomeOf({ result = null, error = null, metadata = emptyMap }: UnknownMap): Partial<PendingAction> {
  return {
    resolution_result: result,
    resolution_error: error,
    resolution_metadata: metadata,
  } as Partial<PendingAction>;
}

function invalid(detail: string, cause?: unknown) {
  return holdfastError("invalid_ai_pending_action", detail, cause);
}
