// The shapes that gateway operations take and answer with.
import { z } from "zod";
import { id, jsonMap } from "../../abilities/shapes.ts";
import { type JobStatus, jobStatuses } from "../../contracts/gateway/job.ts";
import type { JobView, JobWithPayload } from "../gateway.ts";

export const pluginName = id.meta({ description: "The name or alias of a plugin." });
export const jobId = id.meta({ description: "The id of a job." });
export const payload = jsonMap.default({}).meta({ description: "A JSON object." });
export const dedupeKey = z.string().trim().min(1).max(1_024).meta({
  description: "A second call with the same key does nothing while the first is outstanding or has succeeded.",
});

/** A job in a list. */
export const jobShape = z.object({
  job_id: z.string(),
  plugin: z.string(),
  command: z.string(),
  status: z.enum(jobStatuses),
  reason: z.string().nullable(),
  attempt: z.int(),
  max_attempts: z.int(),
  submitted_by: z.string(),
  parent_job_id: z.string().nullable(),
  root_job_id: z.string(),
  source_event_id: z.string().nullable(),
  pipeline: z.string().nullable(),
  step_id: z.string().nullable(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  completed_at: z.iso.datetime().nullable(),
  next_retry_at: z.iso.datetime().nullable(),
  result: z.string().nullable().optional().meta({ description: "Only with the capability gateway.results." }),
  last_error: z.string().nullable().optional().meta({ description: "Only with the capability gateway.results." }),
});

/** A job that was asked for by its id. */
export const jobWithPayloadShape = jobShape.extend({
  payload: jsonMap.nullable().optional().meta({
    description: "Only with the capability gateway.results, and where one job is asked for. Null once it was erased.",
  }),
});

/** `showsResults`: whether the caller may read payloads, results and errors. */
export function describeJob(job: JobView | JobWithPayload, showsResults: boolean): z.input<typeof jobWithPayloadShape> {
  return {
    job_id: job.id,
    plugin: job.plugin,
    command: job.command,
    status: job.status,
    reason: job.reason,
    attempt: job.attempt,
    max_attempts: job.max_attempts,
    submitted_by: job.submitted_by,
    parent_job_id: job.parent_job_id,
    root_job_id: job.root_job_id,
    source_event_id: job.source_event_id,
    pipeline: job.place?.pipeline ?? null,
    step_id: job.place?.step_id ?? null,
    created_at: isoTime(job.created_at),
    started_at: job.started_at === null ? null : isoTime(job.started_at),
    completed_at: job.completed_at === null ? null : isoTime(job.completed_at),
    next_retry_at: job.status === "queued" && job.due_at !== null && job.attempt > 1 ? isoTime(job.due_at) : null,
    ...(showsResults && { result: job.result, last_error: job.last_error }),
    ...(showsResults && "payload" in job && { payload: job.payload as never }),
  };
}

/** Microseconds since 1970 as people write times. */
export function isoTime(microseconds: number): string {
  return new Date(microseconds / 1_000).toISOString();
}

/** The names that other gateways use for statuses are accepted too. */
const aliases: Readonly<Record<string, readonly JobStatus[]>> = {
  pending: ["queued"],
  ok: ["succeeded"],
  error: ["failed", "timed_out", "dead"],
};

export const statusFilter = z.enum([...jobStatuses, "pending", "ok", "error"]);

export function statusesOf(filter: z.output<typeof statusFilter>): readonly JobStatus[] {
  return aliases[filter] ?? [filter as JobStatus];
}
