// Rows that are leased as threads are, and are none: what lists, counts and due rows are found by is kept for threads alone.
import type { MigrationStatement } from "./migration.ts";

export const kinds: readonly MigrationStatement[] = [
  "alter table threads add column kind text not null default 'thread'",
  "drop index threads_created",
  "drop index threads_resting",
  "drop index threads_stuck",
  "drop index threads_due",
  "drop index threads_live_children",
  "create index threads_resting on threads (status, created_at, id) where status <> 'running' and kind = 'thread'",
  "create index threads_created on threads (created_at, id) where kind = 'thread'",
  // The kind comes first, because SQLite would read all threads in the order of their creation otherwise.
  "create index threads_stuck on threads (kind, created_at, id) where stuck_at is not null and kind = 'thread'",
  "create index threads_due on threads (due_at) where due_at is not null and kind = 'thread'",
  `create index threads_live_children on threads (parent_id, child_relationship)
    where parent_id is not null and terminated_at is null and kind = 'thread'`,
  // Thousands of them may wait for a time, and nobody who looks for threads passes over them.
  "create index threads_due_others on threads (kind, due_at) where due_at is not null and kind <> 'thread'",
];
