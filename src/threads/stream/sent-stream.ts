// What a send sets going, event by event: the other reading of the run that takes the message in. It starts nothing.

import type { Host } from "../host.ts";
import { follow } from "./follow.ts";
import { isBusy, restAfter } from "./rest.ts";
import { afterCommit, type Cursor, type StreamEvent } from "./stream.ts";

type Outcome = { readonly waiting_for?: { readonly request_id: string } };

type Sent = {
  readonly threadId: string;
  /** The message, once it is stored. */
  readonly entry: Promise<{ readonly id: string }>;
  /** What the send comes to. */
  readonly outcome: Promise<Outcome>;
  readonly signal?: AbortSignal | undefined;
};

/**
 * From the event that adds the message to the one with which its run ends or waits for somebody. It throws what the send
 * throws. When the thread waits already, and takes no message in before somebody has answered, there is nothing to tell.
 */
export async function* sentStream(host: Host, { threadId, entry, outcome, signal }: Sent): AsyncGenerator<StreamEvent> {
  let settled: { readonly value: Outcome } | { readonly error: unknown } | undefined;
  const rings = outcome.then(
    (value) => {
      settled = { value };
    },
    (error: unknown) => {
      settled = { error };
    },
  );
  // Asked for before the message can be taken in, mostly; what goes wrong here the send tells.
  const opening = host.stores.threads.get(threadId).catch(() => undefined);
  const { id } = await entry;
  const from = await placeBefore(host, threadId, id, (await opening)?.next_seq ?? 0);
  let isAdded = false;
  let isAtRest = false;
  const isOver = async () => {
    if (settled && "error" in settled) throw settled.error;
    return isAdded ? isAtRest && !(await isBusy(host, threadId)) : settled !== undefined;
  };
  // There is no history in it: all the words are told, however late they are read.
  for await (const event of follow(host, { threadId, from, wordsFrom: 0, signal, isOver, rings })) {
    isAdded ||= event.type === "message.added" && event.message.id === id;
    if (!isAdded) continue;
    isAtRest = restAfter(event, isAtRest);
    yield event;
    if (event.type === "run.ended") return;
    const awaited = settled && "value" in settled ? settled.value.waiting_for?.request_id : undefined;
    if (event.type === "request.created" && event.request_id === awaited) return;
  }
}

/** A place in the log before which the message was not added. `next`: the commit that came next when it was asked for. */
async function placeBefore({ stores }: Host, threadId: string, entryId: string, next: number): Promise<Cursor> {
  const fate = await stores.inbox.fate(threadId, entryId);
  if (!fate?.drained || fate.run === null) return afterCommit(next - 1);
  return afterCommit(((await stores.threads.firstEventOf(threadId, fate.run)) ?? 0) - 1);
}
