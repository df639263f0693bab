// Runs of workflows: what runs and how it stands, their tags, and their steps.
import type { MigrationStatement } from "./migration.ts";

export const workflows: readonly MigrationStatement[] = [
  // One for each row of the kind `workflow`. What is long comes last, so that reading the rest does not read it.
  `create table workflow_runs (
    run_id text primary key,
    workflow_id text not null,
    spec_hash text not null,
    status text not null,
    reason text,
    payload_hash text not null,
    created_at bigint not null,
    started_at bigint,
    ended_at bigint,
    rerun_of text,
    has_problem integer not null,
    body text not null
  )`,
  "create index workflow_runs_created on workflow_runs (created_at, run_id)",
  "create index workflow_runs_standing on workflow_runs (status, created_at, run_id)",
  "create index workflow_runs_of_workflows on workflow_runs (workflow_id, created_at, run_id)",
  // Also what runs are counted by: counting must not read the rows.
  "create index workflow_runs_by_status on workflow_runs (workflow_id, status, created_at, run_id)",
  // In the order of the ids, because a page of those that ended long ago goes on behind an id, which may be deleted by then.
  "create index workflow_runs_ended on workflow_runs (run_id, ended_at) where ended_at is not null",
  "create index workflow_runs_problems on workflow_runs (created_at, run_id) where has_problem = 1",
  "create table workflow_run_tags (run_id text not null, tag text not null, primary key (run_id, tag))",
  "create index workflow_run_tags_found on workflow_run_tags (tag, run_id)",
  // The place of a step is the path of what it stands below and its position there: positions are numbers, and as text 10
  // would come before 2. A row is written twice or three times, and there may be tens of thousands of them in a run.
  `create table workflow_steps (
    run_id text not null,
    parent text not null,
    position bigint not null,
    status text,
    undo_order bigint,
    opened text,
    outcome text,
    primary key (run_id, parent, position)
  )`,
  // Runs that need an operator are few among all rows that are no threads.
  "create index threads_stuck_others on threads (kind, stuck_at, id) where stuck_at is not null and kind <> 'thread'",
  "create index workflow_steps_undoable on workflow_steps (run_id, undo_order) where undo_order is not null",
];
