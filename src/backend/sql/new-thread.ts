// A thread that is made, statement by statement.
import type { NewThread } from "../new-thread.ts";
import type { Statement } from "../sql-driver.ts";
import * as rows from "./rows.ts";

/** Inserts a thread, unless there is one with its key or its parent takes no further work, and returns its row. */
export function insertThread(thread: NewThread): Statement {
  const sql = `insert into threads (id, thread_key, agent, origin_agent, status, created_at, updated_at, state_version, run,
      steps, next_seq, next_message, tail_from, last_hash, inbox_seq, wake_rev, lease_until, epoch, claims, budget,
      parent_id, user_id, tags, child, child_status, child_relationship, child_request, kind)
    select $1, $2, $3, $3, 'idle', now_us(), now_us(), $4, 0, 0, 0, 0, 0, $5, 0, 0, 0, 0, 0, $6, $7, $8, $9, $10, $11,
      $12, $13, $14
    where cast($7 as text) is null
      or exists (select 1 from threads as parent where parent.id = $7 and parent.terminated_at is null)
    on conflict do nothing returning ${rows.THREAD}`;
  const { id, key, agent, state_version, hash, budget, parent_id, user_id, tags, child, child_status } = thread;
  const { kind = "thread" } = thread;
  const link = child && JSON.stringify(child);
  const own = [
    id,
    key,
    agent,
    state_version,
    hash,
    budget,
    parent_id,
    user_id,
    JSON.stringify(tags),
    link,
    child_status,
  ];
  return { sql, params: [...own, child?.relationship ?? null, child?.request_id ?? null, kind] };
}

/** What the thread is created with, if it was created under this id. */
export function insertArguments({ id, arguments: sealed }: NewThread): readonly Statement[] {
  if (sealed === null) return [];
  const sql = `insert into thread_arguments (thread_id, sealed) select id, $2 from threads where id = $1
    on conflict do nothing`;
  return [{ sql, params: [id, sealed] }];
}
