// The check that what was stored is what the records lead to: switched on in tests, after every commit.
import type { ThreadStore } from "../backend/thread-store.ts";
import { sortedText } from "../contracts/canonical-json.ts";
import { unpackRecords } from "../loop/packed-records.ts";
import { fold } from "../loop/state.ts";

type Committed = { readonly id: string; readonly run: number; readonly nextSeq: number };

/** Throws unless the records of the run lead to the state, which is JSON. */
export async function verifyFold(
  threads: Pick<ThreadStore, "eventsOfRun">,
  { id, run, nextSeq }: Committed,
  state: string | null,
): Promise<void> {
  const all = await threads.eventsOfRun(id, run);
  // A process that slept after its commit may find those of its successor, too.
  const events = all.filter(({ seq }) => seq < nextSeq);
  const folded = sortedText(fold(events.flatMap(({ records }) => unpackRecords(records))));
  const stored = sortedText(JSON.parse(state ?? "null"));
  if (folded === stored) return;
  throw new Error(`The records of thread ${id} do not lead to its state:\n${folded}\n${stored}`);
}
