// The end of a thread and of all that descend from it, statement by statement. A thread is marked last, because all others
// look for those that are not terminated: the first time counts, and a repetition finds nothing to do.
import type { NewEntry } from "../inbox.ts";
import type { Statement } from "../sql-driver.ts";
import { CHILD_ENDED, leaveForParent } from "./leave.ts";
import { livingTree } from "./tree.ts";
import { IS_SIGNALLED } from "./wake.ts";

export function terminateStatements(threadId: string, stop: NewEntry): readonly Statement[] {
  return [
    ...leaveForParent(threadId, CHILD_ENDED),
    numberEntry(threadId),
    insertStop(threadId, stop),
    { sql: CANCEL_EFFECTS, params: [threadId] },
    { sql: CANCEL_REQUESTS, params: [threadId] },
    { sql: TELL, params: [threadId, stop.urgent ? 1 : 0] },
    { sql: MARK, params: [threadId] },
  ];
}

const TREE = `(${livingTree("$1")} /*few rows*/)`;

const LIVING = `terminated_at is null and id in ${TREE}`;

function numberEntry(threadId: string): Statement {
  return { sql: `update threads set inbox_seq = inbox_seq + 1 where ${LIVING}`, params: [threadId] };
}

/** Work that is under way is told through the inbox; one entry in each, under the same key. */
function insertStop(threadId: string, stop: NewEntry): Statement {
  const sql = `insert into inbox (thread_id, seq, id, kind, body, operation, idempotency_key, payload_hash, created_at)
    select id, inbox_seq, $2, $3, $4, $5, $6, $7, now_us() from threads
    where ${LIVING}
    on conflict do nothing`;
  const { id, kind, body, operation, idempotency_key, payload_hash } = stop;
  return { sql, params: [threadId, id, kind, body, operation, idempotency_key, payload_hash] };
}

/** What was begun will not be told of any more. */
const CANCEL_EFFECTS = `update effects set status = case when status = 'pending' then 'user_canceled' else 'failed' end,
    error = case when status = 'pending' then null else 'The thread was terminated.' end, completed_at = now_us()
  where status in ('pending', 'processing') and thread_id in ${TREE}`;

/** Only what no call waits for: the others are closed by whoever takes the entry. */
const CANCEL_REQUESTS = `update requests set status = 'cancelled', sealed = null, ended_at = now_us()
  where kind = 'variables' and status = 'pending' and thread_id in ${TREE}`;

const TELL = `select signal(id) from threads where ($2 = 1 or ${IS_SIGNALLED}) and ${LIVING}`;

const MARK = `update threads set terminated_at = now_us(), status = 'terminated', wake_rev = wake_rev + 1, due_at = now_us(),
    updated_at = now_us(), stuck_at = null, claims = 0,
    child_status = case when child is null then child_status else 'terminated' end
  where ${LIVING}`;
