// Where a request goes: to the thread that it names, to the one whose call it answers, or to a new one that is told what
// was said before.
import { randomUUID } from "node:crypto";
import { jsonOrText } from "../../contracts/json-or-text.ts";
import type { ChatDesk, From, PendingRequest } from "../chat/chat-desk.ts";
import { afterMessage, afterRequest, fromSent, type Place } from "../chat/follow-answer.ts";
import { invalidInput } from "../chat/refused.ts";
import { type CompletionMessage, type CompletionRequest, wordsOf } from "./completion-request.ts";
import { waiting } from "./waiting.ts";

export type Conversation = {
  readonly threadId: string;
  /** Where the thread is followed from to come to that place. */
  readonly from: From;
  readonly place: Place;
};

type Asking = {
  /** The caller's name for the thread; a thread of its own for each request unless given. */
  readonly threadKey?: string | undefined;
  /** Makes a repeat of the request the same request. */
  readonly key?: string | undefined;
};

/** Throws `Refused`. */
export async function converse(desk: ChatDesk, request: CompletionRequest, asking: Asking): Promise<Conversation> {
  const { messages, model } = request;
  const last = messages.at(-1) as CompletionMessage;
  const index = messages.length - 1;
  if (last.role === "tool") return await answerCalls(desk, messages);
  if (last.role !== "user")
    throw invalidInput("The last message must be a user's, or the result of a tool.", `messages.${index}`);
  const { threadKey, key } = asking;
  const isNamed = threadKey !== undefined;
  const words = wordsOf(last, index);
  if (words.trim() === "") throw invalidInput("The message has no words.", `messages.${index}.content`);
  const content = isNamed ? words : withPast(messages.slice(0, -1), words);
  const made = key === undefined ? undefined : `completion/${key}`;
  const thread = await (isNamed ? desk.open(threadKey, model) : desk.openUnnamed(model, made));
  // Without a key it may be a repeat, and clients repeat what is refused for now: nothing must be left behind then.
  if (thread.status === "waiting" && key === undefined) await refuseWhileWaiting(desk, thread.id);
  const left = await desk.send(thread.id, { content, key: `completion/${thread.id}/${key ?? randomUUID()}` });
  return { threadId: thread.id, from: fromSent(left), place: afterMessage(left.id) };
}

async function refuseWhileWaiting(desk: ChatDesk, threadId: string): Promise<void> {
  const pending = await desk.pending(threadId);
  if (pending.length > 0) throw waiting(pending);
}

/** The ids of calls are those of requests, so that a result finds its thread though the request does not name it. */
async function answerCalls(desk: ChatDesk, messages: readonly CompletionMessage[]): Promise<Conversation> {
  const first = messages.findLastIndex(({ role }) => role !== "tool") + 1;
  let answered: PendingRequest | undefined;
  for (const [offset, message] of messages.slice(first).entries()) {
    const index = first + offset;
    const requestId = message.tool_call_id ?? "";
    if (requestId === "") throw invalidInput("The result of a tool names the call.", `messages.${index}.tool_call_id`);
    // Functions answer with text.
    answered = await desk.submit(requestId, { result: jsonOrText(wordsOf(message, index)) });
  }
  if (!answered) throw invalidInput("There is no result of a tool.", "messages");
  const { id, thread_id: threadId, run } = answered;
  return { threadId, from: { run }, place: afterRequest(id) };
}

/** Nobody here has said what came before: it is told as what the client says that was said. */
function withPast(past: readonly CompletionMessage[], words: string): string {
  const said = past.flatMap((message, index) => {
    const text = wordsOf(message, index);
    return text === "" ? [] : [`${message.role}: ${text}`];
  });
  if (said.length === 0) return words;
  return `The conversation so far, as the client tells it:\n\n${said.join("\n\n")}\n\nNow the user says:\n\n${words}`;
}
