// Which messages go when one is to be erased, and what goes with them: a call with its result and all that was said for
// it, the summaries that may quote them, what people were asked about them, and what was told of their runs.
import type { StoredRequest } from "../backend/request-store.ts";
import type { StoredCall, StoredMessage, StoredRun } from "../backend/thread-rows.ts";
import { erasureOf, NO_SALT } from "../contracts/audit/erasure.ts";
import { createSigner } from "../contracts/audit/signer.ts";
import * as message from "../contracts/conversation/message.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { Batch } from "./batch.ts";
import type { HeldThread } from "./held-thread.ts";
import type { Host } from "./host.ts";
import type { RunOutcome } from "./outcome.ts";

/** One message, or all before one. */
type Which = { readonly seq: number } | { readonly before: number };

/** Who wants them erased, where that is known. */
type By = { readonly by?: JsonMap | undefined };

/** What is stored of a thread that an erasure has to know. */
type History = {
  readonly rows: readonly StoredMessage[];
  readonly runs: readonly StoredRun[];
  readonly calls: readonly StoredCall[];
  readonly requests: readonly StoredRequest[];
};

export async function readHistory({ stores: { threads, requests } }: Host, id: string): Promise<History> {
  const limit = Number.MAX_SAFE_INTEGER;
  return {
    rows: await threads.messages(id, { limit }),
    runs: await threads.runs(id),
    calls: await threads.calls(id),
    requests: await requests.list({ thread_id: id, limit }),
  };
}

/** Adds to the batch what erases them. What is gone already stays as it is. */
export function eraseMessages(host: Host, held: HeldThread, history: History, which: Which & By, batch: Batch): void {
  const gone = messagesToErase(history.rows, which, held.from.tailFrom);
  if (gone.length === 0) return;
  const { sign } = createSigner(host.sealing.signingSeed());
  for (const { seq, hash } of gone) batch.erase(seq, erasureOf({ thread: held.id, seq, hash }, sign));
  const seqs = gone.map(({ seq }) => seq);
  batch.writes.push({ write: "transcript_erased", thread_id: held.id, seqs });
  // Without a word of what they said.
  const { by = null } = which;
  batch.notes.push({ type: "messages_erased", metadata: { seqs, at: host.now(), by } });
  batch.facts.push({ type: "messages.erased", messages: seqs.length, by });
  const { entries, runs, outcomes, requests } = batch.forget();
  for (const { run, envelope } of gone) {
    const { id } = message.fromStored(envelope);
    if (typeof id === "string") entries.add(id);
    // What belongs to no run has the number 0.
    if (run > 0) runs.add(run);
  }
  for (const { run, outcome } of history.runs) {
    if (outcome !== null && runs.has(run)) outcomes.set(run, withoutWords(outcome));
  }
  for (const id of requestsFor(gone, history)) {
    requests.add(id);
    entries.add(`answer:${id}`);
  }
}

/** What somebody was asked for calls that are erased. One that was never begun is known by what the request shows of it. */
export function requestsFor(
  gone: readonly StoredMessage[],
  { calls, requests }: Pick<History, "calls" | "requests">,
): readonly string[] {
  const place = (run: number, call: unknown) => JSON.stringify([run, call]);
  const answeredAt = new Map(calls.map(({ run, number, message_seq }) => [place(run, number), message_seq]));
  const seqs = new Set(gone.map(({ seq }) => seq));
  const ids = new Set(gone.map(({ run, envelope }) => place(run, message.fromStored(envelope).metadata.tool_call_id)));
  return requests.flatMap(({ id, run, call, shown }) => {
    const seq = answeredAt.get(place(run, call)) ?? null;
    const { tool_call_id } = JSON.parse(shown) as { readonly tool_call_id?: unknown };
    const isErased =
      seq === null ? typeof tool_call_id === "string" && ids.has(place(run, tool_call_id)) : seqs.has(seq);
    return isErased ? [id] : [];
  });
}

/** Each stands for all its versions. */
export function messagesToErase(
  rows: readonly StoredMessage[],
  which: Which,
  tailFrom: number,
): readonly StoredMessage[] {
  const own = rows.filter(({ kind }) => kind !== "edit" && kind !== "deletion");
  const wanted = "seq" in which ? new Set([which.seq]) : new Set(own.map(({ seq }) => seq).filter(isBefore(which)));
  for (const group of callsIn(own)) if (group.some((seq) => wanted.has(seq))) for (const seq of group) wanted.add(seq);
  // What a prompt said for a call stands behind that call, and goes with it.
  for (const { seq, parent_seq } of own) if (parent_seq !== null && wanted.has(parent_seq)) wanted.add(seq);
  let first = Number.MAX_SAFE_INTEGER;
  for (const seq of wanted) if (seq < first) first = seq;
  // Nobody can tell what a summary says of what: those that were made later than the first may quote it.
  if (first < tailFrom) for (const { seq, kind } of own) if (kind === "summary" && seq > first) wanted.add(seq);
  const kept = new Set(rows.filter(({ kind, salt }) => kind !== "deletion" && salt !== NO_SALT).map(rootOf));
  return own.filter(({ seq }) => wanted.has(seq) && kept.has(seq));
}

function isBefore({ before }: { readonly before: number }): (seq: number) => boolean {
  return (seq) => seq < before;
}

function rootOf({ seq, supersedes }: StoredMessage): number {
  return supersedes ?? seq;
}

/** A call with all that names it, up to the next call that has the same id. */
function callsIn(rows: readonly StoredMessage[]): readonly (readonly number[])[] {
  const open = new Map<string, number[]>();
  const groups: number[][] = [];
  for (const { seq, depth, parent_seq, envelope } of rows) {
    const { type, metadata } = message.fromStored(envelope);
    if (metadata.tool_call_id === undefined) continue;
    const id = JSON.stringify([depth, parent_seq, metadata.tool_call_id]);
    const group = type === "tool_call" ? undefined : open.get(id);
    if (group) group.push(seq);
    else groups.push(open.set(id, [seq]).get(id) ?? []);
  }
  return groups;
}

/** How a run ended and what it took, without anything that was said in it. */
function withoutWords(stored: string): string {
  const outcome = JSON.parse(stored) as RunOutcome;
  const { status, completed, turn_count, usage, finish_reason, cost_usd, budget, stop_code } = outcome;
  const kept = { status, completed, final_content: "", turn_count, usage, finish_reason, cost_usd, budget, stop_code };
  return JSON.stringify(kept);
}
