// Everything that is stored of a thread, in one value: for backups, for a move, and for whoever has to prove what happened.
import type { StoredRequest } from "../backend/request-store.ts";
import type { StoredCall, StoredEvent, StoredMessage, StoredRun, Thread } from "../backend/thread-rows.ts";
import { contentHash, firstHash, nextHash, notesHash } from "../contracts/audit/chain.ts";
import { NO_SALT } from "../contracts/audit/erasure.ts";
import { checkFields, checkNumber } from "./check-arguments.ts";
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
  /** The last event of a part that is not the last one: the next begins after it. */
  readonly next?: number;
};

/** So many events after one, with their messages; what else there is comes with the first. All of it unless given. */
export type ExportPart = { readonly after?: number; readonly limit?: number };

export async function exportThread(host: Host, id: string, part: ExportPart = {}): Promise<ThreadExport> {
  checkFields("part", part, ["after", "limit"]);
  const { after = BEFORE_ALL, limit = Number.MAX_SAFE_INTEGER - 1 } = part;
  for (const [argument, value] of Object.entries(part)) if (value !== undefined) checkNumber(argument, value);
  const { threads, requests } = host.stores;
  const thread = await threads.get(id);
  if (!thread) throw threadNotFound(id);
  // Up to where the thread was when it was read: what is added meanwhile belongs to the next export.
  const found = (await threads.events(id, { after, limit: limit + 1 })).filter(({ seq }) => seq < thread.next_seq);
  const events = found.slice(0, limit);
  const isFirst = after === BEFORE_ALL;
  const from = isFirst ? 0 : (events[0]?.messages_from ?? thread.next_message);
  const next = found.length > limit ? events.at(-1) : undefined;
  const to = next?.messages_to ?? thread.next_message;
  const messages = (await threads.messages(id, { from, limit: to - from })).filter(({ seq }) => seq < to);
  const asked = isFirst ? await requests.list({ thread_id: id, limit: Number.MAX_SAFE_INTEGER }) : [];
  // What was deleted while it was read is not there to be told of in part.
  if (!(await threads.get(id))) throw threadNotFound(id);
  return {
    schema: "holdfast.thread-export",
    version: 1,
    thread,
    messages,
    events,
    runs: isFirst ? await threads.runs(id) : [],
    calls: isFirst ? await threads.calls(id) : [],
    requests: asked.map(({ sealed: _sealed, ...request }) => request),
    ...(next && { next: next.seq }),
  };
}

/** Events are numbered from 0. */
const BEFORE_ALL = -1;

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
