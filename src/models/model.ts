// The model port: what a run asks of any model, what a model may say while it is still answering, and what it answers.
import type { Message } from "../contracts/conversation/message.ts";
import type { JsonMap, UnknownMap } from "../contracts/json.ts";
import type { ToolMap } from "../contracts/tools/declaration.ts";

/** A piece of an answer in the making. Kinds may be added: pass over those you do not know. */
export type ModelDelta =
  | { readonly type: "text" | "reasoning"; readonly text: string }
  /** Of the arguments of a call, as JSON text that is not whole yet. */
  | { readonly type: "tool_input"; readonly id: string; readonly name: string; readonly text: string };

export type ModelOptions = {
  /** The tools that the model may call in this answer, by name. */
  readonly tools: ToolMap;
  readonly signal?: AbortSignal;
  /** The agent's instructions, which are no message of the transcript. */
  readonly instructions?: string;
  /** How many answers the models of this thread have given so far: the same again after a crash. */
  readonly step?: number;
  /** Tells this try at the answer from every other: a later one has a larger number. */
  readonly attempt?: number;
  /** What the last words of a run are to be: JSON of this schema. Providers that know how are told; it is checked anyway. */
  readonly output?: { readonly name: string; readonly schema: JsonMap };
  /** The longest answer that is still paid for, in tokens. */
  readonly maxOutputTokens?: number;
  /** Whether the model has to call a tool, or must not; as it likes unless given. Says nothing where there are no tools. */
  readonly toolChoice?: "auto" | "none" | "required";
  /** Whether one answer may hold several calls. Only providers that have a setting for it are told. */
  readonly parallelToolCalls?: boolean;
  readonly reasoning?: ReasoningOptions;
  /** Settings for this request by the provider's name, laid over those of the model itself key by key. */
  readonly providerOptions?: JsonMap;
  /** Told of the answer piece by piece; what it throws is the caller's own mistake. */
  readonly onDelta?: (delta: ModelDelta) => void;
};

/** How a model is to think before it answers. */
export type ReasoningOptions = {
  /** Models of the AI SDK's interface v4 are told; for older ones it stands in the provider's own options. */
  readonly effort?: "low" | "medium" | "high";
  /** The longest thought, in tokens. No two providers agree on it: the AI SDK has it in the provider's own options alone. */
  readonly maxTokens?: number;
  /** Thoughts are not told while they come. They are kept with the answer: some providers want them back. */
  readonly exclude?: boolean;
};

/** What a model answers. A text alone is an answer too. */
export type ModelAnswer = {
  readonly content: string;
  readonly tool_calls: readonly ModelCall[];
  /** `prompt_tokens`, `completion_tokens`, `total_tokens`, and what else the provider counts, such as `cached_tokens`. */
  readonly usage?: JsonMap;
  /** Who answered: `provider_id`, `model_id`, `finish_reason`. */
  readonly request_metadata?: JsonMap;
  /** Kept with the first message that the answer becomes, for the next request: `reasoning`, `provider_metadata`. */
  readonly message_metadata?: JsonMap;
  /** What the model made beside words, as base64. */
  readonly files?: readonly { readonly media_type: string; readonly data: string }[];
};

export type ModelCall = {
  readonly id?: string;
  readonly name: string;
  readonly parameters: UnknownMap;
  /** What stood in place of parameters when that was no JSON map: the call is answered with an error and does not run. */
  readonly invalid_input?: string;
  /** Kept with the call, for the next request. */
  readonly provider_metadata?: JsonMap;
};

/**
 * Asks a model once and returns, or resolves to, a `ModelAnswer`; what it throws fails the attempt. It is a turn runner,
 * so one function serves conversations in memory and durable threads.
 *
 * What a model sends its provider is a projection of the messages, made anew each time. Nothing but envelopes is stored:
 * a thread that was begun with one provider goes on with another.
 */
export type Model = (messages: Message[], context: JsonMap, options: ModelOptions) => unknown;
