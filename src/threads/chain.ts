// The chain of the record log: each event's hash covers the one before, so that nothing in between can be changed or
// left out unnoticed. It covers salted hashes of content, so that content can be erased and the chain still holds.
import type { NewMessage } from "../backend/thread-store.ts";
import { sha256 } from "../contracts/canonical-json.ts";

/** What an event's hash is made of. */
export type Link = {
  readonly seq: number;
  readonly run: number;
  readonly records: string;
  readonly notes: string | null;
  /** Hashes of the messages that were written with it. */
  readonly messages: readonly string[];
};

/** The hash before the first event of a thread: threads do not share links. */
export function firstHash(threadId: string): string {
  return sha256(`thread\n${threadId}`);
}

export function nextHash(before: string, { seq, run, records, notes, messages }: Link): string {
  // Notes may quote content, so they too can be erased: only their hash is covered.
  const noted = notes === null ? "" : sha256(notes);
  return sha256(`${before}\n${seq}\n${run}\n${noted}\n${messages}\n${records}`);
}

/** Also covers what the message is for: one that was made a deletion would hide another. */
export function contentHash({ kind, supersedes, salt, envelope, depth, parent_seq }: Omit<NewMessage, "hash">): string {
  const place = depth === 0 ? "" : ` ${depth} ${parent_seq ?? ""}`;
  return sha256(`${salt}\n${kind} ${supersedes ?? ""}${place}\n${envelope}`);
}
