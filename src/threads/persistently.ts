// How a commit can fail, and how long it is tried again: what was done must not be forgotten because the database was away.
import { HoldfastError } from "../contracts/error.ts";

/** Somebody else holds the thread now: nothing more may be done for it here. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** Something outside changed while a commit was made ready: everything has to be read again. */
export class Overtaken extends Error {
  override readonly name = "Overtaken";
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** Tries again for as long as only the database is to blame. */
export async function persistently<Value>(attempt: () => Promise<Value>, isGivenUp: () => boolean): Promise<Value> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (thrown) {
      if (!isPassing(thrown)) throw thrown;
      if (isGivenUp()) throw new LeaseLost("The thread was given up while the database was away.");
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

const passing: readonly string[] = ["database_unavailable", "database_full", "database_read_only"];

/** Classes of PostgreSQL's codes: read only, conflicts, lack of resources, not in that state, intervention, system errors. */
const PASSING_STATES = /^(25006|40...|53...|55...|57...|58...)$/;

function isPassing(thrown: unknown): boolean {
  if (thrown instanceof HoldfastError) return passing.includes(thrown.code);
  return thrown instanceof Error && "code" in thrown && PASSING_STATES.test(String(thrown.code));
}
