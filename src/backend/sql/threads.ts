// Threads in SQL.
import type { Row, Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import type { LoadedThread, StoredMessage, ThreadStore } from "../thread-store.ts";
import { attemptBatch, type Known } from "./attempt-batch.ts";
import { commitStatements } from "./commit.ts";
import * as rows from "./rows.ts";
import { insertEntry, tell } from "./wake.ts";

/** As many rows as a short read may have. */
const PAGE = 200;

export function createThreadStore(driver: SqlDriver): ThreadStore {
  async function get(id: string) {
    const [row] = await driver.all(`select ${rows.THREAD} from threads where id = $1`, [id]);
    return row && rows.thread(row);
  }

  async function byKey(key: string) {
    const [row] = await driver.all(`select ${rows.THREAD} from threads where thread_key = $1`, [key]);
    return row && rows.thread(row);
  }

  /** The transcript: the summary comes first, though it was written later than what follows. */
  async function transcript(id: string, tailFrom: number, summarySeq: number | null): Promise<StoredMessage[]> {
    const tail = await driver.all(
      `select ${rows.MESSAGE} from messages where thread_id = $1 and seq >= $2 and kind <> 'summary' order by seq`,
      [id, tailFrom],
    );
    if (summarySeq === null) return tail.map(rows.message);
    const summary = await driver.all(`select ${rows.MESSAGE} from messages where thread_id = $1 and seq = $2`, [
      id,
      summarySeq,
    ]);
    return [...summary, ...tail].map(rows.message);
  }

  /** A page is read at once; a whole history may take long, and is read where it holds up nobody. */
  function read(limit: number, sql: string, params: readonly Scalar[]): Promise<readonly Row[]> {
    return limit <= PAGE ? driver.all(sql, params) : driver.readLong(sql, params);
  }

  /** What a commit came to whose answer was lost. */
  async function lookUp(threadId: string, commitId: string): Promise<Known | undefined> {
    const [row] = await driver.all("select wake_rev, last_commit from threads where id = $1", [threadId]);
    return row?.last_commit === commitId ? { outcome: "committed", rows: [[row]] } : undefined;
  }

  return {
    get,
    byKey,

    async open({ id, key, agent, budget, state_version, hash }) {
      const sql = `insert into threads (id, thread_key, agent, status, created_at, updated_at, state_version, run, steps,
          next_seq, next_message, tail_from, last_hash, inbox_seq, wake_rev, lease_until, epoch, claims, budget)
        values ($1, $2, $3, 'idle', now_us(), now_us(), $4, 0, 0, 0, 0, 0, $5, 0, 0, 0, 0, 0, $6)
        on conflict (thread_key) do nothing returning ${rows.THREAD}`;
      const inserted = await attemptBatch(driver, [{ sql, params: [id, key, agent, state_version, hash, budget] }]);
      const row = inserted.outcome === "committed" ? inserted.rows[0]?.[0] : undefined;
      if (row) return { outcome: "opened", thread: rows.thread(row) };
      const known = await byKey(key);
      if (!known) throw new Error(`Thread "${key}" was neither opened nor found.`);
      return { outcome: known.id === id ? "opened" : "known", thread: known };
    },

    async list({ agent, status, after, limit = 100 }) {
      const params: Scalar[] = [limit];
      const conditions = ["1 = 1"];
      if (agent !== undefined) conditions.push(`agent = $${params.push(agent)}`);
      if (status === "stuck") conditions.push("stuck_at is not null");
      else if (status !== undefined) conditions.push(`stuck_at is null and status = $${params.push(status)}`);
      if (after !== undefined) {
        conditions.push(`(created_at, id) > (select created_at, id from threads where id = $${params.push(after)})`);
      }
      const found = await driver.all(
        `select ${rows.THREAD} from threads where ${conditions.join(" and ")} order by created_at, id limit $1`,
        params,
      );
      return found.map(rows.thread);
    },

    async load(id): Promise<LoadedThread | undefined> {
      const [row] = await driver.all(
        `select ${rows.THREAD}, threads.epoch, wake_rev, state, working, sealed, tail_from, summary_seq, last_hash
          from threads left join answers on thread_id = id where id = $1`,
        [id],
      );
      if (!row) return undefined;
      const tail_from = rows.number(row.tail_from);
      const summary_seq = rows.optionalNumber(row.summary_seq);
      return {
        thread: rows.thread(row),
        epoch: rows.number(row.epoch),
        wake_rev: rows.number(row.wake_rev),
        state: rows.optionalText(row.state),
        working: rows.optionalText(row.working),
        answer: rows.optionalText(row.sealed),
        tail_from,
        summary_seq,
        last_hash: rows.text(row.last_hash),
        messages: await transcript(id, tail_from, summary_seq),
      };
    },

    async commit(commit) {
      const done = await attemptBatch(driver, commitStatements(commit), () => lookUp(commit.thread_id, commit.id));
      if (done.outcome === "refused" && done.at > 0) return { outcome: "overtaken" };
      // The guard also refuses a commit that was made before, by a try whose answer nobody got.
      const known = done.outcome === "committed" ? done : await lookUp(commit.thread_id, commit.id);
      if (known?.outcome !== "committed") return { outcome: "lost" };
      return { outcome: "committed", wake_rev: rows.number(known.rows[0]?.[0]?.wake_rev) };
    },

    async terminate(id, stop) {
      const terminate: Statement = {
        sql: `update threads set terminated_at = now_us(), status = 'terminated', wake_rev = wake_rev + 1,
            inbox_seq = inbox_seq + 1, due_at = now_us(), updated_at = now_us(), stuck_at = null, claims = 0
          where id = $1 and terminated_at is null`,
        params: [id],
        expect: 1,
      };
      // Refused when it was terminated before, or is not there: what is read then tells which.
      await attemptBatch(driver, [terminate, insertEntry(id, stop), tell(id, stop)]);
      return await get(id);
    },

    async fork({ id, key, from, at, hash, records }) {
      const thread: Statement = {
        sql: `insert into threads (id, thread_key, agent, status, created_at, updated_at, parent_id, state_version, run,
            steps, next_seq, next_message, tail_from, summary_seq, last_hash, inbox_seq, wake_rev, lease_until, epoch,
            claims, budget)
          select $1, $2, agent, 'idle', now_us(), now_us(), null, state_version, 0, events.step, 1, messages_to,
            events.tail_from, events.summary_seq, $5, 0, 0, 0, 0, 0, budget
          from threads join events on thread_id = id
          where id = $3 and events.seq = $4 and settled = 1
          on conflict (thread_key) do nothing`,
        params: [id, key, from, at, hash],
        expect: 1,
      };
      const copied: Statement = {
        sql: `insert into messages (thread_id, seq, run, step, kind, supersedes, envelope, salt, hash, at)
          select $1, seq, 0, step, kind, supersedes, envelope, salt, hash, at from messages
          where thread_id = $2 and seq < (select next_message from threads where id = $1)`,
        params: [id, from],
      };
      const event: Statement = {
        sql: `insert into events (thread_id, seq, run, step, records, messages_from, messages_to, tail_from, summary_seq,
            settled, at, hash)
          select id, 0, 0, steps, $2, 0, next_message, tail_from, summary_seq, 1, now_us(), last_hash
          from threads where id = $1`,
        params: [id, records],
      };
      const { outcome } = await attemptBatch(driver, [thread, copied, event]);
      if (outcome === "committed") return "forked";
      const known = await byKey(key);
      if (!known) return "not_settled";
      // Its own id under its own key: the first try was committed, only its answer got lost.
      return known.id === id ? "forked" : "known";
    },

    async settledEvent(id, atMost) {
      const [row] = await driver.all(
        `select ${rows.EVENT} from events where thread_id = $1 and settled = 1 and seq <= $2 order by seq desc limit 1`,
        [id, atMost ?? Number.MAX_SAFE_INTEGER],
      );
      return row && rows.event(row);
    },

    async messages(id, { from = 0, limit = 1_000 }) {
      const found = await read(
        limit,
        `select ${rows.MESSAGE} from messages where thread_id = $1 and seq >= $2 order by seq limit $3`,
        [id, from, limit],
      );
      return found.map(rows.message);
    },

    async events(id, { after = -1, limit = 1_000 }) {
      const found = await read(
        limit,
        `select ${rows.EVENT} from events where thread_id = $1 and seq > $2 order by seq limit $3`,
        [id, after, limit],
      );
      return found.map(rows.event);
    },

    async eventsOfRun(id, run) {
      const found = await driver.all(
        `select ${rows.EVENT} from events where thread_id = $1 and run = $2 order by seq`,
        [id, run],
      );
      return found.map(rows.event);
    },

    async runs(id) {
      return (await driver.all("select * from runs where thread_id = $1 order by run", [id])).map(rows.run);
    },

    async run(id, run) {
      const [row] = await driver.all("select * from runs where thread_id = $1 and run = $2", [id, run]);
      return row && rows.run(row);
    },

    async calls(id) {
      const found = await driver.all(`select ${rows.CALL} from calls where thread_id = $1 order by run, number`, [id]);
      return found.map(rows.call);
    },

    async call(id, run, number) {
      const [row] = await driver.all(
        `select ${rows.CALL} from calls where thread_id = $1 and run = $2 and number = $3`,
        [id, run, number],
      );
      return row && rows.call(row);
    },

    async unknownCalls(limit) {
      const found = await driver.all(
        `select ${rows.CALL} from calls where phase = 'unknown' order by settled_at, thread_id limit $1`,
        [limit],
      );
      return found.map(rows.call);
    },

    async progress(ids) {
      if (ids.length === 0) return [];
      const list = ids.map((_, index) => `$${index + 1}`).join(", ");
      const found = await driver.all(`select ${rows.THREAD} from threads where id in (${list})`, ids);
      return found.map((row: Row) => {
        const { id, next_seq, run, status } = rows.thread(row);
        return { id, next_seq, run, status };
      });
    },
  };
}
