// The inbox in SQL.
import type { EntryFate, Inbox, NewEntry, PutOutcome } from "../inbox.ts";
import type { SqlDriver } from "../sql-driver.ts";
import { attemptBatch, COMMITTED } from "./attempt-batch.ts";
import * as rows from "./rows.ts";
import { insertEntry, tell, wake } from "./wake.ts";

export function createInbox(driver: SqlDriver): Inbox {
  const first: Inbox["first"] = async (threadId, { operation, idempotency_key, payload_hash }) => {
    const [known] = await driver.all(
      "select id, payload_hash from inbox where thread_id = $1 and operation = $2 and idempotency_key = $3",
      [threadId, operation, idempotency_key],
    );
    if (!known) return undefined;
    const isSame = known.payload_hash === payload_hash;
    return isSame ? { outcome: "repeated", id: rows.text(known.id) } : { outcome: "conflicting" };
  };

  /** What came of an entry that was refused: there is no such thread, it takes nothing, or the key was used before. */
  async function whyRefused(threadId: string, entry: NewEntry): Promise<PutOutcome> {
    const known = await first(threadId, entry);
    if (known) return known;
    const [thread] = await driver.all("select terminated_at from threads where id = $1", [threadId]);
    return { outcome: thread ? "terminated" : "not_found" };
  }

  async function fate(threadId: string, entryId: string): Promise<EntryFate | undefined> {
    const [row] = await driver.all("select id, run, drained_at from inbox where thread_id = $1 and id = $2", [
      threadId,
      entryId,
    ]);
    return row && { id: rows.text(row.id), drained: row.drained_at !== null, run: rows.optionalNumber(row.run) };
  }

  return {
    first,
    fate,

    async put(threadId, entry) {
      const { outcome } = await attemptBatch(driver, [
        wake(threadId, entry),
        insertEntry(threadId, entry),
        tell(threadId, entry),
      ]);
      if (outcome === "committed") return { outcome: "stored", id: entry.id };
      const refused = await whyRefused(threadId, entry);
      // Its own id under its own key: the first try was committed, only its answer got lost.
      return refused.outcome === "repeated" && refused.id === entry.id ? { ...refused, outcome: "stored" } : refused;
    },

    async waiting(threadId) {
      const found = await driver.all(
        `select seq, id, kind, body, created_at from inbox where thread_id = $1 and drained_at is null order by seq`,
        [threadId],
      );
      return found.map(rows.entry);
    },

    async left(threadId, operation, key) {
      const columns = "select id, idempotency_key, run, created_at, drained_at from inbox";
      const [row] =
        key === undefined
          ? await driver.all(`${columns} where thread_id = $1 and operation = $2 order by seq desc limit 1`, [
              threadId,
              operation,
            ])
          : await driver.all(`${columns} where thread_id = $1 and operation = $2 and idempotency_key = $3`, [
              threadId,
              operation,
              key,
            ]);
      return (
        row && {
          id: rows.text(row.id),
          key: rows.text(row.idempotency_key),
          run: rows.optionalNumber(row.run),
          drained: row.drained_at !== null,
          created_at: rows.number(row.created_at),
        }
      );
    },

    async lastStop(threadId) {
      const [row] = await driver.all(
        `select seq from inbox where thread_id = $1 and kind = 'stop' and drained_at is not null
          order by seq desc limit 1`,
        [threadId],
      );
      return row ? rows.number(row.seq) : null;
    },

    async cancel(threadId, entryId) {
      const sql = `update inbox set drained_at = now_us(), body = null
        where thread_id = $1 and id = $2 and drained_at is null and kind in ('message', 'tool')`;
      const cancelled = async () => {
        const found = await fate(threadId, entryId);
        return found?.drained && found.run === null ? COMMITTED : undefined;
      };
      const { outcome } = await attemptBatch(driver, [{ sql, params: [threadId, entryId], expect: 1 }], cancelled);
      return outcome === "committed";
    },
  };
}
