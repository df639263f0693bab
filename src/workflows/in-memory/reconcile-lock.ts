// One result at a time enters a run: two that come together would each overwrite what the other has entered.
import type { Hooks } from "../../contracts/hooks.ts";

const underWay = new Map<string, Promise<unknown>>();

/**
 * What the section returns, run when no other of this run is under way: in this process, or wherever a host's own lock
 * reaches. Undefined when the host's lock cannot be had.
 */
export async function withReconcileLock<Result>(
  runId: string,
  hooks: Hooks | undefined,
  section: () => Promise<Result>,
): Promise<Result | undefined> {
  const locked = (await hooks?.apply("workflowReconcileLock", null, runId, section)) ?? null;
  if (locked === false) return undefined;
  return locked === null ? await inTurn(runId, section) : (locked as Result);
}

async function inTurn<Result>(runId: string, section: () => Promise<Result>): Promise<Result> {
  const before = underWay.get(runId) ?? Promise.resolve();
  const mine = before.then(section, section);
  underWay.set(runId, mine);
  try {
    return await mine;
  } finally {
    if (underWay.get(runId) === mine) underWay.delete(runId);
  }
}
