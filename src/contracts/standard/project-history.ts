// What a model is shown of the messages that are stored: its own words as its own, no calls but its own, and every call
// with its result. What is stored stays as it is.
import * as message from "../conversation/message.ts";
import { isContainer, isEmpty, type Json, type JsonMap } from "../json.ts";
import { isOfCall, matchCalls, NUDGE, pairCalls } from "./pair-calls.ts";
import type { Side } from "./side.ts";

type Message = message.Message;

export type HistoryView = {
  /** Who is shown it. */
  readonly side: Side;
  /** Both sides are models: neither sees what the other one calls. */
  readonly isDual: boolean;
  /** False: nothing from before this run. */
  readonly includeChat: boolean;
  /** False: no calls from before this run. */
  readonly includePastTools: boolean;
  /** The index of the first message of this run. */
  readonly from: number;
  /** What models thought before this run is shown again to the prompt that they spoke for, or not at all. */
  readonly reasoning: { readonly includes: boolean; readonly prompt: string };
};

/** The messages for a request. Those that look the same to everybody are the ones that were given. */
export function projectHistory(messages: readonly Message[], view: HistoryView): readonly Message[] {
  const removed = removedCalls(messages);
  const thoughts = thoughtKeeper(view);
  const shown: Message[] = [];
  for (let index = view.includeChat ? 0 : view.from; index < messages.length; index++) {
    const given = messages[index];
    if (given === undefined || removed.has(index) || !isShown(given, index < view.from, view)) continue;
    const seen = asSeen(thoughts(given, index < view.from), view.side);
    if (!isNothing(seen)) shown.push(seen);
  }
  return pairCalls(shown);
}

/** A result that is marked takes its call along. */
function removedCalls(messages: readonly Message[]): ReadonlySet<number> {
  const isRemoved = ({ metadata }: Message) => metadata.removed === true;
  if (!messages.some(isRemoved)) return new Set();
  const { callOf, answersOf } = matchCalls(messages);
  const removed = messages.flatMap((given, index) => {
    const call = callOf.get(index);
    if (!isRemoved(given)) return [];
    return call === undefined ? [index] : [call, index, ...(answersOf.get(call) ?? [])];
  });
  return new Set(removed);
}

function isShown(given: Message, isPast: boolean, view: HistoryView): boolean {
  const { metadata } = given;
  if (!isOfCall(given) && metadata.type !== NUDGE) return metadata.status !== "failed";
  if (isPast && !view.includePastTools) return false;
  return !view.isDual || (metadata.side === "b" ? "b" : "a") === view.side;
}

/**
 * Leaves out what a model thought where it is not to be shown again, and then what its provider keeps with the same answer
 * too: some refuse an answer that points to thoughts which are missing. Within a run thoughts stay, because providers want
 * them back with the results of calls.
 */
function thoughtKeeper({ side, reasoning: { includes, prompt } }: HistoryView) {
  // The answer whose thoughts were left out; its number is known from its first call on.
  let cut: { readonly turn: Json | undefined } | undefined;
  return (given: Message, isPast: boolean): Message => {
    const { metadata, type, payload, content } = given;
    if (metadata.reasoning !== undefined) {
      const isOwn = authorOf(given) === side;
      const isKept = isPast ? includes && metadata.prompt === prompt : (metadata.prompt ?? prompt) === prompt;
      cut = isOwn && isKept ? undefined : { turn: payload.turn };
    } else if (type === "tool_call") {
      cut = cut && (cut.turn ?? payload.turn) === payload.turn ? { turn: payload.turn } : undefined;
    } else if (!isOfCall(given) && typeof content === "string") {
      cut = undefined;
    }
    const isAnswer = type === "tool_call" || !isOfCall(given);
    return cut && isAnswer ? withoutThoughts(given) : given;
  };
}

function withoutThoughts(given: Message): Message {
  const { reasoning, provider_metadata, ...metadata } = given.metadata;
  if (reasoning === undefined && provider_metadata === undefined) return given;
  return message.normalize({ ...given, metadata });
}

function authorOf(given: Message): Side {
  if (isOfCall(given)) return given.metadata.side === "b" ? "b" : "a";
  return isAssistant(given.role) === (given.metadata.shown_to !== "b") ? "a" : "b";
}

function isAssistant(role: string): boolean {
  return role === "assistant" || role === "model";
}

const SPOKEN: ReadonlySet<Message["type"]> = new Set(["text", "multimodal_part", "final_result"]);

/** Side B sees itself as the assistant. The mark keeps a message that was turned round from being turned back. */
function asSeen(given: Message, side: Side): Message {
  const { role, type, metadata } = given;
  const isSame = side === "a" || !SPOKEN.has(type) || role === "system" || role === "developer";
  if (isSame || metadata.type === NUDGE || metadata.shown_to === side) return given;
  const turned: JsonMap = { ...metadata, shown_to: side };
  return message.normalize({ ...given, role: isAssistant(role) ? "user" : "assistant", metadata: turned });
}

/** Providers refuse an answer of nothing. */
function isNothing({ type, role, content, metadata }: Message): boolean {
  if (!SPOKEN.has(type) || !isAssistant(role) || metadata.reasoning !== undefined) return false;
  const { attachments } = metadata;
  if (isContainer(attachments) && !isEmpty(attachments)) return false;
  return typeof content === "string" ? content.trim() === "" : isEmpty(content);
}
