// One commit of the lease holder, statement by statement. The first one is the guard: it changes the thread's row only
// while the lease and the number of the event are still ours, so that whoever lost the thread can write nothing.
import type { Statement } from "../sql-driver.ts";
import type { CallChange, ClosedRequest, Commit } from "../thread-commit.ts";
import { changeBudget } from "./budgets.ts";
import { considerEffects, dueWithEffects } from "./effects.ts";
import { eraseStatements } from "./erase.ts";
import { UNLEASED, woken } from "./leased-table.ts";
import { insertRequest } from "./requests.ts";
import { insertEntry } from "./wake.ts";
import { writeStatements } from "./writes.ts";

/** Behind the locks that it may need. */
export function commitStatements(commit: Commit): readonly Statement[] {
  const { thread_id } = commit;
  return [
    guard(commit),
    insertEvent(commit),
    ...commit.messages.map((_, index) => insertMessage(commit, index)),
    ...(commit.answer === undefined ? [] : [keepAnswer(thread_id, commit.answer)]),
    ...drain(commit),
    ...eraseStatements(commit),
    ...commit.queued.flatMap((entry) => [nextEntry(thread_id), insertEntry(thread_id, entry)]),
    ...changeRun(commit),
    ...commit.calls.map((change) => changeCall(commit, change)),
    ...commit.opened_requests.map((request) => insertRequest(thread_id, commit.run, request)),
    ...commit.closed_requests.flatMap((closed) => closeRequest(commit, closed)),
    ...commit.writes.flatMap((write) => writeStatements(write, thread_id)),
    ...(commit.settle && changesEffects(commit) ? [considerEffects(thread_id)] : []),
    // Last, so that whoever waits for this row waits for as short a time as can be.
    ...(commit.budget_change ? [changeBudget(commit.budget_change)] : []),
  ];
}

function guard(commit: Commit): Statement {
  const { thread_id, worker, epoch, seq, lease_us, settle } = commit;
  const due = "now_us() + cast($17 as bigint)";
  const lease = settle
    ? `${UNLEASED},
       due_at = case when wake_rev = $16 then ${changesEffects(commit) ? due : dueWithEffects(due)} else now_us() end`
    : "lease_until = now_us() + $16";
  const sql = `update threads set
      status = case when terminated_at is null then $5 else 'terminated' end,
      state = $6, working = $7, run = $8, steps = $9, next_seq = next_seq + 1, next_message = $10, tail_from = $11,
      summary_seq = $12, last_commit = $13, last_hash = $14, updated_at = now_us(),
      claims = case when $15 = 1 then 0 else claims end,
      last_error = case when $15 = 1 then null else last_error end, ${lease}
    where id = $1 and lease_by = $2 and epoch = $3 and next_seq = $4
    returning wake_rev`;
  const { status, state, working, run, steps, next_message, tail_from, summary_seq, id, event, progresses } = commit;
  const own = [
    status,
    state,
    working,
    run,
    steps,
    next_message,
    tail_from,
    summary_seq,
    id,
    event.hash,
    progresses ? 1 : 0,
  ];
  const params = [
    thread_id,
    worker,
    epoch,
    seq,
    ...own,
    ...(settle ? [settle.wake_rev, settle.due_after] : [lease_us]),
  ];
  return { sql, params, expect: 1 };
}

function changesEffects({ writes }: Commit): boolean {
  return writes.some(({ write }) => write === "effect_change");
}

function insertEvent({ thread_id, seq, steps, event, next_message, tail_from, summary_seq }: Commit): Statement {
  const sql = `insert into events (thread_id, seq, run, step, records, notes, salt, notes_hash, messages_from,
      messages_to, tail_from, summary_seq, settled, at, hash)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, now_us(), $14)`;
  const { run, records, notes, salt, notes_hash, messages_from, settled, hash } = event;
  const own = [run, steps, records, notes, salt, notes_hash];
  const range = [messages_from, next_message, tail_from, summary_seq];
  return { sql, params: [thread_id, seq, ...own, ...range, settled ? 1 : 0, hash] };
}

