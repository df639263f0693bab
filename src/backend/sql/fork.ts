// A fork, statement by statement: the history up to an event, and what the thread keeps beside it as it is now.
import type { Statement } from "../sql-driver.ts";
import type { NewMessage } from "../thread-rows.ts";
import type { NewFork } from "../thread-store.ts";
import { copySubject } from "./subjects.ts";
import { writeStatements } from "./writes.ts";

export function forkStatements(fork: NewFork): readonly Statement[] {
  const { id, key, from, at, hash, records } = fork;
  const { rows = 0, deletions = [], from: following = 0 } = fork.erased ?? {};
  const thread: Statement = {
    sql: `insert into threads (id, thread_key, agent, origin_agent, status, created_at, updated_at, parent_id,
        state_version, run, steps, next_seq, next_message, tail_from, summary_seq, last_hash, inbox_seq, wake_rev,
        lease_until, epoch, claims, budget, user_id, tags)
      select $1, $2, agent, origin_agent, 'idle', now_us(), now_us(), null, state_version, 0, events.step, 1, messages_to + $6,
        events.tail_from, events.summary_seq, $5, 0, 0, 0, 0, 0, budget, user_id, tags
      from threads join events on thread_id = id
      where id = $3 and kind = 'thread' and events.seq = $4 and settled = 1
      on conflict (thread_key) do nothing`,
    params: [id, key, from, at, hash, deletions.length],
    expect: 1,
  };
  const messages: Statement = {
    sql: `insert into messages (thread_id, seq, run, step, kind, supersedes, envelope, salt, hash, at, depth, parent_seq)
      select $1, seq, 0, step, kind, supersedes, envelope, salt, hash, at, depth, parent_seq from messages
      where thread_id = $2 and seq < (select next_message from threads where id = $1) - $3`,
    params: [id, from, deletions.length],
  };
  // Somebody may have erased more since the hash was made.
  const erased: Statement = {
    sql: `select seq from messages where thread_id = $1 and salt = ''`,
    params: [id],
    expect: rows,
  };
  const event: Statement = {
    sql: `insert into events (thread_id, seq, run, step, records, messages_from, messages_to, tail_from, summary_seq,
        settled, at, hash)
      select id, 0, 0, steps, $2, 0, next_message, tail_from, summary_seq, 1, now_us(), last_hash
      from threads where id = $1`,
    params: [id, records],
  };
  return [
    ...[thread, messages, erased, ...deletions.map((row, index) => insertDeletion(id, following + index, row))],
    ...[event, copySubject(id, from)],
    ...Object.entries(COPIED).map(([table, columns]) => copy(table, columns, id, from)),
    ...(fork.writes ?? []).flatMap((write) => writeStatements(write, null)),
  ];
}

/** The place of the statement that is refused when more was erased than the fork knows of. */
export const ERASED_AT = 2;

function insertDeletion(id: string, seq: number, { kind, supersedes, envelope, salt, hash }: NewMessage): Statement {
  const sql = `insert into messages (thread_id, seq, run, step, kind, supersedes, envelope, salt, hash, at, depth)
    select id, $2, 0, steps, $3, $4, $5, $6, $7, now_us(), 0 from threads where id = $1`;
  return { sql, params: [id, seq, kind, supersedes, envelope, salt, hash] };
}

/** What is copied as it is, by table. */
const COPIED = {
  files: "path, name, mime_type, size, is_directory, hash, width, height, metadata, created_at",
  thread_values: "name, value",
};

function copy(table: string, columns: string, id: string, from: string): Statement {
  // What the runtime itself keeps with a thread is about that thread alone.
  const own = table === "thread_values" ? " and name not like 'holdfast:%'" : "";
  const sql = `insert into ${table} (thread_id, ${columns}) select $1, ${columns} from ${table} where thread_id = $2${own}`;
  return { sql, params: [id, from] };
}
