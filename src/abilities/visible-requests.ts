// What a caller may know of what threads wait for: what is asked by threads within reach, and approvals that a rule calls
// the caller to decide. What is neither is not there. To answer takes more than to know.
import type { SubjectQuery } from "../backend/subject-store.ts";
import { HoldfastError, holdfastError } from "../contracts/error.ts";
import { comparePlaces, type ListPlace, readPlace, writePlace } from "../contracts/list-place.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import { isOfRun } from "../threads/requests/of-run.ts";
import type { Request, RequestsQuery } from "../threads/requests/requests.ts";
import type { Workbench } from "./reach.ts";

export type VisibleQuery = Pick<RequestsQuery, "thread" | "status" | "kind" | "after"> & {
  readonly limit: number;
  /** Only those of which it says yes. */
  readonly isWanted?: (request: Request) => boolean;
};

export type RequestsPage = {
  readonly requests: readonly Request[];
  /** What comes after them is found after this; null when there is nothing more. There may be less on a page than fits. */
  readonly next: string | null;
};

export interface VisibleRequests {
  /** Throws `request_not_found`. */
  get(id: string, principal: Principal): Promise<Request>;
  /**
   * The same for whoever is going to answer it: whose thread it is, who manages threads, or whom a rule calls to decide.
   * Throws `request_not_found`, `approval_forbidden`, and what `reach.thread` throws.
   */
  toAnswer(id: string, principal: Principal, answer?: { readonly remember?: unknown }): Promise<Request>;
  /** The caller's own in the order of their creation, and what waits for a decision of his; all there are, for who manages threads. */
  list(query: VisibleQuery, principal: Principal): Promise<RequestsPage>;
}

const PAGE = 200;

/** How many approvals of others are looked at for one page, whether they are the caller's to decide. */
const MOST_LOOKED_AT = 500;

