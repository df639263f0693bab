// What goes for good when messages are erased, statement by statement: their content in every version, what was noted of their
// runs, and every copy that a thread keeps. The rows and their hashes stay, so that the chain holds.
import { ERASED_ENVELOPE, ERASURE_START, NO_SALT } from "../../contracts/audit/erasure.ts";
import type { Statement } from "../sql-driver.ts";
import type { Commit } from "../thread-commit.ts";

/** Behind the messages of the commit, whose deletions say what is erased, and behind the entries that it has drained. */
export function eraseStatements({ thread_id, event, erasure }: Commit): readonly Statement[] {
  if (!erasure) return [];
  const { outcomes, entries, runs, requests } = erasure;
  return [
    { sql: MESSAGES, params: [thread_id, event.messages_from, `${ERASURE_START}%`, ERASED_ENVELOPE, NO_SALT] },
    { sql: NOTES, params: [thread_id, NO_SALT] },
    ...runs.flatMap((run) => [NOTES_OF_RUN, STOPS_OF_RUN].map((sql) => ({ sql, params: [thread_id, run] }))),
    ...outcomes.map(({ run, outcome }) => ({ sql: OUTCOME, params: [thread_id, run, outcome] })),
    ...requests.map((id) => ({ sql: REQUEST, params: [thread_id, id] })),
    ...entries.map((id) => ({ sql: ENTRY, params: [thread_id, id] })),
    { sql: CHANGES, params: [thread_id] },
    { sql: "delete from live_text where thread_id = $1", params: [thread_id] },
  ];
}

/** An edit is erased with the message that it replaces. */
const MESSAGES = `update messages set envelope = $4, salt = $5
  where thread_id = $1 and kind <> 'deletion' and coalesce(supersedes, seq) in (
    select supersedes from messages where thread_id = $1 and seq >= $2 and kind = 'deletion' and envelope like $3
  )`;

const NOTES = `update events set notes = null, salt = null
  where thread_id = $1 and notes is not null and exists (
    select 1 from messages where messages.thread_id = $1 and messages.salt = $2
      and messages.seq >= events.messages_from and messages.seq < events.messages_to
  )`;

const NOTES_OF_RUN =
  "update events set notes = null, salt = null where thread_id = $1 and run = $2 and notes is not null";

/** What somebody was shown of a call, and what he answered; how he decided is no word of it. A decision stands first. */
const REQUEST = `update requests set shown = '{}', payload_hash = null, answer = case
      when answer is null then null
      when kind = 'approval' and answer like '{"decision":"accepted"%' then '{"decision":"accepted"}'
      when kind = 'approval' and answer like '{"decision":"rejected"%' then '{"decision":"rejected"}'
      else '{}' end
  where thread_id = $1 and id = $2 and ended_at is not null`;

const OUTCOME = "update runs set outcome = $3 where thread_id = $1 and run = $2 and outcome is not null";

// Their bodies went when they were taken in. A hash without a salt could still be guessed at; without it, the same write
// under the same key is refused.
const ENTRY = "update inbox set payload_hash = '' where thread_id = $1 and id = $2 and drained_at is not null";
const CHANGES = `update inbox set payload_hash = ''
  where thread_id = $1 and kind in ('edit', 'settlement') and drained_at is not null`;
const STOPS_OF_RUN = `update inbox set payload_hash = ''
  where thread_id = $1 and run = $2 and kind = 'stop' and drained_at is not null`;
