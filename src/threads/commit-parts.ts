// What a batch means for the commit that stores it.
import type { Erasure } from "../backend/thread-commit.ts";
import type { Write } from "../backend/write.ts";
import type { Fact, Position } from "../loop/records.ts";
import type { State } from "../loop/state.ts";
import type { Batch } from "./batch.ts";
import type { Host } from "./host.ts";

/** When the thread is to be looked at again, in milliseconds from now; null when somebody wakes it. */
export type Settling = { readonly dueAfter: number | null };

/** False for beginning once more what went wrong before. */
export function isProgress({ drained, writes, records }: Batch): boolean {
  return drained.length + writes.length > 0 || records.some(({ fact }) => !isBeginning(fact));
}

/** What is also written down when something is only begun once more. */
function isBeginning({ type }: Fact): boolean {
  return type === "attempt.lost" || type === "turn.assembled" || type === "begun" || type === "effect.released";
}

/** A commit is named after what it is made for. */
export function pointOf({ records, calls }: Batch, settling: Settling | undefined): string {
  const last = records.at(-1)?.fact;
  const name =
    last?.type === "begun" ? `begun ${last.effect.kind}` : (last?.type ?? (calls.length > 0 ? "begun again" : "inbox"));
  return settling ? `${name} and settle` : name;
}

/** No call is open and none is to come: the history is whole. */
export function isSettled(state: State | null): boolean {
  if (!state) return true;
  const { position, batch, frames } = state;
  return frames.length === 0 && !isInCall(position) && batch.next >= batch.count;
}

function isInCall(position: Position): boolean {
  return position.startsWith("call.");
}

export function erasureOf({ outcomes, entries, runs, requests }: NonNullable<Batch["erasure"]>): Erasure {
  return {
    outcomes: [...outcomes].map(([run, outcome]) => ({ run, outcome })),
    ...{ entries: [...entries], runs: [...runs], requests: [...requests] },
  };
}

/** True for what ends this thread, or one above it: it leaves a wish to stop in the same commit. */
export function isEnd({ write }: Write): boolean {
  return write === "terminate";
}

/** Those for whom the commit has left something may be at work in this process. */
export function tellOthers({ news, progress }: Host, own: string, { writes }: Batch): void {
  for (const write of writes) {
    if (write.write !== "entry" && write.write !== "answer" && write.write !== "terminate") continue;
    if (write.thread_id === own) continue;
    news?.add(write.thread_id);
    progress.changed(write.thread_id);
  }
}