export function visibleRequests(
  { runtime: { requests, threads, outcomes }, reach }: Pick<Workbench, "runtime" | "reach">,
  { mostLookedAt = MOST_LOOKED_AT }: { readonly mostLookedAt?: number } = {},
): VisibleRequests {
  const { sealing } = outcomes;

  async function isVisible({ id, kind, thread_id }: Request, principal: Principal): Promise<boolean> {
    if (await reach.has(thread_id, principal, "read")) return true;
    if (await reach.asksAsRun(thread_id, principal, "read")) return true;
    return kind === "approval" && (await requests.isApprover(id, principal));
  }

  async function get(id: string, principal: Principal): Promise<Request> {
    const request = await requests.get(id);
    if (await isVisible(request, principal)) return request;
    throw holdfastError("request_not_found", `There is no request "${id}".`);
  }

  /** What a list begins behind; undefined for what is no place in the caller's list. */
  async function placeOf(after: string, principal: Principal): Promise<ListPlace | undefined> {
    try {
      if (after.startsWith(SEALED)) return readPlace(sealing.open(after.slice(SEALED.length), PLACE));
      // Another's is no place in the caller's list: where it stands would tell that it is there, and since when.
      return readPlace(after) ?? (await get(after, principal));
    } catch (thrown) {
      if (thrown instanceof HoldfastError && unknown.has(thrown.code)) return undefined;
      throw thrown;
    }
  }

  /** As many of those that match a query as it asks for, page by page; `cutAt` is where it was left at the `most` looked at. */
  async function taken(
    { limit, isWanted = () => true, ...query }: RequestsQuery & Omit<VisibleQuery, "after">,
    isTaken: (request: Request) => boolean | Promise<boolean> = () => true,
    most = Number.POSITIVE_INFINITY,
  ): Promise<{ readonly found: readonly Request[]; readonly cutAt?: Request }> {
    const found: Request[] = [];
    // Where most may be passed over, a page of few would take many.
    const size = Number.isFinite(most) ? Math.min(most, PAGE) : Math.min(limit, PAGE);
    let looked = 0;
    for (let { behind } = query; ; ) {
      const page = await requests.list({ ...query, limit: size, ...(behind && { behind }) });
      for (const request of page) {
        if (isWanted(request) && (await isTaken(request))) found.push(request);
        if (found.length >= limit) return { found };
        looked += 1;
        if (looked >= most) return { found, cutAt: request };
      }
      const last = page.at(-1);
      if (!last || page.length < size) return { found };
      behind = { created_at: last.created_at, id: last.id };
    }
  }

  return {
    get,

    async toAnswer(id, principal, { remember = false } = {}) {
      const request = await get(id, principal);
      const { kind, thread_id } = request;
      const isCalled = kind === "approval" && (await requests.isApprover(id, principal));
      if (!isCalled) await reachToAnswer(request, principal);
      if (remember == null || remember === false || (await reach.managesThreads(principal))) return request;
      // To remember it makes no sense: submitting it is refused in words.
      if (isOfRun(request)) return request;
      const { acting_user_id } = (await threads.subject(thread_id)).principal;
      if (acting_user_id > 0 && acting_user_id === principal.acting_user_id) return request;
      throw holdfastError("approval_forbidden", `Request "${id}" is not theirs to have remembered for another user.`);
    },

    async list({ limit, after: given, ...query }, principal) {
      const { thread, kind, status } = query;
      const seen = given === undefined ? undefined : await placeOf(given, principal);
      if (given !== undefined && !seen) return { requests: [], next: null };
      const behind = seen && { behind: { created_at: seen.created_at, id: seen.id } };
      const asked = { ...query, limit: limit + 1, ...behind };
      if (thread !== undefined) {
        if (!(await reach.asksAsRun(thread, principal, "read"))) await reach.thread(thread, principal, "read");
        return pageOf((await taken(asked)).found, limit);
      }
      const scope = await reach.scope(principal);
      const { found } = await taken({ ...asked, ...scope });
      // Everybody's, for who manages workflows and no threads.
      const managed =
        scope.owner && (await reach.managesRuns(principal))
          ? (await taken({ ...asked, ...placeIn(scope), of: "workflow" })).found
          : [];
      const isOwnOnly = (kind ?? "approval") !== "approval" || (status ?? "pending") !== "pending";
      if (!scope.owner || isOwnOnly) return pageOf(inOrder(found, managed), limit);
      // Only while they wait: what was decided about the threads of others is no list of the caller's.
      const ruled = { ...asked, ...placeIn(scope), status: "pending", calls: principal.acting_user_id } as const;
      const called = await taken(ruled, ({ id }) => requests.isApprover(id, principal), mostLookedAt);
      return pageOf(inOrder(found, managed, called.found), limit, called.cutAt);
    },
  };

  /** Whoever only looks on is told so in the words of what was asked. */
  async function reachToAnswer({ id, kind, thread_id }: Request, principal: Principal): Promise<void> {
    if (await reach.asksAsRun(thread_id, principal, "answer")) return;
    try {
      await reach.thread(thread_id, principal, "answer");
    } catch (thrown) {
      const isForbidden = thrown instanceof HoldfastError && thrown.code === "ability_forbidden";
      if (!isForbidden || kind !== "approval") throw thrown;
      throw holdfastError("approval_forbidden", `Request "${id}" is not theirs to decide: the thread is not theirs.`);
    }
  }

  /** What comes after the place where looking was left is for the next page: something before it may be missing yet. */
  function pageOf(all: readonly Request[], limit: number, cutAt?: Request): RequestsPage {
    const upTo = cutAt ? all.filter((each) => comparePlaces(each, cutAt) <= 0) : all;
    const page = upTo.slice(0, limit);
    const last = page.at(-1);
    if (upTo.length > limit) return { requests: page, next: last ? writePlace(last) : null };
    // Sealed, because nothing may be told of it but that one can go on there.
    return { requests: page, next: cutAt ? `${SEALED}${sealing.seal(writePlace(cutAt), PLACE)}` : null };
  }
}

/** Without whose they are. */
function placeIn({ owner: _, ...place }: SubjectQuery): SubjectQuery {
  return place;
}

/** Each once, in the order of their creation. */
function inOrder(...lists: readonly (readonly Request[])[]): readonly Request[] {
  const known = new Map(lists.flat().map((request) => [request.id, request]));
  return [...known.values()].sort(comparePlaces);
}

const SEALED = "next:";
const PLACE = "place in a list of requests";

/** Why something is no place in a list. */
const unknown: ReadonlySet<string> = new Set(["request_not_found", "secret_key_mismatch"]);
