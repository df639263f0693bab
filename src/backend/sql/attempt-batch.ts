// A batch whose answer may get lost on the way: it is looked up, and tried again when it did not happen.
import type { BatchOutcome, SqlDriver, Statement } from "../sql-driver.ts";

export type Known = Exclude<BatchOutcome, { outcome: "unknown" }>;

/** For batches of which nobody wants the rows. */
export const COMMITTED: Known = { outcome: "committed", rows: [] };

/**
 * Runs a batch until its outcome is known. `happened` tells what it came to if it was committed after all; batches
 * that may be repeated need none. It is asked again when a repetition is refused: what was lost may have been under way
 * the first time.
 */
export async function attemptBatch(
  driver: SqlDriver,
  statements: readonly Statement[],
  happened: () => Promise<Known | undefined> = async () => undefined,
): Promise<Known> {
  for (let isRepeated = false; ; isRepeated = true) {
    const outcome = await driver.batch(statements);
    if (outcome.outcome === "committed" || (outcome.outcome === "refused" && !isRepeated)) return outcome;
    const known = await happened();
    if (known) return known;
    if (outcome.outcome === "refused") return outcome;
  }
}
