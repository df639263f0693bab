// What lists need to have one order on both databases, down to the last row: text that is compared byte by byte, and indexes
// that end in what tells rows apart.
import type { MigrationStatement } from "./migration.ts";

/**
 * Columns are made so that their text is compared by its bytes; in a database that was made before that was so, they are changed.
 * Not those of `meta`, which has no order and whose rows are locked by everybody who migrates.
 */
const bytewise: MigrationStatement = {
  sqlite: "select 1",
  postgres: `do $do$
    declare each record;
    begin
      for each in
        select table_name, string_agg(format('alter column %I type text collate "C"', column_name), ', ') as changes
        from information_schema.columns
        where table_schema = current_schema() and table_name <> 'meta'
          and data_type = 'text' and collation_name is distinct from 'C'
        group by table_name order by table_name
      loop
        execute format('alter table %I %s', each.table_name, each.changes);
      end loop;
    end
  $do$`,
};

export const oneOrder: readonly MigrationStatement[] = [
  // The time on the database's own clock, which is also that of requests: the two are merged into one queue by it.
  "alter table pending_actions add column stored_at bigint not null default 0",
  "update pending_actions set stored_at = coalesce(created_us, 0)",
  "drop index pending_actions_waiting",
  "create index pending_actions_waiting on pending_actions (stored_at, action_id) where status = 'pending'",
  "create index pending_actions_stored on pending_actions (stored_at, action_id)",
  "drop index calls_unknown",
  "create index calls_unknown on calls (settled_at, thread_id, run, number) where phase = 'unknown'",
  "drop index requests_pending",
  "create index requests_pending on requests (thread_id, created_at, id) where status = 'pending'",
  bytewise,
];
