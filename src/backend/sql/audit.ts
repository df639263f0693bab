// The audit in SQL.
import { ERASURE_START } from "../../contracts/audit/erasure.ts";
import type { Head } from "../../contracts/audit/merkle.ts";
import type { Tombstone } from "../../contracts/audit/tombstone.ts";
import type {
  AuditedThread,
  AuditStore,
  NewCheckpoint,
  StoredCheckpoint,
  StoredHead,
  Vanished,
} from "../audit-store.ts";
import type { ThreadKind } from "../new-thread.ts";
import type { Row, SqlDriver, Statement } from "../sql-driver.ts";
import type { SignedDeletion } from "../thread-store.ts";
import { attemptBatch, COMMITTED } from "./attempt-batch.ts";
import * as rows from "./rows.ts";
import { wholeTree } from "./tree.ts";

export function createAuditStore(driver: SqlDriver): AuditStore {
  const checkpoint = async (number: number) => {
    const [row] = await driver.all("select * from audit_checkpoints where number = $1", [number]);
    return row && checkpointRow(row);
  };

  return {
    async changedHeads() {
      // Looks at every thread: an index would have to be kept by every commit, for what is asked once in a while.
      const found = await driver.readLong(
        `select threads.id as thread_id, threads.next_seq - 1 as seq, threads.last_hash as hash
          from threads left join audit_latest on audit_latest.thread_id = threads.id
          where audit_latest.hash is null or audit_latest.hash <> threads.last_hash
            or audit_latest.seq <> threads.next_seq - 1`,
      );
      return found.map(headRow).sort(byThread);
    },

    async newlyGone() {
      const found = await driver.readLong(
        `select audit_latest.thread_id, audit_latest.seq, audit_latest.hash, audit_tombstones.seq as tombstone_seq,
            audit_tombstones.hash as tombstone_hash, reason, deleted_at, signature
          from audit_latest left join audit_tombstones on audit_tombstones.thread_id = audit_latest.thread_id
          where not exists (select 1 from threads where threads.id = audit_latest.thread_id)`,
      );
      return found.map(vanishedRow).sort((left, right) => byThread(left.head, right.head));
    },

    async lastCheckpoint() {
      const [row] = await driver.all("select * from audit_checkpoints order by number desc limit 1");
      return row && checkpointRow(row);
    },

    async addCheckpoint(added) {
      // Its own text under its number: the first try was committed, only its answer got lost.
      const happened = async () => {
        return (await checkpoint(added.number))?.statement === added.statement ? COMMITTED : undefined;
      };
      const { outcome } = await attemptBatch(driver, addStatements(added), happened);
      return outcome === "committed" ? "added" : "known";
    },

    async checkpoints({ offset = 0, limit = Number.MAX_SAFE_INTEGER } = {}) {
      const sql = "select * from audit_checkpoints order by number limit $1 offset $2";
      return (await driver.readLong(sql, [limit, offset])).map(checkpointRow);
    },

    async heads() {
      return (await driver.readLong("select * from audit_heads order by checkpoint, leaf")).map(storedHeadRow);
    },

    async tombstones() {
      const found = await driver.readLong("select * from audit_tombstones order by deleted_at, thread_id");
      return found.map(tombstoneRow);
    },

    async thread(id) {
      const [row] = await driver.all(`select ${THREAD} from threads where id = $1`, [id]);
      return row && threadRow(row);
    },

    async isErasedSince(id, nextMessage) {
      const found = await driver.all(
        `select seq from messages where thread_id = $1 and seq >= $2 and kind = 'deletion' and envelope like $3 limit 1`,
        [id, nextMessage, `${ERASURE_START}%`],
      );
      return found.length > 0;
    },

    async threads({ after, limit }) {
      const found = await driver.readLong(
        `select ${THREAD} from threads where cast($1 as text) is null or id > $1 order by id limit $2`,
        [after, limit],
      );
      return found.map(threadRow);
    },
  };
}

/**
 * What stays of a thread and of all that descend from it, for the batch that deletes them: before it does. With tombstones
 * that are signed the batch is refused when a thread has moved on since, or another one has come to descend from it.
 */
export function entomb(threadId: string, reason: string | SignedDeletion): Statement {
  return typeof reason === "string" ? entombUnsigned(threadId, reason) : entombSigned(threadId, reason);
}

const TOMBSTONE = "thread_id, seq, hash, reason, deleted_at, signature";

