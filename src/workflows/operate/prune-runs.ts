// Removes runs of workflows for good: those that ended long ago, and those that acted for a person who is forgotten.
import type { Host } from "../../threads/host.ts";
import type { Pruned, PrunePage } from "../../threads/housekeeping.ts";

const AT_ONCE = 100;

type Ids = (page: { readonly limit: number; readonly after?: string }) => Promise<readonly string[]>;

/**
 * The ids of some runs without a parent that ended so long ago, once they are deleted with all that stands below them. A run stays
 * while anything below it is at work, or was until lately. `dryRun`: those that would be, without what stands below.
 */
export async function prunePage(host: Host, { idleMs, dryRun, ...page }: PrunePage): Promise<Pruned> {
  const for_us = idleMs * 1_000;
  const find: Ids = (next) => host.stores.workflows.prunable({ for_us, ...next });
  return await deletePage(host, find, { ...page, dryRun: dryRun === true, reason: "retention", for_us });
}

/** The same for all of them. */
export async function pruneRuns(host: Host, idleMs: number, { dryRun = false } = {}): Promise<readonly string[]> {
  return await inPages((page) => prunePage(host, { idleMs, dryRun, ...page }));
}

/** A person, and the workspace that it is about; every one unless given. */
export type Forgotten = {
  readonly user_id: number;
  readonly workspace?: { readonly workspace_type: string; readonly workspace_id: string };
};

/** The ids of the runs that acted for a person, once they are deleted. What has not ended goes on, and is left. */
export async function eraseRunsOf(host: Host, { user_id, workspace }: Forgotten): Promise<readonly string[]> {
  const whose = { user_id: String(user_id), ...(workspace && { workspace }) };
  const find: Ids = (next) => host.stores.workflows.endedOfUser({ ...whose, ...next });
  return await inPages((page) => deletePage(host, find, { ...page, dryRun: false, reason: "forgotten", for_us: 0 }));
}

type Deletion = {
  readonly limit?: number;
  readonly after?: string;
  readonly dryRun: boolean;
  readonly reason: string;
  readonly for_us: number;
};

async function deletePage(
  { stores, progress }: Host,
  find: Ids,
  { limit = AT_ONCE, after, dryRun, reason, for_us }: Deletion,
): Promise<Pruned> {
  const ids = await find({ limit, ...(after !== undefined && { after }) });
  const deleted: string[] = dryRun ? [...ids] : [];
  for (const id of dryRun ? [] : ids) {
    // None where the run was reopened meanwhile, or something is at work further down.
    const gone = await stores.threads.delete(id, reason, for_us);
    for (const each of gone) progress.changed(each, true);
    deleted.push(...gone);
  }
  const next = ids.length < limit ? undefined : ids.at(-1);
  return { deleted, ...(next !== undefined && { next }) };
}

async function inPages(read: (page: { readonly after?: string }) => Promise<Pruned>): Promise<readonly string[]> {
  const deleted: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await read(after === undefined ? {} : { after });
    deleted.push(...page.deleted);
    after = page.next;
    if (after === undefined) return deleted;
  }
}
