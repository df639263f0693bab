// What operators need: what was switched off, what went wrong in a thread last, and threads by how they stand; and what
// doors need, to begin with a run and not with the thread.
import type { MigrationStatement } from "./migration.ts";

export const operating: readonly MigrationStatement[] = [
  `create table switches (
    kind text not null,
    name text not null,
    is_off integer not null,
    reason text not null,
    set_by text not null,
    set_at bigint not null,
    primary key (kind, name)
  )`,
  // Sealed: whoever writes an error does not know who reads it.
  "alter table threads add column last_error text",
  // Counting must not read the rows, whose state is long.
  "create index threads_standing on threads (status, stuck_at)",
  "create index events_of_runs on events (thread_id, run, seq)",
];
