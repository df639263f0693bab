// What a host brings to the queue of pending actions: who may decide a kind of action, what deciding it does, and who
// wants to hear of it.
import type { Json, JsonMap } from "../contracts/json.ts";
import type { ApprovalDecision } from "../contracts/trust/approval-decision.ts";
import type { PendingAction } from "../contracts/trust/pending-action.ts";

/** A decision as it comes in. Whoever passes it on has made sure who the resolver is. */
export type ActionDecision = {
  readonly decision: ApprovalDecision["value"];
  /** Who decides, such as `user:7`. */
  readonly resolver: string;
  /** What goes with the decision, such as a comment. */
  readonly payload?: JsonMap;
  /** Where it comes from, such as a surface or a session. */
  readonly context?: JsonMap;
};

/** Decides and applies one kind of action. */
export interface ActionHandler {
  /** Asked before anything happens; only true lets the decision pass, and what it throws is thrown on. */
  canResolve(action: PendingAction, decision: Required<ActionDecision>): unknown;
  /**
   * Called at most once for an action, with a rejection too. What it returns is kept with the action; a `{ code, message }`
   * or what it throws is kept as the error, and the action has ended all the same.
   */
  handle(action: PendingAction, decision: Required<ActionDecision>): unknown;
}

/** Told after the fact. What an observer throws, rejects or returns is dropped. */
export interface ActionObserver {
  onStored?(action: PendingAction): unknown;
  onResolved?(action: PendingAction, decision: ApprovalDecision["value"], resolver: string): unknown;
  onExpired?(action: PendingAction): unknown;
}

/** Encrypts what must not lie readable in a database; `about` says what it belongs to, and it opens for nothing else. */
export type ActionSealing = {
  seal(text: string, about: string): string;
  open(sealed: string, about: string): string;
};

/** What an action came to. */
export type ActionOutcome = {
  readonly resolution_result: Json;
  readonly resolution_error: string | null;
  readonly resolution_metadata: JsonMap | readonly Json[];
};
