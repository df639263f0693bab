// What a commit of a thread writes, all of it or nothing, and what came of it.
import type { Amounts } from "../loop/records.ts";
import type { NewEntry } from "./inbox.ts";
import type { NewRequest, RequestStatus } from "./request-store.ts";
import type { NewMessage, StoredEvent, ThreadStatus } from "./thread-rows.ts";
import type { Write } from "./write.ts";

/** What a commit does to the ledger of calls. */
export type CallChange =
  | {
      readonly change: "begun";
      readonly number: number;
      readonly tool_call_id: string;
      readonly tool_name: string;
      readonly idempotency_key: string;
      readonly arguments_hmac: string;
      /** Microseconds that its holder may still be at work on it, from now. */
      readonly certain_after: number;
    }
  | { readonly change: "waiting"; readonly number: number }
  | {
      readonly change: "ended";
      /** Given when it is not the current one. */
      readonly run?: number;
      readonly number: number;
      readonly phase: "settled" | "unknown";
      readonly outcome: string;
      /** The message with its result; null where there are no messages. */
      readonly message_seq: number | null;
    };

/** How a run stands after a commit: the first time its `key` is given. */
export type RunChange = {
  readonly key?: string;
  readonly status: string;
  /** JSON, once there is one to tell. */
  readonly outcome: string | null;
  readonly ended: boolean;
};

/** By how much the funds that a thread draws on change. */
export type BudgetChange = {
  readonly name: string;
  readonly used: Amounts;
  readonly reserved: Amounts;
  /** True when something is set aside anew, which is refused when it is not there. */
  readonly reserves: boolean;
};

/** What goes with erased messages, beside what can be found from them. */
export type Erasure = {
  /** What the outcomes of these runs are without what was said. */
  readonly outcomes: readonly { readonly run: number; readonly outcome: string }[];
  /** The inbox entries that have brought the messages, by their ids. */
  readonly entries: readonly string[];
  /** The runs that they belong to: what was noted of those may quote them. */
  readonly runs: readonly number[];
  /** What was asked of somebody for the calls that are erased, by their ids. */
  readonly requests: readonly string[];
};

/** A request that ends; the commit is overtaken unless it is as `from` says. */
export type ClosedRequest = { readonly id: string; readonly from: RequestStatus; readonly to: RequestStatus };

/** Everything that one commit of the lease holder writes. */
export type Commit = {
  /** Tells this commit from every other, so that one whose answer was lost can be looked up. */
  readonly id: string;
  readonly thread_id: string;
  readonly worker: string;
  readonly epoch: number;
  /** The event's number; somebody else has written when it is not the next. */
  readonly seq: number;
  readonly lease_us: number;
  readonly status: ThreadStatus;
  readonly state: string | null;
  readonly working: string | null;
  /** Absent: unchanged. Null: erased. */
  readonly answer?: string | null;
  readonly run: number;
  readonly steps: number;
  /** False when nothing was got on with, so that the claim still counts towards being stuck. */
  readonly progresses: boolean;
  readonly next_message: number;
  readonly tail_from: number;
  readonly summary_seq: number | null;
  /** Its run is 0 for what concerns the thread and no run of it. */
  readonly event: Pick<
    StoredEvent,
    "run" | "records" | "notes" | "salt" | "notes_hash" | "messages_from" | "settled" | "hash"
  >;
  readonly messages: readonly NewMessage[];
  /** There when some of the messages are deletions that say that what they delete was erased. */
  readonly erasure?: Erasure | undefined;
  /** The inbox entries that were taken. */
  readonly drained: readonly number[];
  /** What goes into the thread's own inbox. */
  readonly queued: readonly NewEntry[];
  readonly run_change: RunChange | null;
  readonly calls: readonly CallChange[];
  readonly opened_requests: readonly NewRequest[];
  readonly closed_requests: readonly ClosedRequest[];
  readonly budget_change: BudgetChange | null;
  /** What tools, effects and children leave behind, in this order. */
  readonly writes: readonly Write[];
  /**
   * Ends the activation: the lease is given back, and the thread is due after so many microseconds (null: when it is
   * woken), or at once if it was woken meanwhile.
   */
  readonly settle: { readonly wake_rev: number; readonly due_after: number | null } | null;
};

export type Committed =
  | { readonly outcome: "committed"; readonly wake_rev: number }
  /** Somebody else holds the thread. */
  | { readonly outcome: "lost" }
  /** Something outside changed first: what the commit was made from has to be read again. */
  | { readonly outcome: "overtaken" };
