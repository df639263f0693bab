// The runs of a thread: one of them, all of them or a page.
import type { StoredRun } from "../backend/thread-rows.ts";
import { holdfastError } from "../contracts/error.ts";
import { checkNumber } from "./check-arguments.ts";
import type { Host } from "./host.ts";
import type { RunOutcome } from "./outcome.ts";
import { isWholeNumber } from "./whole-number.ts";

/** A run of a thread: what it came to, or waits for, once there is something to tell. */
export type ThreadRunSummary = Omit<StoredRun, "outcome"> & { readonly outcome: RunOutcome | null };

export type RunsPage = {
  /** The number of the last one that was seen. */
  readonly after?: number;
  /** All of them unless given. */
  readonly limit?: number;
};

/** Oldest first. Throws `invalid_argument`. */
export async function readRuns(
  { stores: { threads } }: Host,
  threadId: string,
  page: RunsPage = {},
): Promise<readonly ThreadRunSummary[]> {
  if (page.after !== undefined) checkRunNumber(page.after, 0);
  if (page.limit !== undefined) checkNumber("limit", page.limit);
  return (await threads.runs(threadId, page)).map(summary);
}

export async function readRun(
  { stores: { threads } }: Host,
  threadId: string,
  number: number,
): Promise<ThreadRunSummary | undefined> {
  checkRunNumber(number);
  const stored = await threads.run(threadId, number);
  return stored && summary(stored);
}

/** What the column holds. */
const MOST_RUNS = 2_147_483_647;

/** Throws `invalid_argument`. */
export function checkRunNumber(run: unknown, least = 1): void {
  if (isWholeNumber(run, least, MOST_RUNS)) return;
  throw holdfastError("invalid_argument", `The number of a run is a whole number from ${least}.`);
}

function summary({ outcome, ...run }: StoredRun): ThreadRunSummary {
  return { ...run, outcome: outcome === null ? null : (JSON.parse(outcome) as RunOutcome) };
}