// There was no thread of that id before: whatever stands in the place of its tombstone was not written by us.
const INSTEAD = `on conflict (thread_id) do update set seq = excluded.seq, hash = excluded.hash, reason = excluded.reason,
    deleted_at = excluded.deleted_at, signature = excluded.signature`;

function entombUnsigned(threadId: string, reason: string): Statement {
  const sql = `insert into audit_tombstones (${TOMBSTONE})
    select id, next_seq - 1, last_hash, $2, now_us(), '' from threads where id in (${wholeTree("$1")} /*few rows*/)
    ${INSTEAD}`;
  return { sql, params: [threadId, reason] };
}

/** All or none: unless there are as many as were signed, the rest is not looked at. */
function entombSigned(threadId: string, { reason, deleted_at, threads }: SignedDeletion): Statement {
  const tree = `select count(*) from threads where id in (${wholeTree("$1")} /*few rows*/)`;
  const signed = threads.map((_, index) => `($${2 * index + 5}, $${2 * index + 6})`).join(", ");
  const sql = `insert into audit_tombstones (${TOMBSTONE})
    select id, next_seq - 1, last_hash, $2, cast($3 as bigint), signed.column2
    from threads join (values ${signed}) as signed on signed.column1 = ${HEAD}
    where id in (${wholeTree("$1")} /*few rows*/) and (${tree}) = cast($4 as bigint)
    ${INSTEAD}`;
  const values = threads.flatMap(({ head, signature }) => [headText(head), signature]);
  return { sql, params: [threadId, reason, deleted_at, threads.length, ...values], expect: threads.length };
}

/** A head in one text, as the database makes it. */
const HEAD = "id || ' ' || cast(next_seq - 1 as text) || ' ' || last_hash";

function headText({ thread, seq, hash }: Head): string {
  return `${thread} ${seq} ${hash}`;
}

/** The number comes first: of several who make the same one, one writes and the others change nothing. */
function addStatements({ number, statement, signature, at, heads, gone }: NewCheckpoint): readonly Statement[] {
  const claim = {
    sql: `insert into audit_checkpoints (number, statement, signature, at) values ($1, $2, $3, $4)
      on conflict (number) do nothing`,
    params: [number, statement, signature, at],
    expect: 1,
  };
  const insert = `insert into audit_heads (checkpoint, leaf, thread_id, seq, hash) values ($1, $2, $3, $4, $5)`;
  const keep = `insert into audit_latest (thread_id, seq, hash) values ($1, $2, $3)
    on conflict (thread_id) do update set seq = excluded.seq, hash = excluded.hash`;
  return [
    claim,
    ...heads.flatMap(({ thread, seq, hash }, leaf) => [
      { sql: insert, params: [number, leaf, thread, seq, hash] },
      { sql: keep, params: [thread, seq, hash] },
    ]),
    ...gone.map(({ thread }) => ({ sql: "delete from audit_latest where thread_id = $1", params: [thread] })),
  ];
}

const THREAD =
  "id as thread_id, kind, agent, parent_id, created_at, next_seq - 1 as seq, next_message, last_hash as hash";

function threadRow(row: Row): AuditedThread {
  return {
    ...headRow(row),
    kind: row.kind as ThreadKind,
    agent: rows.text(row.agent),
    parent_id: rows.optionalText(row.parent_id),
    created_at: rows.number(row.created_at),
    next_message: rows.number(row.next_message),
  };
}

function headRow(row: Row): Head {
  return { thread: rows.text(row.thread_id), seq: rows.number(row.seq), hash: rows.text(row.hash) };
}

function storedHeadRow(row: Row): StoredHead {
  return { ...headRow(row), checkpoint: rows.number(row.checkpoint), leaf: rows.number(row.leaf) };
}

function vanishedRow(row: Row): Vanished {
  const { tombstone_seq: seq = null, tombstone_hash: hash = null } = row;
  return { head: headRow(row), tombstone: seq === null ? null : tombstoneRow({ ...row, seq, hash }) };
}

function tombstoneRow(row: Row): Tombstone {
  return {
    ...headRow(row),
    reason: rows.text(row.reason),
    deleted_at: rows.number(row.deleted_at),
    signature: rows.text(row.signature),
  };
}

function checkpointRow(row: Row): StoredCheckpoint {
  return {
    number: rows.number(row.number),
    statement: rows.text(row.statement),
    signature: rows.text(row.signature),
    at: rows.number(row.at),
  };
}

/** By their letters, which is the same on both databases. */
function byThread(left: { readonly thread: string }, right: { readonly thread: string }): number {
  return left.thread < right.thread ? -1 : left.thread > right.thread ? 1 : 0;
}
