// Two indexes that every commit of a running thread had to rewrite give way to what such a commit leaves alone.
import type { MigrationStatement } from "./migration.ts";

export const swifter: readonly MigrationStatement[] = [
  "alter table runs add column first_event bigint",
  `update runs set first_event = (
    select min(seq) from events where events.thread_id = runs.thread_id and events.run = runs.run
  )`,
  "drop index events_of_runs",
  "drop index threads_standing",
  // A thread that runs is in neither of them: SQLite writes an index anew whenever a column of it is set, to whatever.
  "create index threads_resting on threads (status, created_at, id) where status <> 'running'",
  "create index threads_stuck on threads (created_at, id, status) where stuck_at is not null",
];
