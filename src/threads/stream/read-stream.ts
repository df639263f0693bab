// A thread as one reader follows it: first what was committed after the place it was at, then what comes.

import type { Host } from "../host.ts";
import { threadNotFound } from "../thread-errors.ts";
import { follow } from "./follow.ts";
import type { LivePosition } from "./live-reader.ts";
import { isBusy, restAfter } from "./rest.ts";
import { afterCommit, readCursor, type StreamEvent } from "./stream.ts";

export type StreamOptions = {
  /** The id of the last committed event that was seen; everything from the beginning unless given, nothing old at `now`. */
  readonly after?: string;
  /** Where it was in what the model said: the last delta's step and attempt, and its offset plus the length of its text. */
  readonly live?: LivePosition;
  /** Ends after the event that ends a run or has it wait for somebody; otherwise it goes on until the signal fires. */
  readonly untilRest?: boolean;
  readonly signal?: AbortSignal;
};

export async function* readStream(host: Host, threadId: string, options: StreamOptions): AsyncGenerator<StreamEvent> {
  const { after, live, signal, untilRest = false } = options;
  const from = after === "now" ? undefined : readCursor(after);
  const thread = await host.stores.threads.get(threadId);
  if (!thread) throw threadNotFound(threadId);
  // What is committed already is history: the message tells it, and nobody says it any more.
  const { next_seq: wordsFrom } = thread;
  let isAtRest = false;
  const isOver = async () => untilRest && !(await isBusy(host, threadId)) && isAtRest;
  const following = { threadId, from: from ?? afterCommit(wordsFrom - 1), live, wordsFrom, signal, isOver };
  for await (const event of follow(host, following)) {
    isAtRest = restAfter(event, isAtRest);
    yield event;
  }
}
