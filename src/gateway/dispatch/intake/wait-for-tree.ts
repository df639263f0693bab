// Waits until every job of a tree has ended. Children are queued with the commit of their parent, so a tree without an
// outstanding job has none to come.
import type { JobStore } from "../../../backend/gateway/job-store.ts";
import type { Changes } from "../changes.ts";

const POLL_MS = 1_000;

export type WaitDeps = { readonly jobs: Pick<JobStore, "outstanding">; readonly changes: Changes };

/** False when the signal fired first: the time was up, or the caller left. */
export async function waitForTree(
  { jobs, changes }: WaitDeps,
  rootJobId: string,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    const changed = changes.next(POLL_MS, signal);
    if ((await jobs.outstanding(rootJobId)) === 0) return true;
    await changed;
  }
  return false;
}
