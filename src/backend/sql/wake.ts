// Work and its wake-up are one commit: these statements stand in every batch that leaves something for a thread.
import type { NewEntry } from "../inbox.ts";
import type { Statement } from "../sql-driver.ts";
import { woken } from "./leased-table.ts";

/**
 * Makes a thread due, unless it is stopped and the work may wait. It comes first in its batch: the row it locks keeps
 * the numbers of the inbox in order. A thread that is
 * terminated takes one thing only: that something is to be erased from it.
 */
export function wake(threadId: string, { kind, wakes_stopped }: Pick<NewEntry, "kind" | "wakes_stopped">): Statement {
  const sql = `update threads set ${woken("status = 'stopped' and $2 = 0")}, inbox_seq = inbox_seq + 1,
      updated_at = now_us()
    where id = $1${kind === "erasure" ? "" : " and terminated_at is null"}`;
  return { sql, params: [threadId, wakes_stopped ? 1 : 0], expect: 1 };
}

/** The condition under which workers hear of what was left for a row and is not urgent. */
export const IS_SIGNALLED = "(lease_until <= now_us() or kind <> 'thread')";

/** Stores an entry under the number that `wake` has just made. A key that was used before is refused. */
export function insertEntry(threadId: string, entry: NewEntry): Statement {
  const sql = `insert into inbox (thread_id, seq, id, kind, body, operation, idempotency_key, payload_hash, created_at)
    select id, inbox_seq, $2, $3, $4, $5, $6, $7, now_us() from threads where id = $1
    on conflict do nothing`;
  const { id, kind, body, operation, idempotency_key, payload_hash } = entry;
  return { sql, params: [threadId, id, kind, body, operation, idempotency_key, payload_hash], expect: 1 };
}

/**
 * Tells the workers, but only when it matters: a thread that is being worked on finds its new work by itself, unless
 * it has to stop. A run of a workflow waits for several things at once, and takes each of them when it comes.
 */
export function tell(threadId: string, { urgent }: Pick<NewEntry, "urgent">): Statement {
  const sql = `select signal(id) from threads where id = $1 and ($2 = 1 or ${IS_SIGNALLED})`;
  return { sql, params: [threadId, urgent ? 1 : 0] };
}
