// One result at a time enters a run: two that come together would each overwrite what the other has entered.
import type { Hooks } from "../../contracts/hooks.ts";
import type { RunRecorder } from "../../contracts/workflows/run-recorder.ts";

const underWay = new WeakMap<RunRecorder, Map<string, Promise<unknown>>>();

/**
 * What the section returns, run when no other of this run is under way: in this process, or wherever a host's own lock
 * reaches. Undefined when the host's lock cannot be had, also because it throws.
 */
export async function withReconcileLock<Result>(
  runId: string,
  recorder: RunRecorder,
  hooks: Hooks | undefined,
  section: () => Promise<Result>,
): Promise<Result | undefined> {
  let mine: Promise<Result> | undefined;
  const once = () => {
    mine ??= section();
    return mine;
  };
  let isLocked = true;
  try {
    isLocked = ((await hooks?.apply("workflowReconcileLock", null, runId, once)) ?? null) !== null;
  } catch {
    // What the section itself has thrown comes out below.
  }
  // Once it has begun, what came of the section counts, whatever became of the lock.
  if (mine) return await mine;
  return isLocked ? undefined : await inTurn(runId, recorder, once);
}

/** What the section returns, run when no other of this run is under way in this process. */
export async function inTurn<Result>(
  runId: string,
  recorder: RunRecorder,
  section: () => Promise<Result>,
): Promise<Result> {
  const runs = underWay.get(recorder) ?? new Map<string, Promise<unknown>>();
  underWay.set(recorder, runs);
  const before = runs.get(runId) ?? Promise.resolve();
  const mine = before.then(section, section);
  runs.set(runId, mine);
  try {
    return await mine;
  } finally {
    if (runs.get(runId) === mine) runs.delete(runId);
  }
}
