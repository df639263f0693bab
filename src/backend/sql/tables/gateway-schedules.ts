// What the scheduler asks of the queue on every tick.
import type { MigrationStatement } from "./migration.ts";

export const gatewaySchedules: readonly MigrationStatement[] = [
  // The jobs of a schedule that are outstanding, however many others its command has.
  `create index gateway_jobs_scheduled on gateway_jobs (source_event_id, seq)
    where due_at is not null and parent_job_id is null and source_event_id is not null`,
];
