// What the machine writes down: one record for each arrival and each decision. Records hold positions, counters and
// pointers, never content, so that content stays erasable and the state that follows from them stays small.
import type { Budget } from "../contracts/conversation/budget.ts";
import type { Usage } from "../contracts/conversation/usage.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { Control } from "../contracts/standard/control.ts";
import type { Side } from "../contracts/standard/side.ts";
import type { StopCode } from "../contracts/standard/stop-rules.ts";
import type { ActionPolicy } from "../contracts/tools/action-policy.ts";
import type { Tally } from "../contracts/tools/call-gate.ts";
import type { FailureState } from "../contracts/tools/identical-failure.ts";
import type { SpinState } from "../contracts/tools/spin.ts";

/** Where the machine will go on. Position is data: a later version finds its way from the name alone. */
type Place =
  | "flow.begin"
  | "turn.inbox"
  | "turn.begin"
  | "turn.tools"
  | "turn.compact"
  | "turn.model"
  | "turn.accept"
  | "turn.queued"
  | "caller.judge"
  | "call.open"
  | "call.policy"
  | "call.mediate"
  | "call.filter"
  | "call.approve"
  | "call.run"
  | "call.settle"
  | "call.parked"
  | "call.judge"
  | "call.recast"
  | "turn.recast"
  | "turn.frame"
  | "turn.output"
  | "turn.verdict"
  | "turn.budget"
  | "flow.end"
  | "ended";

/** The places before which the run looks whether it was cancelled. */
export type CheckedPlace =
  | "turn.tools"
  | "turn.compact"
  | "turn.accept"
  | "turn.queued"
  | "turn.verdict"
  | "turn.budget";

/** A place, or the look at whether the run was cancelled that comes before it. */
export type Position = Place | `check ${CheckedPlace}`;

/** What is done outside the machine, as far as the log needs to know it. */
export type Effect =
  | { readonly kind: "call_model" }
  | { readonly kind: "summarize" }
  | { readonly kind: "archive" }
  | { readonly kind: "run_tool"; readonly call: number }
  | { readonly kind: "store_request"; readonly call: number }
  | { readonly kind: "store_action"; readonly call: number };

/** The half-open range of transcript positions that a record wrote. */
export type Range = readonly [from: number, to: number];

/** What calls to models cost: tokens, and billionths of a US dollar. */
export type Amounts = { readonly tokens: number; readonly nanodollars: number };

/** What an attempt cost, where costs are counted. */
type Spent = { readonly spent?: Amounts };

/** A call whose result somebody outside has to bring. */
export type Waiting = {
  readonly call: number;
  readonly request_id: string;
  readonly as: "pending" | "approval";
};

/** Why a run stopped, as facts; the result lays them over each other. */
export type Stops = {
  readonly budget?: string;
  readonly stalled?: JsonMap;
  readonly approval?: Waiting;
  readonly pending?: Waiting;
  readonly interrupted?: true;
  /** `thrown`: the runner or a callback threw; `reported`: the provider's answer says that it failed. */
  readonly failure?: "thrown" | "reported";
};

/** How many turns each side has completed since the session began. */
export type Turns = { readonly a: number; readonly b: number };

/** What a call of a tool that a side is bound to means: its success, its failure, or merely that it was made. */
export type Mark = "session_stop" | "session_fail" | "lifecycle_failed" | "stop_tool";

export type Repeated = { readonly signature: string; readonly count: number };

/** A prompt that speaks for a call, and where in the transcript that call stands. */
export type Speaking = { readonly call: number; readonly prompt: string; readonly at: number };

/**
 * How somebody decided about a call, and who: nothing of what was decided about. It stands in the log itself, because what is
 * noted beside it goes with the messages of its run when they are erased.
 */
export type Decided = {
  readonly request_id: string;
  readonly tool_name: string;
  readonly decision: string;
  /** Why it does not count. */
  readonly refused?: string;
  /** In words; null when nobody decided. */
  readonly resolver: string | null;
  /** The safe part of the principal who decided. */
  readonly by: JsonMap | null;
  readonly policy_version: string;
  readonly edited?: true;
  /** It decides about the next calls too. */
  readonly remembered?: true;
  /** A stop was faster. */
  readonly overtaken?: true;
};

/** The decision by which a call may run, or may not, without anybody being asked; nulls where a program remembered it. */
export type Remembered = {
  readonly request_id: string | null;
  readonly by: JsonMap | null;
  readonly policy_version: string | null;
};