function insertMessage({ thread_id, event, steps, messages }: Commit, index: number): Statement {
  const sql = `insert into messages (thread_id, seq, run, step, kind, supersedes, envelope, salt, hash, at,
      depth, parent_seq)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now_us(), $10, $11)`;
  const message = messages[index];
  if (!message) throw new Error(`There is no message ${index} in this commit.`);
  const { kind, supersedes, envelope, salt, hash, depth, parent_seq } = message;
  const own = [kind, supersedes, envelope, salt, hash, depth, parent_seq];
  return { sql, params: [thread_id, event.messages_from + index, event.run, steps, ...own] };
}

function keepAnswer(threadId: string, sealed: string | null): Statement {
  if (sealed === null) return { sql: "delete from answers where thread_id = $1", params: [threadId] };
  const sql = `insert into answers (thread_id, sealed) values ($1, $2)
    on conflict (thread_id) do update set sealed = excluded.sealed`;
  return { sql, params: [threadId, sealed] };
}

/** One statement an entry, so that the text does not depend on how many there are. */
function drain({ thread_id, run, drained }: Commit): Statement[] {
  const sql = `update inbox set drained_at = now_us(), run = $3, body = null
    where thread_id = $1 and seq = $2 and drained_at is null`;
  return drained.map((seq) => ({ sql, params: [thread_id, seq, run], expect: 1 }));
}

/** Makes the number of the next entry and wakes the thread, also one that this very commit lays down. */
function nextEntry(threadId: string): Statement {
  const sql = `update threads set inbox_seq = inbox_seq + 1, ${woken("status = 'stopped'")} where id = $1`;
  return { sql, params: [threadId] };
}

function changeRun({ thread_id, run, seq, run_change }: Commit): Statement[] {
  if (!run_change) return [];
  const { key, status, outcome, ended } = run_change;
  if (key !== undefined) {
    const sql = `insert into runs (thread_id, run, run_key, status, outcome, started_at, ended_at, first_event)
      values ($1, $2, $3, $4, $5, now_us(), case when $6 = 1 then now_us() end, $7)`;
    return [{ sql, params: [thread_id, run, key, status, outcome, ended ? 1 : 0, seq] }];
  }
  const sql = `update runs set status = $3, outcome = $4, ended_at = case when $5 = 1 then now_us() end
    where thread_id = $1 and run = $2`;
  return [{ sql, params: [thread_id, run, status, outcome, ended ? 1 : 0], expect: 1 }];
}

function changeCall({ thread_id, run, epoch }: Commit, change: CallChange): Statement {
  const { number } = change;
  switch (change.change) {
    case "begun": {
      // Begun again only after it was found not to have happened, or because repeating it does no harm.
      const sql = `insert into calls (thread_id, run, number, tool_call_id, tool_name, phase, idempotency_key,
          arguments_hmac, epoch, begun_at, certain_at)
        values ($1, $2, $3, $4, $5, 'begun', $6, $7, $8, now_us(), now_us() + $9)
        on conflict (thread_id, run, number) do update
          set phase = 'begun', epoch = excluded.epoch, certain_at = excluded.certain_at`;
      const { tool_call_id, tool_name, idempotency_key, arguments_hmac, certain_after } = change;
      const begun = [tool_call_id, tool_name, idempotency_key, arguments_hmac, epoch, certain_after];
      return { sql, params: [thread_id, run, number, ...begun] };
    }
    case "waiting": {
      const sql = "update calls set phase = 'waiting' where thread_id = $1 and run = $2 and number = $3";
      return { sql, params: [thread_id, run, number] };
    }
    case "ended": {
      const sql = `update calls set phase = $4, outcome = $5, message_seq = $6, settled_at = now_us()
        where thread_id = $1 and run = $2 and number = $3`;
      const { phase, outcome, message_seq } = change;
      return { sql, params: [thread_id, change.run ?? run, number, phase, outcome, message_seq] };
    }
    default:
      return change satisfies never;
  }
}

/** Ends a request, unless somebody answered it just now. */
function closeRequest({ thread_id, run }: Commit, { id, from, to }: ClosedRequest): Statement[] {
  const sql = `update requests set status = $3, sealed = null, ended_at = coalesce(ended_at, now_us())
    where id = $1 and status = $2`;
  // Its answer may have come in while the thread was looked at for something else; nobody would take that in later.
  const answered = `update inbox set drained_at = now_us(), run = $3, body = null
    where thread_id = $1 and operation = 'submit' and idempotency_key = $2 and drained_at is null`;
  return [
    { sql, params: [id, from, to], expect: 1 },
    { sql: answered, params: [thread_id, id, run] },
  ];
}
