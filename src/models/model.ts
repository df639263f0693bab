// The model port: what a run asks of any model, and what a model may say while it is still answering.
import type { Message } from "../contracts/conversation/message.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { ToolMap } from "../contracts/tools/declaration.ts";

/** A piece of an answer in the making. Kinds may be added: pass over those you do not know. */
export type ModelDelta = { readonly type: "text"; readonly text: string };

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
  /** Told of the answer piece by piece; what it throws is the caller's own mistake. */
  readonly onDelta?: (delta: ModelDelta) => void;
};

/**
 * Asks a model once and returns, or resolves to, its `content`, `tool_calls`, `usage` and `request_metadata`; what it
 * throws fails the attempt. It is a turn runner, so one function serves conversations in memory and durable threads.
 *
 * What a model sends its provider is a projection of the messages, made anew each time. Nothing but envelopes is stored:
 * a thread that was begun with one provider goes on with another.
 */
export type Model = (messages: Message[], context: JsonMap, options: ModelOptions) => unknown;
