// What the machine asks of its driver, and what the driver brings back.
import type { Budget } from "../contracts/conversation/budget.ts";
import type { Message } from "../contracts/conversation/message.ts";
import type { HoldfastError } from "../contracts/error.ts";
import type { Json, JsonMap, UnknownMap } from "../contracts/json.ts";
import type { Outcome } from "../contracts/outcome.ts";
import type { Side } from "../contracts/standard/side.ts";
import type { ToolCall } from "../contracts/tools/call.ts";
import type { ToolDeclaration, ToolMap } from "../contracts/tools/declaration.ts";
import type { RuntimeToolRequest } from "../contracts/tools/runtime-tool.ts";
import type { PendingAction } from "../contracts/trust/pending-action.ts";
import type { Decision } from "./decision.ts";
import type { Decided } from "./records.ts";

/** Something done outside, after its beginning was recorded. */
export type EffectOrder =
  | {
      readonly kind: "call_model";
      readonly messages: Message[];
      readonly context: JsonMap;
      /** What the model may call. */
      readonly tools: ToolMap;
      readonly budgets: Readonly<Record<string, Budget>>;
      /** A longer answer is not paid for. */
      readonly maxOutputTokens?: number;
    }
  | {
      readonly kind: "summarize";
      readonly messages: readonly Message[];
      readonly context: JsonMap;
      readonly maxOutputTokens?: number;
    }
  /** Messages that are about to leave the transcript for good. */
  | { readonly kind: "archive"; readonly items: readonly Json[]; readonly details: JsonMap }
  | {
      readonly kind: "run_tool";
      readonly call: ToolCall;
      readonly declaration: ToolDeclaration;
      readonly context: JsonMap;
    }
  | { readonly kind: "store_request"; readonly request: RuntimeToolRequest; readonly context: JsonMap }
  | { readonly kind: "store_action"; readonly action: PendingAction; readonly context: JsonMap };

/** What a pre-tool mediator and the filter behind it are told. */
export type MediationContext = {
  readonly messages: readonly Message[];
  readonly raw_tool_call: JsonMap;
  readonly prepared_tool_call: ToolCall | null;
  readonly tool_declaration: ToolDeclaration | null;
  readonly tool_name: string;
  readonly parameters: JsonMap;
  readonly tool_call_id: string;
  readonly turn_context: JsonMap;
  readonly turn: number;
  readonly prior_tool_results: readonly JsonMap[];
  readonly prior_mediated_results: readonly JsonMap[];
};

/** What a completion policy is told about one execution result. */
export type CompletionContext = {
  readonly tool_name: string;
  readonly tool_declaration: ToolDeclaration | null;
  readonly result: JsonMap;
  readonly turn_context: JsonMap;
  readonly turn: number;
  readonly messages: readonly Message[];
};

/** What a completion policy may answer: that the run is complete, or a message that makes the model go on. */
export type CompletionDecision = {
  readonly complete: boolean;
  readonly message?: string;
  readonly context?: UnknownMap;
};

/** A user's callback. It may be asked again after a crash, so its answer counts only once it is recorded. */
export type Question =
  | { readonly hook: "cancellation" }
  /** Answered with an `Inbox`. What was taken of it the record says: of an answer that cannot be read, nothing. */
  | { readonly hook: "inbox" }
  /** Who acts now? The driver changes the configuration, and answers when that is done. */
  | { readonly hook: "cast" }
  /**
   * The prompt that a call stands for. Answered, once the configuration is that of the prompt, with `{ ok: true, prompt,
   * messages }`, or with `{ ok: false, error }`.
   */
  | { readonly hook: "frame"; readonly call: ToolCall }
  /** Answered with the names of the tools that the model sees, in order. */
  | { readonly hook: "visible_tools"; readonly context: JsonMap }
  /**
   * Answered with `direct`, `preview` or `forbidden`, or with that as `policy` beside a `preview` for whoever decides and
   * the decision that was `remembered`.
   */
  | { readonly hook: "action_policy"; readonly context: JsonMap }
  | {
      readonly hook: "audit_parameters";
      readonly redacted: JsonMap;
      readonly raw: JsonMap;
      readonly tool_name: string;
      readonly declaration: ToolDeclaration | null;
      readonly context: JsonMap;
    }
  | { readonly hook: "mediator"; readonly context: MediationContext }
  | { readonly hook: "decision_filter"; readonly decision: Decision; readonly context: MediationContext }
  | { readonly hook: "diagnostics"; readonly about: UnknownMap }
  | { readonly hook: "completion"; readonly context: CompletionContext }
  | { readonly hook: "interrupt"; readonly context: JsonMap }
  /** Answered with what is left of the shared funds. */
  | { readonly hook: "funds" }
  /** Answered with `{ ok: true, value }` or `{ ok: false, problems }`, where the problems are words for the model. */
  | { readonly hook: "output"; readonly text: string }
  | { readonly hook: "should_continue"; readonly result: JsonMap; readonly context: JsonMap };

export type Next =
  | { readonly kind: "effect"; readonly order: EffectOrder }
  | { readonly kind: "consult"; readonly question: Question }
  /** Nothing to do until the result of the waiting call arrives. */
  | { readonly kind: "park"; readonly call: number; readonly request_id: string }
  /** Nothing to do until this time, when the effect that was postponed is ordered again. */
  | { readonly kind: "wait"; readonly until: number }
  | { readonly kind: "end" }
  /**
   * The answer breaks the contract. A driver that may throw throws the error, and tells observers and persister first
   * if it `isReported`; one that may not brings it back as what was thrown, and the run ends as failed.
   */
  | { readonly kind: "refuse"; readonly error: HoldfastError; readonly isReported: boolean };

/**
 * An outcome of what was asked, what a parked call waited for, that an effect is to be tried again later, or the wish to
 * stop, which may come at any time.
 */
export type Arrived = Outcome | Brought | Postponed | Stop;

/** What somebody outside brings for a parked call. Providers use ids again, so the request alone does not tell which. */
export type Brought = { readonly call: number; readonly request_id: string; readonly outcome: Outcome } & WithDecision;

/** The model or the summarizer could not answer now; `until` is on the clock that `advance` is given. */
export type Postponed = {
  readonly postponed: { readonly until: number; readonly model?: number; readonly hasSpoken?: boolean };
};

/**
 * `performed`: the effect in flight was really begun, so what it did is not known. `said`: what the model had said until
 * then; it is kept only when the model was being asked. `after`: what had arrived before, and counts. `failure`: why the run
 * cannot go on; then it has failed, and nobody wanted it to stop.
 */
export type Stop = {
  readonly stop: Message;
  readonly performed: boolean;
  readonly said?: Message;
  readonly after?: Outcome | Brought;
  readonly failure?: unknown;
} & WithDecision;

/** The decision that comes with it, for the log: what it means for the call is the outcome's to say. */
type WithDecision = { readonly decided?: Decided };

/** What waits for a run at the beginning of a turn: messages, and calls that it is to make before the model is asked. */
export type Inbox = {
  readonly messages: readonly Message[];
  readonly calls: readonly { readonly id?: string; readonly name: string; readonly parameters: UnknownMap }[];
  /** The side that acts in this turn; the same as before unless given. */
  readonly side?: Side;
};

/** An event for observers: sent at most once, after the records it speaks of. */
export type Notice = { readonly event: string; readonly payload: JsonMap };
