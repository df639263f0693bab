// When a thread rests: what its readers follow it to.
import type { Thread, ThreadGlance } from "../../backend/thread-rows.ts";
import { readEntry, staysStopped } from "../entries.ts";
import type { Host } from "../host.ts";
import { threadNotFound, threadStuck } from "../thread-errors.ts";
import { afterCommit, type Cursor, eventsOf, type StreamEvent } from "./stream.ts";

/** Whether the thread rests after an event; what is only told about it leaves that as it was, known or not. */
export function restAfter<Before extends boolean | undefined>(event: StreamEvent, isAtRest: Before): boolean | Before {
  if (!isOfRun(event)) return isAtRest;
  if (event.type === "run.ended") return true;
  // A thread that waits for its own child is at work.
  return event.type === "request.created" && event.kind !== "child";
}

/** What was done to the thread between two runs is none of either. */
function isOfRun(event: StreamEvent): boolean {
  if (event.type === "note" || event.type === "message.superseded") return false;
  return !("run" in event) || event.run > 0;
}

/** Commits that are looked back at for one that is part of a run: the last one, mostly. */
const LOOK_BACK = 4;

/** Whether the thread rested at a place in its log. */
export async function restAt({ stores: { threads } }: Host, thread: Thread, place: Cursor): Promise<boolean> {
  const seq = Math.min(place.seq, thread.next_seq - 1);
  const last = seq === place.seq ? place.place : Number.POSITIVE_INFINITY;
  for (let count = LOOK_BACK; ; count *= 4) {
    const from = Math.max(0, seq + 1 - count);
    const commits = await threads.events(thread.id, { after: from - 1, limit: seq + 1 - from });
    const messagesFrom = commits[0]?.messages_from ?? 0;
    const limit = (commits.at(-1)?.messages_to ?? 0) - messagesFrom;
    const messages = limit > 0 ? await threads.messages(thread.id, { from: messagesFrom, limit }) : [];
    const told = commits.flatMap((commit) => {
      const own = messages.filter((each) => each.seq >= commit.messages_from && each.seq < commit.messages_to);
      const events = eventsOf(commit, own);
      return commit.seq === seq ? events.slice(0, last + 1) : events;
    });
    const event = told.findLast(isOfRun);
    if (event) return restAfter(event, false);
    if (from === 0) return false;
  }
}

type Look = { readonly thread: Thread | undefined; readonly isBusy: boolean };

/**
 * How a thread stands, and whether it goes on by itself, because it runs or because something waits that it will run for.
 * Throws `thread_stuck` for one that will not.
 */
export async function look({ stores: { threads, inbox } }: Host, threadId: string): Promise<Look> {
  const waiting = await inbox.waiting(threadId);
  // Read after the inbox: what was taken in between shows in the status.
  const thread = await threads.get(threadId);
  const status = thread?.status;
  if (status === "stuck") throw threadStuck(threadId);
  const isAnswered = waiting.some(({ kind }) => kind === "answer" || kind === "stop");
  if (status === "stopped" && waiting.length > 0) {
    // A user has spoken, or said that it is to go on, since it was stopped.
    const isWoken = !staysStopped(waiting.map(readEntry), await inbox.lastStop(threadId));
    return { thread, isBusy: isAnswered || isWoken };
  }
  return { thread, isBusy: status === "running" || isAnswered || (status === "idle" && waiting.length > 0) };
}

export async function isBusy(host: Host, threadId: string): Promise<boolean> {
  return (await look(host, threadId)).isBusy;
}

export type Standing = {
  readonly thread: Thread;
  /** True when nothing happens to it before somebody says, answers or changes something. */
  readonly isAtRest: boolean;
};

/** How a thread stands at one moment. Throws `thread_not_found`. */
export async function standing(host: Host, threadId: string): Promise<Standing> {
  const seen = await host.stores.threads.glance(threadId);
  if (!seen) throw threadNotFound(threadId);
  return await standingOf(host, seen);
}

/** How a thread stood when it was seen, or stands now where what was left for it has to be looked at. */
export async function standingOf(host: Host, { thread, has_waiting }: ThreadGlance): Promise<Standing> {
  switch (thread.status) {
    case "stuck":
      return { thread, isAtRest: true };
    case "running":
      return { thread, isAtRest: false };
    case "idle":
      return { thread, isAtRest: !has_waiting };
    default:
      if (has_waiting) return await standingWithEntries(host, thread.id);
      return { thread, isAtRest: thread.status === "stopped" || (await hasEnded(host, thread)) };
  }
}

/** Whether its log, as far as the thread goes, ends where it rests. */
async function hasEnded(host: Host, thread: Thread): Promise<boolean> {
  return thread.run === 0 || (await restAt(host, thread, afterCommit(thread.next_seq - 1)));
}

/** Whether it rests depends on what was left for it. */
async function standingWithEntries(host: Host, threadId: string): Promise<Standing> {
  for (;;) {
    const before = await host.stores.threads.get(threadId);
    if (!before) throw threadNotFound(threadId);
    if (before.status === "stuck") return { thread: before, isAtRest: true };
    const { thread, isBusy: goesOn } = await look(host, threadId);
    // What was seen to wait may have been taken in, and be over, by now.
    if (thread?.next_seq !== before.next_seq && thread?.status !== "running") continue;
    return { thread, isAtRest: !goesOn && (await hasEnded(host, thread)) };
  }
}
