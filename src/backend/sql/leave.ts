// What one thread leaves for another, which may be terminated or gone by now: then nothing happens, and the batch goes on.
import type { NewEntry } from "../inbox.ts";
import type { Statement } from "../sql-driver.ts";
import { woken } from "./leased-table.ts";
import { IS_SIGNALLED, tell } from "./wake.ts";

type About = {
  readonly child_status?: string | undefined;
  readonly child_request?: string | undefined;
  /** Nothing is left while this request is pending: its answer is. */
  readonly unlessPending?: string | undefined;
};

/** An entry and the wake-up. A key that was used before changes nothing either. */
export function leaveEntry(threadId: string, entry: NewEntry, about: About = {}): readonly Statement[] {
  const { id, kind, body, operation, idempotency_key, payload_hash, wakes_stopped } = entry;
  const { child_status = null, child_request = null, unlessPending = null } = about;
  const answered = (place: string) =>
    `not exists (select 1 from requests where requests.id = ${place} and requests.status = 'pending')`;
  const wake: Statement = {
    sql: `update threads set ${nextEntry("$2")}, child_status = coalesce($5, child_status),
        child_request = coalesce($6, child_request)
      where id = $1 and terminated_at is null and ${answered("$7")} and not exists (
        select 1 from inbox where thread_id = $1 and operation = $3 and idempotency_key = $4)`,
    params: [
      threadId,
      ...[wakes_stopped ? 1 : 0, operation, idempotency_key],
      ...[child_status, child_request, unlessPending],
    ],
  };
  const insert: Statement = {
    sql: `insert into inbox (thread_id, seq, id, kind, body, operation, idempotency_key, payload_hash, created_at)
      select id, inbox_seq, $2, $3, $4, $5, $6, $7, now_us() from threads
      where id = $1 and terminated_at is null and ${answered("$8")}
      on conflict do nothing`,
    params: [threadId, id, kind, body, operation, idempotency_key, payload_hash, unlessPending],
  };
  const lost = child_request === null ? [] : answerForEnded(threadId, child_request);
  return [wake, insert, tell(threadId, entry), ...lost];
}

/** What a parent begins to wait on for a child that has just ended is answered at once. */
function answerForEnded(childId: string, requestId: string): readonly Statement[] {
  const thread = `(select waiting.thread_id from requests as waiting, threads as child
    where waiting.id = $2 and child.id = $1 and child.terminated_at is not null)`;
  return answerPending({ thread, request: "$2", params: [childId, requestId] }, CHILD_ENDED);
}

/** What a parent is told that waits for a child which will not answer any more, by what the child is. */
export const CHILD_ENDED = lastWords("was terminated.", "terminated");

export function lastWords(predicate: string, payload_hash: string): Answer {
  const body = (child: string) => JSON.stringify({ success: false, error: `The ${child} ${predicate}` });
  return { body: body("subagent"), ofWorkflow: body("workflow"), payload_hash };
}

/** The number of the next entry, and when the thread is due; one that is stopped only if that says 1. */
function nextEntry(wakesStopped: string): string {
  return `${woken(`status = 'stopped' and ${wakesStopped} = 0`)}, inbox_seq = inbox_seq + 1, updated_at = now_us()`;
}

/** `ofWorkflow`: what is said instead where the first parameter of the target is a workflow. */
type Answer = { readonly body: string; readonly ofWorkflow?: string; readonly payload_hash: string };

/** Answers a request for which the thread still waits; otherwise leaves the entry, if there is one. */
export function leaveAnswer(
  threadId: string,
  requestId: string,
  { otherwise, ...answer }: Answer & { readonly otherwise?: NewEntry | undefined },
): readonly Statement[] {
  return [
    ...(otherwise ? leaveEntry(threadId, otherwise, { unlessPending: requestId }) : []),
    ...answerPending({ thread: "$1", request: "$2", params: [threadId, requestId] }, answer),
  ];
}

/** Answers what the parent of a thread waits for, if the thread is not terminated yet. */
export function leaveForParent(childId: string, answer: Answer): readonly Statement[] {
  const of = (column: string) =>
    `(select child.${column} from threads as child where child.id = $1 and child.terminated_at is null)`;
  return answerPending({ thread: of("parent_id"), request: of("child_request"), params: [childId] }, answer);
}

type Target = { readonly thread: string; readonly request: string; readonly params: readonly string[] };

/** All but the last statement look whether the request is pending, so that it is changed last. */
function answerPending({ thread, request, params }: Target, answer: Answer): readonly Statement[] {
  const { body, payload_hash, ofWorkflow } = answer;
  const next = params.length + 1;
  const wake: Statement = {
    sql: `update threads set ${nextEntry("1")}
      where id = ${thread} and terminated_at is null and exists (
        select 1 from requests where requests.id = ${request} and thread_id = threads.id and requests.status = 'pending')`,
    params,
  };
  const insert: Statement = {
    sql: `insert into inbox (thread_id, seq, id, kind, body, operation, idempotency_key, payload_hash, created_at)
      select threads.id, inbox_seq, 'answer:' || requests.id, 'answer', '{"request_id":"' || requests.id || '"}', 'submit',
        requests.id, $${next}, now_us()
      from requests join threads on threads.id = requests.thread_id
      where requests.id = ${request} and threads.id = ${thread} and requests.status = 'pending' and terminated_at is null
      on conflict do nothing`,
    params: [...params, payload_hash],
  };
  const told: Statement = {
    sql: `select signal(id) from threads where id = ${thread} and ${IS_SIGNALLED} and exists (
      select 1 from requests where requests.id = ${request} and thread_id = threads.id and requests.status = 'pending')`,
    params,
  };
  const isWorkflow = "exists (select 1 from threads as child where child.id = $1 and child.kind = 'workflow')";
  const said = ofWorkflow === undefined ? `$${next}` : `case when ${isWorkflow} then $${next + 2} else $${next} end`;
  const answered: Statement = {
    sql: `update requests set status = 'answered', answer = ${said}, payload_hash = $${next + 1}, ended_at = now_us()
      where id = ${request} and status = 'pending' and exists (
        select 1 from threads where threads.id = requests.thread_id and threads.id = ${thread} and terminated_at is null)`,
    params: [...params, body, payload_hash, ...(ofWorkflow === undefined ? [] : [ofWorkflow])],
  };
  return [wake, insert, told, answered];
}
