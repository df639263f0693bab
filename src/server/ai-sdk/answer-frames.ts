// An answer as the frames of a UI message stream, from a place in the thread to where its run ends or waits.
import type { ChatDesk, RunOutcome } from "../chat/chat-desk.ts";
import { type Begun, followAnswer, type Place } from "../chat/follow-answer.ts";
import { refusalOf } from "../chat/refused.ts";
import type { StreamEvent } from "../chat/stream-event.ts";
import type { Frame } from "../event-stream.ts";
import { toldRefusal } from "../problem.ts";
import type { AnswerMetadata, Chunk, FinishReason } from "./chunk.ts";
import { createChunker } from "./create-chunker.ts";
import { answerId } from "./ids.ts";

export const streamHeaders = { "x-vercel-ai-ui-message-stream": "v1" };

type Telling = {
  readonly threadId: string;
  readonly events: AsyncIterable<StreamEvent>;
  readonly place: Place;
  /** The message that the chat has already, when the answer goes on with it. */
  readonly messageId?: string;
  /** Approvals that it knows of. */
  readonly known?: readonly string[];
};

export async function* answerFrames(desk: ChatDesk, telling: Telling): AsyncGenerator<Frame> {
  try {
    for await (const chunk of answerChunks(desk, telling)) yield { data: JSON.stringify(chunk) };
  } catch (thrown) {
    yield { data: JSON.stringify({ type: "error", errorText: inWords(thrown) } satisfies Chunk) };
  }
  yield { data: "[DONE]" };
}

async function* answerChunks(desk: ChatDesk, telling: Telling): AsyncGenerator<Chunk> {
  const { threadId, events, place, messageId, known } = telling;
  const chunker = createChunker(known);
  let begun: Begun | undefined;
  let isEnded = false;
  for await (const event of followAnswer(events, place)) {
    if (event.type === "begun") {
      begun = event;
      const metadata = { thread_id: threadId, run: event.run };
      yield { type: "start", messageId: messageId ?? answerId(event), messageMetadata: metadata };
      continue;
    }
    if (event.type === "ended") isEnded = true;
    yield* chunker.add(event);
  }
  const request = chunker.waitsFor();
  yield* chunker.end(request === undefined ? undefined : await desk.wholeInput(request));
  if (begun) yield* finish(begun.run);
  // There is nothing to go on with. A chat that sends by itself must not ask for ever.
  else yield* nothing(messageId);

  async function* finish(run: number): AsyncGenerator<Chunk> {
    const outcome = isEnded ? await desk.outcome(threadId, run) : undefined;
    if (outcome?.status === "failed") yield { type: "error", errorText: failureOf(outcome) };
    else yield { type: "finish", ...finishOf(outcome), messageMetadata: metadataOf(run, outcome) };
  }

  function metadataOf(run: number, outcome: RunOutcome | undefined): AnswerMetadata {
    const { status, usage } = outcome ?? {};
    return { thread_id: threadId, run, ...(status !== undefined && { status }), ...(usage && { usage }) };
  }
}

function nothing(messageId: string | undefined): readonly Chunk[] {
  const start: readonly Chunk[] = messageId === undefined ? [] : [{ type: "start", messageId }];
  return [...start, { type: "finish", finishReason: "interrupted" }];
}

/** A run that waits has ended with calls, and so do the streams of models. */
function finishOf(outcome: RunOutcome | undefined): { readonly finishReason: FinishReason } {
  if (!outcome) return { finishReason: "tool-calls" };
  const { status, finish_reason } = outcome;
  if (status === "interrupted") return { finishReason: "interrupted" };
  if (status !== "completed") return { finishReason: "other" };
  const isCut = finish_reason === "length" || finish_reason === "content-filter";
  return { finishReason: isCut ? finish_reason : "stop" };
}

function failureOf({ failure }: RunOutcome): string {
  const message = failure?.message;
  return typeof message === "string" && message !== "" ? message : "The run failed.";
}

/** What is none of ours to tell is told without detail. */
function inWords(thrown: unknown): string {
  return toldRefusal(refusalOf(thrown)).message;
}
