// How a commit can fail, and how long it is tried again: the result of finished work must not be lost because the database
// was away.
import { HoldfastError } from "../contracts/error.ts";

/** Another worker holds the lease now: nothing more may be done here for what it was for. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** Something changed from outside while a commit was prepared: everything has to be read again. */
export class CommitConflict extends Error {
  override readonly name = "CommitConflict";
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** Tries again for as long as the database is down or refuses writes. Throws `LeaseLost` once the work was given up meanwhile. */
export async function retryWhileDatabaseDown<Value>(
  attempt: () => Promise<Value>,
  isGivenUp: () => boolean,
): Promise<Value> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (thrown) {
      if (!isPassing(thrown)) throw thrown;
      if (isGivenUp()) throw new LeaseLost("The work was given up while the database was away.");
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
