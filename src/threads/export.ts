// Everything that is stored of a thread, in one value: for backups, for a move, and for whoever has to prove what happened.
import type { StoredRequest } from "../backend/request-store.ts";
import type { StoredCall, StoredEvent, StoredMessage, StoredRun, Thread } from "../backend/thread-store.ts";
import { contentHash, firstHash, nextHash, notesHash } from "../contracts/audit/chain.ts";
import { NO_SALT } from "../contracts/audit/erasure.ts";
import type { Host } from "./host.ts";
import { threadNotFound } from "./thread-errors.ts";

export type ThreadExport = {
  readonly schema: "holdfast.thread-export";
  readonly version: 1;
  readonly thread: Thread;
  readonly messages: readonly StoredMessage[];
  readonly events: readonly StoredEvent[];
  readonly runs: readonly StoredRun[];
  readonly calls: readonly StoredCall[];
  /** Without what is sealed. */
  readonly requests: readonly Omit<StoredRequest, "sealed">[];
};

export async function exportThread(host: Host, id: string): Promise<ThreadExport> {
  const { threads, requests } = host.stores;
  const thread = await threads.get(id);
  if (!thread) throw threadNotFound(id);
  // Up to where the thread was when it was read: what is added meanwhile belongs to the next export.
  const whole = { limit: Number.MAX_SAFE_INTEGER };
  const events = (await threads.events(id, whole)).filter(({ seq }) => seq < thread.next_seq);
  const messages = (await threads.messages(id, whole)).filter(({ seq }) => seq < thread.next_message);
  const asked = await requests.list({ thread_id: id, limit: Number.MAX_SAFE_INTEGER });
  // What was deleted while it was read is not there to be told of in part.
  if (!(await threads.get(id))) throw threadNotFound(id);
  return {
    schema: "holdfast.thread-export",
    version: 1,
    thread,
    messages,
    events,
    runs: await threads.runs(id),
    calls: await threads.calls(id),
    requests: asked.map(({ sealed: _sealed, ...request }) => request),
  };
}

/**
 * The first event that is not what was written, or undefined when the whole chain holds. What was erased is not looked at;
 * for whoever does not trust the database there is `verifyAudit`.
 */
export function firstBrokenEvent({ thread, events, messages }: ThreadExport): number | undefined {
  const bySeq = new Map(messages.map((message) => [message.seq, message]));
  let before = firstHash(thread.id);
  let next = 0;
  for (const event of events) {
    const hashes: string[] = [];
    let isWhole = event.seq === next++ && hasItsNotes(event);
    for (let seq = event.messages_from; seq < event.messages_to; seq++) {
      const message = bySeq.get(seq);
      isWhole &&= message !== undefined && (message.salt === NO_SALT || contentHash(message) === message.hash);
      hashes.push(message?.hash ?? "");
    }
    before = nextHash(before, { ...event, messages: hashes });
    if (!isWhole || before !== event.hash) return event.seq;
  }
  return next === thread.next_seq ? undefined : next;
}

function hasItsNotes({ notes, salt, notes_hash }: StoredEvent): boolean {
  return notes === null || (salt !== null && notesHash(salt, notes) === notes_hash);
}
