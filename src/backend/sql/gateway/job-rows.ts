// From the rows of jobs to what the port speaks of.
import type { JobStatus, PipelinePlace } from "../../../contracts/gateway/job.ts";
import type { ClaimedJob, JobAttempt, ListedJob } from "../../gateway/job-store.ts";
import type { Row } from "../../sql-driver.ts";
import * as rows from "../rows.ts";

/** The `due_at` of a job that waits for no time: however the clock is set, it may be claimed. */
export const DUE = 0;

/** The columns of a job that are listed. */
export const JOB = `id, plugin, command, status, attempt, max_attempts, submitted_by, parent_job_id, root_job_id,
  source_event_id, context_id, pipeline, step_id, step_digest, instance_id, depth, user_id, dedupe_hash, waits_for_instance,
  reason, sealed_error, cancel_requested_by, created_at, started_at, completed_at, due_at`;

/** The same of a job that is in the log alone. */
export const LOGGED_JOB = `id, plugin, command, status, attempt, max_attempts, submitted_by, parent_job_id, root_job_id,
  source_event_id, null as context_id, pipeline, step_id, null as step_digest, instance_id, depth, user_id, null as dedupe_hash,
  null as waits_for_instance, reason, sealed_error, cancel_requested_by, created_at, started_at, completed_at,
  cast(null as bigint) as due_at`;

/** What stands beside the row of a job. */
export const PAYLOAD = payloadOf("gateway_jobs");
export const LOGGED_PAYLOAD = payloadOf("gateway_logged_jobs");
export const CLAIMED = `${JOB}, epoch, ${PAYLOAD},
  (select sealed_accumulated from gateway_contexts where gateway_contexts.id = gateway_jobs.context_id) as sealed_context`;

export function listedJob(row: Row): ListedJob {
  return {
    id: rows.text(row.id),
    plugin: rows.text(row.plugin),
    command: rows.text(row.command),
    status: row.status as JobStatus,
    attempt: rows.number(row.attempt),
    max_attempts: rows.number(row.max_attempts),
    submitted_by: rows.text(row.submitted_by),
    parent_job_id: rows.optionalText(row.parent_job_id),
    root_job_id: rows.text(row.root_job_id),
    source_event_id: rows.optionalText(row.source_event_id),
    context_id: rows.optionalText(row.context_id),
    place: place(row),
    user_id: rows.optionalText(row.user_id),
    dedupe_hash: rows.optionalText(row.dedupe_hash),
    waits_for_instance: rows.optionalText(row.waits_for_instance),
    reason: rows.optionalText(row.reason),
    sealed_error: rows.optionalText(row.sealed_error),
    cancel_requested_by: rows.optionalText(row.cancel_requested_by),
    created_at: rows.number(row.created_at),
    started_at: rows.optionalNumber(row.started_at),
    completed_at: rows.optionalNumber(row.completed_at),
    due_at: dueAt(row),
  };
}

/** A job that is due whatever the clock says has been so from the beginning. */
function dueAt({ due_at, created_at }: Row): number | null {
  const due = rows.optionalNumber(due_at);
  return due === DUE ? rows.number(created_at) : due;
}

export function claimedJob(row: Row): ClaimedJob {
  return {
    ...listedJob(row),
    sealed_payload: rows.optionalText(row.sealed_payload),
    sealed_context: rows.optionalText(row.sealed_context),
    epoch: rows.number(row.epoch),
  };
}

function place({ pipeline, step_id, step_digest, instance_id, depth }: Row): PipelinePlace | null {
  if (pipeline == null) return null;
  const digest = rows.optionalText(step_digest);
  return {
    pipeline: rows.text(pipeline),
    step_id: rows.text(step_id),
    ...(digest !== null && { step_digest: digest }),
    instance_id: rows.text(instance_id),
    depth: rows.number(depth),
  };
}

export const ATTEMPT = `attempt, status, outcome, reason, exit_code, started_at, ended_at, sealed_response, sealed_stderr,
  sealed_error`;

export function attempt(row: Row): JobAttempt {
  return {
    attempt: rows.number(row.attempt),
    status: row.status as JobStatus,
    outcome: row.outcome as JobAttempt["outcome"],
    reason: rows.optionalText(row.reason),
    exit_code: rows.optionalNumber(row.exit_code),
    started_at: rows.optionalNumber(row.started_at),
    ended_at: rows.number(row.ended_at),
    sealed_response: rows.optionalText(row.sealed_response),
    sealed_stderr: rows.optionalText(row.sealed_stderr),
    sealed_error: rows.optionalText(row.sealed_error),
  };
}

function payloadOf(table: string): string {
  return `(select sealed from gateway_payloads where job_id = ${table}.id) as sealed_payload`;
}
