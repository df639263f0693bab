// From the rows of jobs to what the port speaks of.
import type { JobStatus, PipelinePlace } from "../../../contracts/gateway/job.ts";
import type { ClaimedJob, JobAttempt, ListedJob, LoggedAttempt } from "../../gateway/job-store.ts";
import type { Row } from "../../sql-driver.ts";
import * as rows from "../rows.ts";

/** The columns of a job that are listed. */
export const JOB = `id, plugin, command, status, attempt, max_attempts, submitted_by, parent_job_id, root_job_id,
  source_event_id, context_id, pipeline, step_id, instance_id, depth, user_id, dedupe_hash, waits_for_instance, reason,
  sealed_error, cancel_requested_by, created_at, started_at, completed_at, due_at`;

/** What stands beside the row of a job. */
export const PAYLOAD = "(select sealed from gateway_payloads where job_id = gateway_jobs.id) as sealed_payload";
export const CLAIMED = `${JOB}, epoch, lost_start, ${PAYLOAD},
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
    due_at: rows.optionalNumber(row.due_at),
  };
}

export function claimedJob(row: Row): ClaimedJob {
  return {
    ...listedJob(row),
    sealed_payload: rows.optionalText(row.sealed_payload),
    sealed_context: rows.optionalText(row.sealed_context),
    epoch: rows.number(row.epoch),
    isOrphan: row.lost_start !== null,
  };
}

function place({ pipeline, step_id, instance_id, depth }: Row): PipelinePlace | null {
  if (pipeline == null) return null;
  return {
    pipeline: rows.text(pipeline),
    step_id: rows.text(step_id),
    instance_id: rows.text(instance_id),
    depth: rows.number(depth),
  };
}

export const ATTEMPT = `attempt, status, outcome, reason, exit_code, started_at, ended_at, sealed_response, sealed_stderr,
  sealed_error`;
export const LOGGED_ATTEMPT = `job_id, epoch, root_job_id, plugin, command, submitted_by, ${ATTEMPT}`;

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

export function loggedAttempt(row: Row): LoggedAttempt {
  return {
    ...attempt(row),
    job_id: rows.text(row.job_id),
    epoch: rows.number(row.epoch),
    root_job_id: rows.text(row.root_job_id),
    plugin: rows.text(row.plugin),
    command: rows.text(row.command),
    submitted_by: rows.text(row.submitted_by),
  };
}
