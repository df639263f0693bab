// The history of a job, made from what is stored of it: its attempts, and the job itself while it is there.
import type { JobAttempt, JobTransition, ListedJob } from "./job-store.ts";

/** Oldest first. Without the job, from its first execution on. */
export function jobTransitions(
  attempts: readonly JobAttempt[],
  job: Pick<ListedJob, "status" | "created_at" | "started_at"> | undefined,
): readonly JobTransition[] {
  return [
    ...(job ? [{ from: null, to: "queued", reason: null, at: job.created_at } as const] : []),
    ...attempts.flatMap(ofAttempt),
    ...(job?.status === "running" && job.started_at !== null ? [begun(job.started_at)] : []),
  ];
}

function ofAttempt({ status, reason, started_at, ended_at }: JobAttempt): readonly JobTransition[] {
  if (started_at === null) return [{ from: "queued", to: status, reason, at: ended_at }];
  return [begun(started_at), { from: "running", to: status, reason, at: ended_at }];
}

function begun(at: number): JobTransition {
  return { from: "queued", to: "running", reason: null, at };
}
