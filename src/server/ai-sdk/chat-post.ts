// What a chat says, handed to its thread; and where in the thread the answer to it begins.
import { operationError } from "../../contracts/operation-error.ts";
import type { ChatDesk, ChatThread, From, Sent } from "../chat/chat-desk.ts";
import { afterAsked, afterMessage, afterRunStart, fromPosition, fromSent, type Place } from "../chat/follow-answer.ts";
import { invalidInput, Refused } from "../chat/refused.ts";
import { sinceAsked } from "../chat/since-asked.ts";
import { type ChatMessage, type ChatRequest, readAnswer, readUserMessage, timesCalled } from "./chat-request.ts";
import { type AnswerPlace, readAnswerId, readUserMessageId } from "./ids.ts";
import { submitAnswer } from "./submit-answer.ts";

export type Taken = {
  /** Where the thread is followed from to come to that place. */
  readonly from: From;
  readonly place: Place;
  /** The message that the answer goes on with. */
  readonly messageId?: string;
  readonly known?: readonly string[];
};

/** Throws `Refused`. Taking the same thing in again changes nothing, and leads to the same place. */
export async function takeIn(desk: ChatDesk, thread: ChatThread, request: ChatRequest): Promise<Taken> {
  if (request.trigger === "regenerate-message") return await regenerate(desk, thread, request);
  const { messages, messageId } = request;
  const last = messages.at(-1) as ChatMessage;
  const continued =
    last.role === "user" ? messages.find(({ id, role }) => id === messageId && role === "assistant") : last;
  if (continued) return await goOn(desk, thread, continued);
  if (messageId !== undefined)
    throw invalidInput("A message that was sent is not sent again in other words; send another one.");
  return await say(
    desk,
    thread,
    last,
    messages.findLast(({ role }) => role === "assistant"),
  );
}

/** What the client ran, or somebody decided. */
async function goOn(desk: ChatDesk, { id, position }: ChatThread, message: ChatMessage): Promise<Taken> {
  const answer = readAnswer(message);
  const place = readAnswerId(message.id);
  if (!answer || !place) return { from: fromPosition(position), place: () => false, messageId: message.id };
  await submitAnswer(desk, id, answer);
  return {
    from: { run: place.run },
    place: afterAsked(beginOf(place), answer.call_id, timesCalled(message, answer.call_id)),
    messageId: message.id,
    known: answer.kind === "approval" ? [answer.approval_id] : [],
  };
}

/** Something new, or a repeat of it. `answered`: the answer before it, which may have been answered itself. */
async function say(
  desk: ChatDesk,
  thread: ChatThread,
  message: ChatMessage,
  answered: ChatMessage | undefined,
): Promise<Taken> {
  const { id } = thread;
  const seq = readUserMessageId(message.id);
  if (seq !== undefined) return await again(desk, id, seq);
  const said = readUserMessage(message);
  const answer = answered && readAnswer(answered);
  if (answer) await submitAnswer(desk, id, answer);
  const sent = await desk.send(id, { ...said, key: keyOf(thread, message) });
  return { from: fromSent(sent), place: afterMessage(sent.id) };
}

/** A message of the thread once more: what was answered to it. */
async function again(desk: ChatDesk, threadId: string, seq: number): Promise<Taken> {
  const numbered = await desk.message(threadId, seq);
  if (!numbered) throw invalidInput("There is no such message.");
  const { run } = numbered;
  return { from: run === 0 ? {} : { run }, place: afterMessage(seq) };
}

/** The last answer is taken out of what models are shown, and given anew. What its tools did is done. */
async function regenerate(desk: ChatDesk, thread: ChatThread, { messages }: ChatRequest): Promise<Taken> {
  const { id, status, run, position } = thread;
  if (status !== "idle" && status !== "stopped") {
    throw new Refused(operationError("thread_busy", `The chat is ${status}, and its answer is not given yet.`));
  }
  const last = messages.at(-1) as ChatMessage;
  if (last.role !== "user")
    throw invalidInput("An answer is given anew to a message of the user, and the last one is none.");
  const { asked, after } = await sinceAsked(desk, id);
  const seq = readUserMessageId(last.id);
  if (seq === undefined) {
    // Sent before it is the same one again, and it is new when it never came here.
    const sent = await desk.send(id, { ...readUserMessage(last), key: keyOf(thread, last) });
    if (isNew(sent, position)) return { from: fromSent(sent), place: afterMessage(sent.id) };
    if (sent.id !== asked?.message.id) throw notTheLast();
  } else if (seq !== asked?.seq) {
    throw (await desk.message(id, seq)) ? notTheLast() : invalidInput("There is no such message.");
  }
  for (const { seq: number } of after) await desk.deleteMessage(id, number, `chat/${id}/anew/${number}`);
  await desk.wake(id, `chat/${id}/anew/${run}`);
  return { from: fromPosition(position), place: afterRunStart(run + 1) };
}

/** False for a message that was sent before: it is told where the thread was then. `position`: where it was just now. */
function isNew({ run, position: before }: Sent, position: string | null): boolean {
  return run === null && commitOf(before) >= commitOf(position);
}

function commitOf(position: string | null): number {
  return position === null ? -1 : Number(position.split(".")[0]);
}

function notTheLast(): Refused {
  return invalidInput("Only the last answer can be given anew; fork the thread for an earlier one.");
}

/** Where an answer begins that was told under an id, for whoever follows its run. */
export function beginOf({ run, seq }: AnswerPlace): Place {
  let isRun = false;
  return (event) => {
    if (event.type === "run") isRun = event.run === run;
    if (!isRun) return false;
    return seq === null ? event.type === "run" : event.type === "user" && event.seq === seq;
  };
}

function keyOf({ id }: ChatThread, message: ChatMessage): string {
  return `chat/${id}/${message.id}`;
}
