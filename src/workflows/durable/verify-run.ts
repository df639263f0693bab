// The check that what was stored of a run is what its facts lead to: switched on in tests, after every commit.
import type { ThreadStore } from "../../backend/thread-store.ts";
import { sortedText } from "../../contracts/canonical-json.ts";
import { apply, draftOf } from "../machine/apply.ts";
import { initialState, type State } from "../machine/state.ts";
import type { LoggedFact } from "./run-batch.ts";

/** Throws unless the facts of the events before `nextSeq` lead to the state. */
export type VerifyRun = (state: State, nextSeq: number) => Promise<void>;

/** Every event is read once, so that long runs can be checked as well. */
export function createVerifyRun(threads: Pick<ThreadStore, "events">, id: string): VerifyRun {
  const folded = draftOf(initialState);
  let last = -1;
  return async (state, nextSeq) => {
    // A process that slept after its commit may find those of its successor, too: they are not looked at.
    while (last < nextSeq - 1) {
      const events = await threads.events(id, { after: last, limit: nextSeq - 1 - last });
      if (events.length === 0) throw new Error(`Events of run ${id} are missing after ${last}.`);
      for (const { seq, records } of events) {
        for (const fact of JSON.parse(records) as LoggedFact[]) apply(folded, fact);
        last = seq;
      }
    }
    const [expected, stored] = [folded, state].map((each) => sortedText(JSON.parse(JSON.stringify(each))));
    if (expected === stored) return;
    throw new Error(`The facts of run ${id} do not lead to its state:\n${expected}\n${stored}`);
  };
}
