// When a job is dropped because its work is queued, runs or was done already.
import { sha256 } from "../canonical-json.ts";
import { hasEnded, type JobStatus } from "./job.ts";

export type DedupeIdentity = {
  readonly key: string | null | undefined;
  readonly plugin: string;
  readonly command: string;
};

/** How long a success blocks its duplicates unless the configuration says otherwise: 24 hours. */
export const DEDUPE_TTL_MS = 24 * 60 * 60 * 1000;

/** Hash of dedupe key, plugin and command; undefined for a blank key, which never dedupes. */
export function dedupeHash({ key, plugin, command }: DedupeIdentity): string | undefined {
  const trimmed = key?.trim() ?? "";
  return trimmed === "" ? undefined : sha256(JSON.stringify([trimmed, plugin, command]));
}

/** A job of the queue, as far as it can block another. */
export type KnownJob = DedupeIdentity & {
  readonly status: JobStatus;
  /** Since it succeeded. */
  readonly age_ms: number;
  /** True when both jobs stem from one event: then they are two steps. */
  readonly same_source_event?: boolean;
};

/** True when the job is to be dropped: its twin is outstanding, or has succeeded within the window. */
export function isDuplicate(existing: KnownJob, job: DedupeIdentity, keepMs: number = DEDUPE_TTL_MS): boolean {
  const hash = dedupeHash(job);
  if (hash === undefined || hash !== dedupeHash(existing)) return false;
  if (!hasEnded(existing.status)) return existing.same_source_event !== true;
  return existing.status === "succeeded" && existing.age_ms <= keepMs;
}
