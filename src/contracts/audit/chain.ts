// The chain of the record log: each event's hash covers the one before, so that nothing in between can be changed or
// left out unnoticed. It covers salted hashes of content, so that content can be erased and the chain still holds. What
// is hashed is canonical JSON: no two values have the same text, whatever they hold.
import { sha256 } from "../canonical-json.ts";
import { orderedText } from "./canonical-text.ts";

/** What an event's hash is made of beside the hash before it. */
export type Link = {
  readonly seq: number;
  readonly run: number;
  readonly step: number;
  readonly records: string;
  /** Notes may quote content, so they too can be erased: only their salted hash is covered. */
  readonly notes_hash: string | null;
  readonly messages_from: number;
  /** Hashes of the messages that were written with it. */
  readonly messages: readonly string[];
  readonly tail_from: number;
  readonly summary_seq: number | null;
  readonly settled: boolean;
};

/** The hash before the first event of a thread: threads do not share links. */
export function firstHash(threadId: string): string {
  return sha256(orderedText({ holdfast: "thread", thread: threadId }));
}

export function nextHash(previous: string, link: Link): string {
  const { seq, run, step, records, notes_hash, messages_from, messages, tail_from, summary_seq, settled } = link;
  const covered = { holdfast: "event", messages, messages_from, notes_hash, previous, records, run, seq, settled };
  return sha256(orderedText({ ...covered, step, summary_seq, tail_from }));
}

/** Salted: what notes say can often be guessed, and a guess must not be checkable once they are erased. */
export function notesHash(salt: string, notes: string): string {
  return sha256(orderedText({ holdfast: "notes", notes, salt }));
}

/** A message as far as its hash covers it. */
export type Content = {
  readonly kind: string;
  readonly supersedes: number | null;
  readonly depth: number;
  readonly parent_seq: number | null;
  readonly salt: string;
  readonly envelope: string;
};

/** Also covers what the message is for: one that was made a deletion would hide another. */
export function contentHash({ kind, supersedes, salt, envelope, depth, parent_seq }: Content): string {
  return sha256(orderedText({ depth, envelope, holdfast: "message", kind, parent_seq, salt, supersedes }));
}
