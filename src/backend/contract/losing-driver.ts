// A driver whose connection breaks while it commits, for tests: what the database did then, nobody is told.
import type { BatchOutcome, SqlDriver, Statement } from "../sql-driver.ts";

/** What becomes of the next batch: it was committed, it never arrived, or it is committed after it was looked for. */
export type Loss = "its answer" | "the batch itself" | "its order";

export const losses: readonly Loss[] = ["its answer", "the batch itself", "its order"];

export type LosingDriver = SqlDriver & {
  /** Loses something of the next batch, or of one that comes so many after it; all others arrive. */
  loseNext(loss: Loss, after?: number): void;
};

export function losingDriver(driver: SqlDriver): LosingDriver {
  let next: { readonly loss: Loss; after: number } | undefined;
  let late: readonly Statement[] | undefined;

  async function batch(statements: readonly Statement[]): Promise<BatchOutcome> {
    const losing = next && next.after-- === 0 ? next.loss : undefined;
    if (losing) next = undefined;
    if (late) await driver.batch(late);
    late = losing === "its order" ? statements : undefined;
    if (losing === undefined) return await driver.batch(statements);
    if (losing === "its answer") await driver.batch(statements);
    return { outcome: "unknown", cause: new Error("The connection was lost while committing.") };
  }

  return {
    ...driver,
    batch,
    loseNext(loss, after = 0) {
      next = { loss, after };
    },
  };
}
