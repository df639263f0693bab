// Children that are not added, because there is a job of their identity: all of them are found with one look at what is stored,
// before anything is sealed. The commit checks again, and is refused for one that has become a duplicate since.
import type { ClaimedJob, JobStore } from "../../../backend/gateway/job-store.ts";
import { dedupeIdentity } from "../../../contracts/gateway/dedupe.ts";
import type { Child } from "./new-child.ts";
import type { SealedJson } from "./sealed-json.ts";

export type Duplicate = {
  readonly child: Child;
  readonly existing_job_id: string | null;
  /** Whether nothing will come of the existing job any more. */
  readonly has_ended: boolean;
};

type Look = { readonly jobs: Pick<JobStore, "duplicates">; readonly sealed: Pick<SealedJson, "digest"> };

export async function findDuplicates(
  { jobs, sealed }: Look,
  job: Pick<ClaimedJob, "dedupe_hash">,
  children: readonly Child[],
): Promise<readonly Duplicate[]> {
  const keyed = children.flatMap((child) => {
    const identity = dedupeIdentity(child);
    return identity === undefined ? [] : [{ child, hash: sealed.digest(identity) }];
  });
  // What becomes of the identity of the job itself is decided by the commit.
  const others = keyed.filter(({ hash }) => hash !== job.dedupe_hash);
  const stored = await jobs.duplicates(others.map(({ child, hash }) => ({ ...child, hash })));
  const firsts = new Map<string, Child>();
  return keyed.flatMap(({ child, hash }): readonly Duplicate[] => {
    const existing = stored.get(child.id);
    if (existing) return [{ child, existing_job_id: existing.job_id, has_ended: existing.has_ended }];
    const first = firsts.get(hash);
    if (!first) firsts.set(hash, child);
    // Jobs of one event are other steps.
    const isAnother = first && first.source_event_id !== child.source_event_id;
    return isAnother ? [{ child, existing_job_id: first.id, has_ended: false }] : [];
  });
}
