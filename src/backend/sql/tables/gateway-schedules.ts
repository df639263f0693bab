// What the scheduler asks of the queue on every tick, and how several processes agree on the schedules there are.
import type { MigrationStatement } from "./migration.ts";

export const gatewaySchedules: readonly MigrationStatement[] = [
  // A schedule that was taken out of the configuration is kept for a while: when it is there again, it goes on.
  "alter table gateway_schedules add column removed_at bigint",

  // The configuration of the gateway that a worker has loaded, and the counter of those that were.
  "alter table workers add column configuration text",
  "alter table workers add column configuration_number bigint",
  "alter table gateway_control add column configurations bigint not null default 0",

  // The jobs of a schedule that are outstanding, however many others its command has.
  `create index gateway_jobs_scheduled on gateway_jobs (source_event_id, seq)
    where due_at is not null and parent_job_id is null and source_event_id is not null`,
];
