// The log of the gateway's jobs outlives the queue, stored data names its user, and a clock that is set back holds no job.
import type { MigrationStatement } from "./migration.ts";

export const gatewayLog: readonly MigrationStatement[] = [
  // A job moves here when it leaves the queue. Its payload and its attempts stay where they are until it is removed from here.
  `create table gateway_logged_jobs (
    id text primary key,
    seq bigint not null,
    plugin text not null,
    command text not null,
    status text not null,
    attempt integer not null,
    max_attempts integer not null,
    submitted_by text not null,
    parent_job_id text,
    root_job_id text not null,
    source_event_id text,
    pipeline text,
    step_id text,
    instance_id text,
    depth integer,
    user_id text,
    reason text,
    sealed_error text,
    cancel_requested_by text,
    created_at bigint not null,
    started_at bigint,
    completed_at bigint not null
  )`,
  "create index gateway_logged_jobs_created on gateway_logged_jobs (created_at, id)",
  "create index gateway_logged_jobs_completed on gateway_logged_jobs (completed_at, id)",
  "create index gateway_logged_jobs_of_trees on gateway_logged_jobs (root_job_id, seq)",
  "create index gateway_logged_jobs_of_users on gateway_logged_jobs (user_id) where user_id is not null",

  // Attempts are found by their job from now on. Those of jobs that are gone could not be read.
  "delete from gateway_attempts where not exists (select 1 from gateway_jobs where gateway_jobs.id = gateway_attempts.job_id)",
  "drop index gateway_attempts_ended",
  "drop index gateway_attempts_of_users",
  ...["plugin", "command", "submitted_by", "root_job_id", "user_id"].map(
    (column) => `alter table gateway_attempts drop column ${column}`,
  ),

  // Whose it is, also once the job is gone.
  "alter table gateway_events add column user_id text",
  "create index gateway_events_of_users on gateway_events (user_id) where user_id is not null",
  "alter table gateway_facts add column user_id text",
  "create index gateway_facts_of_users on gateway_facts (user_id) where user_id is not null",
  "create index gateway_facts_of_jobs on gateway_facts (job_id)",
  // Of an agent: for which person each of its runs was started.
  "alter table gateway_plugin_state add column sealed_owners text",

  // 0 is due whatever the clock says: only a retry waits for a time.
  "update gateway_jobs set due_at = 0 where status = 'queued' and attempt = 1",
  "drop index gateway_jobs_due",
  "create index gateway_jobs_due on gateway_jobs (due_at, created_at) where due_at is not null and wake_rev >= 0",
];
