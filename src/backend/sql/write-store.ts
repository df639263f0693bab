// Writes where no commit is at hand, in SQL.
import type { SqlDriver, Statement } from "../sql-driver.ts";
import type { Only, Write, WriteStore } from "../write.ts";
import { attemptBatch, COMMITTED, type Known } from "./attempt-batch.ts";
import { lockThreads } from "./lock-threads.ts";
import { writeStatements } from "./writes.ts";

export function createWriteStore(driver: SqlDriver): WriteStore {
  async function exists(sql: string, params: readonly string[]): Promise<Known | undefined> {
    const [row] = await driver.all(sql, params);
    return row && COMMITTED;
  }

  /** Whether a batch whose answer was lost happened. Most may simply be written again; the others have left a row. */
  async function happened(writes: readonly Write[], settled: Settled | undefined): Promise<Known | undefined> {
    if (settled) {
      return exists("select id from requests where id = $1 and payload_hash = $2", [settled.id, settled.mark]);
    }
    for (const each of writes) {
      if (each.write === "thread") return exists("select id from threads where id = $1", [each.thread.id]);
      if (each.write === "effect") {
        return exists("select id from effects where thread_id = $1 and id = $2", [each.thread_id, each.effect.id]);
      }
    }
    return undefined;
  }

  return {
    async apply(threadId, writes, only) {
      const isEnd = writes.length > 0 && writes.every(({ write }) => write === "terminate");
      // The mark tells our own settling from everybody else's, should the answer get lost.
      const settled = only && { id: only.request_id, mark: crypto.randomUUID() };
      const locks = lockThreads(driver, threadId, writes);
      const before = [...locks, found(threadId, isEnd), ...(settled ? [settle(threadId, settled)] : [])];
      const statements = [
        ...before,
        ...(only?.room ? [hasRoom(threadId, only.room)] : []),
        ...writes.flatMap((write) => writeStatements(write, null)),
      ];
      const done = await attemptBatch(driver, statements, () => happened(writes, settled));
      if (done.outcome === "committed") return "written";
      if (only?.room && done.at === before.length) return "full";
      if (done.at > locks.length) return "overtaken";
      return (await exists("select id from threads where id = $1", [threadId])) ? "terminated" : "not_found";
    },
  };
}

/** The row is held, so that nobody ends the thread meanwhile. */
function found(threadId: string, maybeTerminated: boolean): Statement {
  const living = maybeTerminated ? "" : " and terminated_at is null";
  return { sql: `select id from threads where id = $1${living} /*for update*/`, params: [threadId], expect: 1 };
}

/** Counted while the row of the parent is held: nobody else makes a child of it with writes of their own meanwhile. */
function hasRoom(parentId: string, { relationship, most }: NonNullable<Only["room"]>): Statement {
  const sql = `select id from threads where id = $1 and $3 > (select count(*) from threads as child
    where child.parent_id = $1 and child.terminated_at is null
      and child.kind = 'thread' and child.child_relationship = $2)`;
  return { sql, params: [parentId, relationship, most], expect: 1 };
}

type Settled = { readonly id: string; readonly mark: string };

function settle(threadId: string, { id, mark }: Settled): Statement {
  const sql = `update requests set status = 'settled', sealed = null, payload_hash = $3, ended_at = now_us()
    where id = $1 and thread_id = $2 and status = 'pending' and (expires_at is null or expires_at > now_us())`;
  return { sql, params: [id, threadId, mark], expect: 1 };
}
