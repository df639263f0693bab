// What has to be done now and then and belongs to no thread: checkpoints of the audit are signed, what nobody needs any more
// is removed. Any number of processes may do it at once.
import type { Audit } from "../audit/audit.ts";
import type { Unnamed } from "../backend/file-store.ts";
import type { Host } from "./host.ts";
import { createSweep } from "./sweep-files.ts";
import { isWholeNumber } from "./whole-number.ts";

export type Retention = {
  /** How long a thread may rest before it is deleted with all that descend from it; for ever unless given. */
  readonly threadIdleMs?: number;
  /** How long a run of a workflow is kept after it has ended, with all below it; as long as threads unless given, for ever with null. */
  readonly workflowRunMs?: number | null;
  /** How long a session is kept that nobody writes to; for ever unless given. */
  readonly sessionIdleMs?: number;
  /** How long the first outcome of a write is kept for whoever repeats it with its key; a day unless given. */
  readonly outcomeMs?: number;
};

export type HousekeepingOptions = {
  readonly retention?: Retention;
  /** How often checkpoints are signed and old records removed; every ten minutes unless given, never with null. */
  readonly everyMs?: number | null;
};

const TEN_MINUTES_MS = 600_000;
const AT_ONCE = 100;

export type PrunePage = {
  readonly idleMs: number;
  readonly dryRun?: boolean;
  /** How many threads are looked at, without those that descend from them; 100 unless given. */
  readonly limit?: number;
  /** What the page before was said to be followed by. */
  readonly after?: string;
};

/** `next`: there only while there may be more. */
export type Pruned = { readonly deleted: readonly string[]; readonly next?: string };

/**
 * The ids of some threads that nobody has used for so long and that wait for nothing, once they are deleted. `dryRun`: those
 * that would be, without the ones that descend from them.
 */
export async function prunePage({ stores, progress }: Host, page: PrunePage): Promise<Pruned> {
  const { idleMs, dryRun = false, limit = AT_ONCE, after } = page;
  const for_us = idleMs * 1_000;
  const ids = await stores.threads.idle({ for_us, limit, ...(after !== undefined && { after }) });
  const deleted: string[] = dryRun ? [...ids] : [];
  for (const id of dryRun ? [] : ids) {
    // None where somebody came back meanwhile, or is at work further down.
    const gone = await stores.threads.delete(id, "retention", for_us);
    for (const each of gone) progress.changed(each, true);
    deleted.push(...gone);
  }
  const next = ids.length < limit ? undefined : ids.at(-1);
  return { deleted, ...(next !== undefined && { next }) };
}

/** The same for all of them. */
export async function pruneThreads(host: Host, idleMs: number, { dryRun = false } = {}): Promise<readonly string[]> {
  const deleted: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await prunePage(host, { idleMs, dryRun, ...(after !== undefined && { after }) });
    deleted.push(...page.deleted);
    after = page.next;
    if (after === undefined) return deleted;
  }
}

/** Removes the bytes that no file names any more, at once; `dryRun` only counts them. */
export async function pruneFiles({ stores: { files } }: Host, { dryRun = false } = {}): Promise<Unnamed> {
  if (dryRun) return await files.countUnnamed();
  const removed = { contents: 0, bytes: 0 };
  for (;;) {
    const { contents, bytes } = await files.removeUnnamed(await files.unnamed(AT_ONCE));
    if (contents === 0) return removed;
    removed.contents += contents;
    removed.bytes += bytes;
  }
}

/** What is looked after beside threads. */
type Kept = {
  readonly audit: Audit;
  /** Deletes the runs of workflows that ended so long ago. */
  readonly pruneRuns: (idleMs: number) => Promise<unknown>;
};

/** Begins, and gives what ends it. What goes wrong is told, and tried again the next time. */
export function startHousekeeping(
  host: Host,
  { audit, pruneRuns }: Kept,
  options: HousekeepingOptions,
): () => Promise<void> {
  const { retention = {}, everyMs = TEN_MINUTES_MS } = options;
  if (everyMs === null) return async () => undefined;
  const sweep = createSweep({ files: host.stores.files, now: host.now });
  let underWay: Promise<void> | undefined;
  const timer = setInterval(() => {
    // A round that takes longer than the time between two is not followed by a heap of others.
    underWay ??= keepHouse(host, { audit, pruneRuns }, retention)
      .then(sweep)
      .catch((thrown: unknown) => host.report(thrown, ""))
      .finally(() => {
        underWay = undefined;
      });
  }, everyMs);
  // It is no reason to keep a process alive.
  timer.unref();
  return async () => {
    clearInterval(timer);
    await underWay;
  };
}

async function keepHouse(host: Host, { audit, pruneRuns }: Kept, retention: Retention): Promise<void> {
  const { threadIdleMs, sessionIdleMs, workflowRunMs = threadIdleMs ?? null } = retention;
  if (threadIdleMs !== undefined) await pruneThreads(host, threadIdleMs);
  if (workflowRunMs !== null) await pruneRuns(workflowRunMs);
  const before = sessionIdleMs === undefined ? undefined : (host.now() - sessionIdleMs) * 1_000;
  await host.stores.sessions.expire(before === undefined ? {} : { before });
  await host.stores.outcomes.expire();
  await audit.checkpoint();
}

/** What is wrong with the options, in words; undefined when nothing is. */
export function housekeepingProblem({ retention = {}, everyMs }: HousekeepingOptions): string | undefined {
  const isTime = (value: unknown) => value === undefined || isWholeNumber(value, 1);
  if (!isTime(retention.threadIdleMs)) return "retention.threadIdleMs must be a whole number of milliseconds";
  if (retention.workflowRunMs !== null && !isTime(retention.workflowRunMs)) {
    return "retention.workflowRunMs must be a whole number of milliseconds, or null";
  }
  if (!isTime(retention.sessionIdleMs)) return "retention.sessionIdleMs must be a whole number of milliseconds";
  if (!isTime(retention.outcomeMs)) return "retention.outcomeMs must be a whole number of milliseconds";
  if (everyMs !== null && everyMs !== undefined && !isWholeNumber(everyMs, 1, 2 ** 31 - 1)) {
    return "housekeeping.everyMs must be from 1 to 2147483647 milliseconds, or null";
  }
  return undefined;
}