export type Fact =
  | {
      readonly type: "flow.started";
      readonly key: string;
      readonly messages: number;
      readonly budgets: Readonly<Record<string, Budget>>;
      /** The turns that the sides of the session had before this run; where there are sides. */
      readonly turns?: Turns;
    }
  /** How many messages and calls were waiting for the run, and were taken in. */
  | { readonly type: "inbox.drained"; readonly messages: number; readonly calls: number }
  /** `side`: the one that acts from now on, when that is another one. */
  | { readonly type: "turn.started"; readonly turn: number; readonly side?: Side }
  | { readonly type: "tools.resolved"; readonly visible: number }
  | { readonly type: "budget.set"; readonly name: string; readonly used: number; readonly exceeded: boolean }
  /** What the model is to be shown stands. Written only where its cost is set aside first. */
  | { readonly type: "turn.assembled" }
  | { readonly type: "begun"; readonly effect: Effect; readonly reserved?: Amounts; readonly limited?: string }
  /** An attempt was begun of which nobody will see the end. */
  | { readonly type: "attempt.lost" }
  /** What was to begin has not begun, and what was set aside for it is free again. */
  | { readonly type: "effect.released" }
  /**
   * The effect in flight came to nothing yet and is to be tried again, not before this time. `model`: the number of the
   * model that takes over.
   */
  | ({ readonly type: "effect.postponed"; readonly until: number; readonly model?: number } & Spent)
  | { readonly type: "consulted"; readonly hook: "cancellation" | "interrupt" | "cast" }
  | ({ readonly type: "compacted"; readonly messages: number } & Spent)
  | ({ readonly type: "compaction.failed" } & Spent)
  | ({ readonly type: "model.responded"; readonly control?: Control } & Spent)
  /** `framed`: it spoke for a call, which fails; the run goes on. */
  | ({ readonly type: "model.failed"; readonly as: "thrown" | "reported"; readonly framed?: true } & Spent)
  | {
      readonly type: "model.accepted";
      readonly calls: number;
      /** All that was used so far; absent when the answer added nothing. */
      readonly usage?: Usage;
      /** The ceiling that cut the answer off. */
      readonly exceeded?: string;
    }
  /** The calls that were queued for the run are the batch of this turn. */
  | { readonly type: "queue.accepted"; readonly calls: number }
  | { readonly type: "call.skipped" }
  | {
      readonly type: "call.opened";
      readonly call: number;
      readonly spin?: SpinState;
      readonly stalled?: JsonMap;
    }
  | {
      readonly type: "call.policed";
      readonly call: number;
      readonly policy: ActionPolicy;
      readonly remembered?: Remembered;
    }
  | { readonly type: "call.decided"; readonly call: number; readonly action: string }
  | ({ readonly type: "approval.decided" } & Decided)
  | { readonly type: "call.approved"; readonly call: number }
  | { readonly type: "call.returned"; readonly call: number; readonly control?: Control }
  /** `child`: another thread brings the result, and nobody outside has to be told. */
  | ({ readonly type: "call.waiting"; readonly parks: boolean; readonly child?: true } & Waiting)
  | {
      readonly type: "call.settled";
      readonly call: number;
      readonly success: boolean;
      readonly failures?: FailureState;
      /** Those that the call counts against. */
      readonly budgets?: Readonly<Record<string, number>>;
      readonly exceeded?: string;
      readonly completes?: true;
      /** What the call means for the session. */
      readonly mark?: Mark;
      /** How often in a row a call has failed in this way; absent where nobody counts. */
      readonly repeated?: Repeated | null;
    }
  | { readonly type: "call.judged"; readonly complete: boolean }
  | { readonly type: "result.judged"; readonly complete: boolean }
  | { readonly type: "batch.ended"; readonly complete: boolean }
  | { readonly type: "gate.blocked" }
  /** What the step means for the turn of its side and for the session, and who acts next. */
  | { readonly type: "step.judged"; readonly code: StopCode | null; readonly side: Side; readonly turns: Turns }
  | { readonly type: "handed.off"; readonly agent: string }
  /** The prompt that a call stands for begins to speak, to so many messages of its own. */
  | ({ readonly type: "frame.pushed"; readonly messages: number } & Speaking)
  | { readonly type: "frame.popped"; readonly call: number }
  | { readonly type: "turn.ended"; readonly turns: number; readonly exceeded: boolean }
  /** The last words are what was asked for, or they are not: then the model is told once, and the run fails after that. */
  | { readonly type: "output.judged"; readonly as: "accepted" | "repaired" | "refused" }
  | ({ readonly type: "interrupted" } & Spent)
  | { readonly type: "callback.failed" }
  | { readonly type: "flow.ended" };

export type LogRecord = {
  readonly seq: number;
  readonly at: number;
  /** What arrived or was decided. */
  readonly fact: Fact;
  /** The position that follows. */
  readonly to: Position;
  readonly wrote: Range | null;
  /** What the call gate has seen once this is written, when that changed. */
  readonly tallies: readonly Tally[] | null;
};
