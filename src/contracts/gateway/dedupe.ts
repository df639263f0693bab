// Which jobs are the same work: at most one of an identity is outstanding, and none follows a success for a while.

/** How long a success blocks its duplicates unless the configuration says otherwise: 24 hours. */
export const DEDUPE_TTL_MS = 24 * 60 * 60 * 1000;

/** Dedupe key, plugin and command as one text; undefined for a blank key, which never dedupes. */
export function dedupeIdentity(job: {
  readonly dedupe_key: string | null | undefined;
  readonly plugin: string;
  readonly command: string;
}): string | undefined {
  const key = job.dedupe_key?.trim() ?? "";
  return key === "" ? undefined : JSON.stringify([key, job.plugin, job.command]);
}
