// The model beside the real thing: what was asked, what people tried to answer, and what has to come of each try.
import { isDeepStrictEqual } from "node:util";
import type { UnknownMap } from "../../src/contracts/json.ts";
import { mayDecide, type Person } from "./people.ts";
import { rules, type ToolName, threads, type Wish } from "./shop.ts";

/** One attempt to answer a request. */
export type Attempt = {
  readonly person: Person;
  readonly answer: UnknownMap;
  /** What is wrong with it, whoever gives it: its form, or what it wants the call to run with, or the result. */
  readonly flaw?: "form" | "edit" | "result";
  /** It names a thread that the request is not of. */
  readonly isForeign?: boolean;
};

export type Asked = {
  readonly id: string;
  readonly kind: "approval" | "client_tool";
  readonly tool: ToolName;
  readonly wish: Wish;
  /** Names the call within all threads. */
  readonly call: string;
  /** The rule under which it was asked. */
  readonly rule: number;
  status: "pending" | "settled" | "expired" | "cancelled";
  /** The attempt that counts. */
  counted?: Attempt;
  /** Something was written past the runtime: whatever is answered from then on, nothing may come of it. */
  isSpoiled?: boolean;
  /** Only what opens it was written past the runtime: nobody can answer it. */
  isBlocked?: boolean;
  /** It had ended and was written back to pending. */
  isRevived?: boolean;
  /** Whether the call has to run, now that it was decided. */
  applies: boolean;
};

/** What is remembered, by scope, and the rule under which it was decided: under another one it does not hold. */
export type Memory = Map<string, { readonly policy: "direct" | "forbidden"; readonly rule: number }>;

export class Expectation {
  readonly asked: Asked[] = [];
  /** All attempts so far, for replays. */
  readonly attempts: { readonly asked: Asked; readonly attempt: Attempt }[] = [];
  readonly memory: Memory = new Map();
  /** How often what happened, so that a test that tests nothing is noticed. */
  readonly seen: Map<string, number>;
  /** Applications that were found to be in order. */
  checked = 0;
  /** Numbers whatever needs a number of its own. */
  #count = 0;

  constructor(seen: Map<string, number>) {
    this.seen = seen;
  }

  next(): number {
    return ++this.#count;
  }

  note(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  pending(): readonly Asked[] {
    return this.asked.filter(({ status }) => status === "pending");
  }
}

/** Where a remembered decision holds. */
export function scopeOf({ thread, tool }: Pick<Wish, "thread" | "tool">): string {
  const { user, site } = threads[thread] ?? threads[0];
  return `${user} ${site} ${tool}`;
}

/** True when that was decided about the tool once and for all, under the rule of that number. */
export function isRemembered(memory: Memory, policy: "direct" | "forbidden", wish: Wish, rule: number): boolean {
  const known = memory.get(scopeOf(wish));
  return known?.policy === policy && known.rule === rule;
}

export function isAccepting({ answer }: Attempt): boolean {
  return answer.decision === "accepted";
}

/** The rule under which it was asked says who may decide, also when another one was deployed since. */
export function isPermitted({ kind, wish, rule }: Asked, { person }: Attempt): boolean {
  return kind !== "approval" || mayDecide(rule, person, threads[wish.thread]?.user ?? 0);
}

/** What an attempt at a request has to come to while nothing else happens; undefined where the test does not know. */
export function predicted(asked: Asked, attempt: Attempt, rule: number): string | undefined {
  const isPending = asked.status === "pending";
  if (attempt.isForeign) return "request_foreign";
  if (asked.isSpoiled) return undefined;
  if (attempt.flaw === "form") return "invalid_answer";
  if (!isPermitted(asked, attempt)) return "approval_forbidden";
  if (!isPending) return isRepeat(asked, attempt) ? "repeated" : ended(asked);
  if (isLate(asked, attempt, rule)) return "approval_outdated";
  if (attempt.flaw === "result") return "invalid_answer";
  if (asked.isBlocked) return "secret_key_mismatch";
  return attempt.flaw === "edit" || isTooMuch(asked, attempt, rule) ? "invalid_answer" : "submitted";
}

/** True for what cannot be remembered: under rules that are gone, and a yes where each call takes a second person. */
function isTooMuch({ kind, rule }: Asked, attempt: Attempt, now: number): boolean {
  if (kind !== "approval" || attempt.answer.remember !== true) return false;
  return rule !== now || (isAccepting(attempt) && rules[rule]?.other_than_requester === true);
}

/** True for a yes under other rules than those under which it was asked. */
function isLate({ kind, rule }: Asked, attempt: Attempt, now: number): boolean {
  return kind === "approval" && isAccepting(attempt) && rule !== now;
}

function isRepeat({ counted }: Asked, { answer }: Attempt): boolean {
  return counted !== undefined && isDeepStrictEqual(counted.answer, answer);
}

function ended({ status, counted }: Asked): string {
  if (counted !== undefined) return "request_answered";
  return status === "expired" ? "request_expired" : "request_cancelled";
}

/** What the call runs with once it was decided. */
export function parametersOf({ wish, counted }: Asked): UnknownMap {
  const { parameters } = counted?.answer ?? {};
  return { ...wish.parameters, ...(parameters as UnknownMap | undefined) };
}
