// A thread as one reader follows it: first what was committed after the place it was at, then what comes.

import type { Thread } from "../../backend/thread-rows.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { Host } from "../host.ts";
import { checkRunNumber } from "../read-runs.ts";
import { threadNotFound } from "../thread-errors.ts";
import { follow } from "./follow.ts";
import { lastEventOf, mayBeOver } from "./last-event.ts";
import type { LivePosition } from "./live-reader.ts";
import { look, restAfter, restAt } from "./rest.ts";
import { afterCommit, type Cursor, type LastEvent, readCursor, type StreamEvent } from "./stream.ts";

export type StreamOptions = {
  /** The id of the last committed event that was seen; everything from the beginning unless given, nothing old at `now`. */
  readonly after?: string;
  /** In its place: from the beginning of this run, or from now on when it has not begun. */
  readonly run?: number;
  /** Where it was in what the model said: the last delta's step and attempt, and its offset plus the length of its text. */
  readonly live?: LivePosition;
  /**
   * Ends after the event that ends a run or has it wait for somebody; `at-once`: also where the last one that was seen is
   * such an event, and nobody has said or answered anything since. Otherwise it goes on until the signal fires. A thread
   * that is over for good ends it anyway.
   */
  readonly untilRest?: boolean | "at-once";
  readonly signal?: AbortSignal;
};

export async function* readStream(host: Host, threadId: string, options: StreamOptions): AsyncGenerator<StreamEvent> {
  const { after, run, live, signal, untilRest = false } = options;
  const seen = after === undefined || after === "now" ? undefined : readCursor(after);
  if (run !== undefined) checkRun(run, after);
  const thread = await host.stores.threads.get(threadId);
  if (!thread) throw threadNotFound(threadId);
  // What is committed already is history: the message tells it, and nobody says it any more.
  const { next_seq: wordsFrom } = thread;
  const before = seen && untilRest === "at-once" ? seen : undefined;
  let isAtRest = before ? undefined : false;
  let last: LastEvent | undefined;
  const isOver = async (read: number, hasCome: boolean) => {
    // Whoever stays for ever asks for no more than whether it is over, and only when it may be.
    if (untilRest === false && !(hasCome && (await mayBeOver(host, threadId)))) return false;
    const { thread: now, isBusy } = await look(host, threadId);
    // What was committed meanwhile is yet to be told.
    if (isBusy || (now?.next_seq ?? 0) > read + 1) return false;
    last = await lastEventOf(host, now, read);
    if (last || untilRest === false) return last !== undefined;
    isAtRest ??= before !== undefined && (await restAt(host, thread, before));
    return isAtRest;
  };
  const from = seen ?? (await placeToBegin(host, thread, { after, run }));
  for await (const event of follow(host, { threadId, from, live, wordsFrom, signal, isOver })) {
    isAtRest = restAfter(event, isAtRest);
    yield event;
  }
  if (last) yield last;
}

async function placeToBegin(
  { stores }: Host,
  { id, next_seq }: Thread,
  { after, run }: { readonly after: string | undefined; readonly run: number | undefined },
): Promise<Cursor> {
  if (after === "now") return afterCommit(next_seq - 1);
  if (run === undefined) return afterCommit(-1);
  // Looked for after the thread was read: what is not found there begins later.
  return afterCommit(((await stores.threads.firstEventOf(id, run)) ?? next_seq) - 1);
}

function checkRun(run: number, after: string | undefined): void {
  checkRunNumber(run);
  if (after !== undefined) throw holdfastError("invalid_argument", "A stream begins with a run or after an event.");
}
