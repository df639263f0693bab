// From stored rows to the transcript that a model is shown: what was superseded is replaced, what was deleted is gone.
import type { StoredMessage } from "../backend/thread-rows.ts";
import type { Message } from "../contracts/conversation/message.ts";
import * as message from "../contracts/conversation/message.ts";
import type { Frame } from "../loop/state.ts";
import type { OuterRows } from "./batch.ts";

/** A transcript, and the number of the row that each of its messages stands in. */
export type Transcript = { readonly messages: Message[]; readonly seqs: number[] };

/** Reads rows in the order they were loaded: the summary first, then the tail. */
export function readTranscript(rows: readonly StoredMessage[]): Transcript {
  const superseding = new Map<number, StoredMessage>();
  for (const row of rows) if (row.supersedes !== null) superseding.set(row.supersedes, row);
  const original = rows.filter(({ kind }) => kind === "message" || kind === "summary");
  const current = original.map((row) => currentVersion(superseding.get(row.seq) ?? row));
  if (superseding.size > 0) dropOtherHalves(original, current);
  const messages: Message[] = [];
  const seqs: number[] = [];
  original.forEach(({ seq }, index) => {
    const kept = current[index];
    if (!kept) return;
    messages.push(kept);
    seqs.push(seq);
  });
  return { messages, seqs };
}

/** The transcript of a thread and of each prompt that speaks for a call, the outermost first. */
type FrameTranscripts = {
  readonly transcripts: readonly (readonly Message[])[];
  /** The rows of the innermost, */
  readonly seqs: number[];
  /** and those of the ones that wait, with the row of the call that each waits with. */
  readonly outer: readonly OuterRows[];
};

export function readFrames(rows: readonly StoredMessage[], frames: readonly Pick<Frame, "at">[]): FrameTranscripts {
  let { messages, seqs } = readTranscript(rows.filter(({ depth }) => depth === 0));
  const transcripts = [messages];
  const outer: OuterRows[] = [];
  for (const [index, { at }] of frames.entries()) {
    const parent = seqs[at] ?? 0;
    outer.push({ seqs, parent });
    const isWithin = (row: StoredMessage) => row.depth === index + 1 && row.parent_seq === parent;
    ({ messages, seqs } = readTranscript(rows.filter(isWithin)));
    transcripts.push(messages);
  }
  return { transcripts, seqs, outer };
}

/** Undefined for one that was deleted. */
function currentVersion({ kind, envelope }: StoredMessage): Message | undefined {
  return kind === "deletion" ? undefined : message.fromStored(envelope);
}

/**
 * A call goes with its result: where one of the two was deleted or replaced by something else, the other is left out too,
 * because no model may be shown one without the other. A call that has no result yet is open, and stays.
 */
function dropOtherHalves(original: readonly StoredMessage[], current: (Message | undefined)[]): void {
  const open = new Map<unknown, number>();
  original.forEach(({ envelope }, index) => {
    const { type, metadata } = message.fromStored(envelope);
    const id = metadata.tool_call_id;
    if (type === "tool_call") open.set(id, index);
    const call = type === "tool_result" ? open.get(id) : undefined;
    if (call === undefined) return;
    open.delete(id);
    if (current[call]?.type === "tool_call" && current[index]?.type === "tool_result") return;
    if (current[call]?.type === "tool_call") current[call] = undefined;
    if (current[index]?.type === "tool_result") current[index] = undefined;
  });
}
