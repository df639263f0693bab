// The tables of the gateway: its queue of jobs with all that belongs to them, its event stream, plugin state and schedules.
import type { MigrationStatement } from "./migration.ts";

/** A number that the gateway counts itself, in the control row. SQLite finds a row by it without an index of its own. */
const numbered = (name: string, key: string, rest: string): MigrationStatement => ({
  sqlite: `create table ${name} (${key} integer primary key, ${rest})`,
  postgres: `create table ${name} (${key} bigint primary key, ${rest})`,
});

export const gateway: readonly MigrationStatement[] = [
  // One row, made when it is first needed: a new database has no rows. Every batch that adds jobs, facts or stream entries
  // takes their numbers from it and locks it until the commit, so that numbers rise in the order of commits. A claim locks it
  // too, so that two claims never count at the same time.
  `create table gateway_control (
    id integer primary key,
    job_seq bigint not null,
    stream_id bigint not null,
    fact_seq bigint not null,
    stamped_at bigint not null,
    pause_id text
  )`,
  `create table gateway_pauses (
    id text primary key,
    paused_by text not null,
    started_at bigint not null,
    ended_at bigint
  )`,

  // `due_at` is null from when the job has ended. The last group of columns is that of every leased table.
  numbered(
    "gateway_jobs",
    "seq",
    `id text not null unique,
      plugin text not null,
      command text not null,
      status text not null,
      attempt integer not null,
      max_attempts integer not null,
      submitted_by text not null,
      parent_job_id text,
      root_job_id text not null,
      source_event_id text,
      context_id text,
      pipeline text,
      step_id text,
      instance_id text,
      depth integer,
      user_id text,
      dedupe_hash text,
      dedupe_keep_us bigint,
      waits_for_instance text,
      reason text,
      sealed_error text,
      cancel_requested_by text,
      created_at bigint not null,
      started_at bigint,
      lost_start bigint,
      completed_at bigint,
      claim_id text,
      due_at bigint,
      wake_rev bigint not null,
      lease_by text,
      lease_until bigint not null,
      epoch bigint not null,
      claims integer not null`,
  ),
  // The first job of each plugin, so that a long queue of a plugin that is busy is not read through for every claim.
  "create index gateway_jobs_queue on gateway_jobs (plugin, seq, due_at) where due_at is not null",
  // Named by a condition that always holds and that a claim does not name: SQLite would claim by this index and sort.
  "create index gateway_jobs_due on gateway_jobs (due_at) where due_at is not null and wake_rev >= 0",
  "create index gateway_jobs_leased on gateway_jobs (lease_by) where lease_by is not null",
  // Until it has analyzed the table, PostgreSQL takes nearly every job for one that is leased, and would read all of them.
  {
    sqlite: "select 1",
    postgres: "create index gateway_jobs_running on gateway_jobs (plugin, dedupe_hash) where status = 'running'",
  },
  "create index gateway_jobs_of_trees on gateway_jobs (root_job_id, seq)",
  "create index gateway_jobs_created on gateway_jobs (created_at, id)",
  "create index gateway_jobs_ended on gateway_jobs (status, created_at, id) where due_at is null",
  "create index gateway_jobs_of_users on gateway_jobs (user_id) where user_id is not null",
  // An event that is delivered to a step again adds nothing.
  `create unique index gateway_jobs_delivered
    on gateway_jobs (parent_job_id, source_event_id, plugin, command, coalesce(pipeline, ''), coalesce(step_id, ''))
    where parent_job_id is not null and source_event_id is not null`,
  // Never changed, and maybe large: not part of the row that claims and commits rewrite.
  "create table gateway_payloads (job_id text primary key, sealed text not null)",
  // What would have to be counted otherwise. `jobs` leaves out those that are exempt from the limit of a tree.
  `create table gateway_trees (
    root_job_id text primary key,
    jobs bigint not null,
    outstanding bigint not null,
    ended_at bigint
  )`,
  "create index gateway_trees_ended on gateway_trees (ended_at, root_job_id) where ended_at is not null",
  // One row an identity. `holders` are its jobs that are queued or running; without any, it is free once it has expired.
  `create table gateway_dedupe (
    hash text primary key,
    job_id text not null,
    source_event_id text,
    holders integer not null,
    expires_at bigint not null
  )`,
  "create index gateway_dedupe_expiring on gateway_dedupe (expires_at, hash) where holders = 0",
  `create table gateway_contexts (
    id text primary key,
    parent_id text,
    pipeline text not null,
    step_id text not null,
    sealed_accumulated text,
    root_job_id text not null,
    created_at bigint not null
  )`,
  "create index gateway_contexts_of_trees on gateway_contexts (root_job_id, id)",
  // The job log, which outlives the jobs: what is looked for stands in it once more. `status` is what became of the job.
  `create table gateway_attempts (
    job_id text not null,
    epoch bigint not null,
    attempt integer not null,
    status text not null,
    outcome text not null,
    reason text,
    exit_code integer,
    started_at bigint,
    ended_at bigint not null,
    sealed_response text,
    sealed_stderr text,
    sealed_error text,
    plugin text not null,
    command text not null,
    submitted_by text not null,
    root_job_id text not null,
    user_id text,
    primary key (job_id, epoch)
  )`,
  "create index gateway_attempts_ended on gateway_attempts (ended_at, job_id, epoch)",
  "create index gateway_attempts_of_users on gateway_attempts (user_id) where user_id is not null",

  numbered(
    "gateway_events",
    "id",
    "type text not null, data text not null, job_id text, at bigint not null, append_id text",
  ),
  "create index gateway_events_of_jobs on gateway_events (job_id) where job_id is not null",
  "create unique index gateway_events_appended on gateway_events (append_id) where append_id is not null",

  `create table gateway_plugin_state (
    plugin text primary key,
    sealed_state text not null,
    revision bigint not null,
    updated_at bigint not null
  )`,
  numbered(
    "gateway_facts",
    "seq",
    `plugin text not null,
      fact_type text not null,
      command text not null,
      job_id text not null,
      sealed_value text not null,
      created_at bigint not null`,
  ),
  "create index gateway_facts_of_plugins on gateway_facts (plugin, seq)",

  // A change_id is that of the last change: when the answer to a change was lost, it tells whether the change happened.
  `create table gateway_schedules (
    plugin text not null,
    schedule_id text not null,
    definition_hash text not null,
    status text not null,
    reason text,
    next_run_at bigint,
    last_run_at bigint,
    last_success_at bigint,
    change_id text not null,
    primary key (plugin, schedule_id)
  )`,
  `create table gateway_breakers (
    plugin text not null,
    command text not null,
    state text not null,
    failures integer not null,
    opened_at bigint,
    change_id text not null,
    primary key (plugin, command)
  )`,
];
