// Threads in SQL.
import type { ThreadKind } from "../new-thread.ts";
import type { Row, Scalar, SqlDriver } from "../sql-driver.ts";
import type { Commit } from "../thread-commit.ts";
import type { CurrentMessage, LoadedThread, StoredMessage } from "../thread-rows.ts";
import type { ThreadStore } from "../thread-store.ts";
import { attemptBatch, type Known } from "./attempt-batch.ts";
import { commitStatements } from "./commit.ts";
import { OPEN } from "./effects.ts";
import { createFamily } from "./family.ts";
import { ERASED_AT, forkStatements } from "./fork.ts";
import { createGlance } from "./glance.ts";
import { lockThreads } from "./lock-threads.ts";
import { insertArguments, insertThread } from "./new-thread.ts";
import * as rows from "./rows.ts";
import { insertSubject, ofSubjects, SUBJECT, subjectRow } from "./subjects.ts";
import { terminateStatements } from "./terminate.ts";
import { writeStatements } from "./writes.ts";

/** As many rows as a short read may have. */
const PAGE = 200;

/**
 * Each looks up the last row that supersedes it: a page costs a page, however long the thread is. Subqueries and no join,
 * because for a join the whole thread may be read.
 */
const latest = (column: string) => `(select latest.${column} from messages latest
  where latest.thread_id = said.thread_id and latest.supersedes = said.seq order by latest.seq desc limit 1)`;
const currentMessages = (after: ">" | "<", order: "asc" | "desc") =>
  `select seq, run, step, coalesce(${latest("envelope")}, envelope) as envelope
  from messages said where thread_id = $1 and seq ${after} $2 and kind = 'message' and depth = 0
    and coalesce(${latest("kind")}, 'edit') <> 'deletion'
  order by seq ${order} limit $3`;
const CURRENT_MESSAGES = currentMessages(">", "asc");
const LAST_MESSAGES = currentMessages("<", "desc");

function currentMessage(row: Row): CurrentMessage {
  return {
    seq: rows.number(row.seq),
    run: rows.number(row.run),
    step: rows.number(row.step),
    envelope: rows.text(row.envelope),
  };
}

const FIRST_EVENT = "select first_event from runs where thread_id = $1 and run = $2";

/** That it does not run is said too, because the index knows only those that do not. */
function resting(status: number): string {
  return `stuck_at is null and status <> 'running' and status = $${status}`;
}

export function createThreadStore(driver: SqlDriver): ThreadStore {
  async function get(id: string) {
    const [row] = await driver.all(`select ${rows.THREAD} from threads where id = $1 and kind = 'thread'`, [id]);
    return row && rows.thread(row);
  }

  async function ofKey(key: string, kind: ThreadKind) {
    const sql = `select ${rows.THREAD} from threads where thread_key = $1 and kind = $2`;
    const [row] = await driver.all(sql, [key, kind]);
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

  /** What a commit came to whose answer was lost: as if its guard had returned it. */
  async function lookUp({ thread_id, id }: Commit, guardAt: number): Promise<Known | undefined> {
    const [row] = await driver.all("select wake_rev, last_commit from threads where id = $1", [thread_id]);
    if (row?.last_commit !== id) return undefined;
    return { outcome: "committed", rows: [...Array<readonly Row[]>(guardAt).fill([]), [row]] };
  }

  return {
    ...createFamily(driver),
    ...createGlance(driver),
    get,
    byKey: (key) => ofKey(key, "thread"),

    async open(thread, writes = []) {
      const { id, key, kind = "thread" } = thread;
      const inserted = await attemptBatch(driver, [
        // What comes with a new thread is not written for one that was there.
        writes.length > 0 ? { ...insertThread(thread), expect: 1 } : insertThread(thread),
        ...insertArguments(thread),
        ...insertSubject(thread),
        ...writes.flatMap((write) => writeStatements(write, null)),
      ]);
      const row = inserted.outcome === "committed" ? inserted.rows[0]?.[0] : undefined;
      if (row) return { outcome: "opened", thread: rows.thread(row) };
      const known = await ofKey(key, kind);
      if (!known) throw new Error(`The ${kind} "${key}" was neither opened nor found.`);
      return { outcome: known.id === id ? "opened" : "known", thread: known };
    },

    async list({ agent, status, parent, owner, workspace, after, behind, limit = 100 }) {
      const params: Scalar[] = [limit];
      const conditions = ["kind = 'thread'"];
      if (agent !== undefined) conditions.push(`agent = $${params.push(agent)}`);
      if (status === "stuck") conditions.push("stuck_at is not null");
      else if (status === "running") conditions.push("stuck_at is null and status = 'running'");
      else if (status !== undefined) conditions.push(resting(params.push(status)));
      if (parent === null) conditions.push("parent_id is null");
      else if (parent !== undefined) conditions.push(`parent_id = $${params.push(parent)}`);
      const narrowed = ofSubjects(
        "id",
        { ...(owner && { owner }), ...(workspace !== undefined && { workspace }) },
        params,
      );
      if (narrowed !== undefined) conditions.push(narrowed);
      if (after !== undefined) {
        const last = `select created_at, id from threads where id = $${params.push(after)} and kind = 'thread'`;
        conditions.push(`(created_at, id) > (${last})`);
      }
      if (behind)
        conditions.push(`(created_at, id) > ($${params.push(behind.created_at)}, $${params.push(behind.id)})`);
      const found = await driver.all(
        `select ${rows.THREAD} from threads where ${conditions.join(" and ")} order by created_at, id limit $1`,
        params,
      );
      return found.map(rows.thread);
    },

    async load(id): Promise<LoadedThread | undefined> {
      const [row] = await driver.all(
        `select ${rows.THREAD}, threads.epoch, wake_rev, state, working, answers.sealed as answer,
            thread_arguments.sealed as arguments, ${SUBJECT}, tail_from, summary_seq, last_hash,
            case when exists (select 1 from effects where effects.thread_id = threads.id and effects.status in (${OPEN})
              and scheduled_at <= now_us()) then 1 else 0 end as has_due_effect
          from threads left join answers on answers.thread_id = id
            left join thread_arguments on thread_arguments.thread_id = id
            left join thread_subjects on thread_subjects.thread_id = id
          where id = $1`,
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
        answer: rows.optionalText(row.answer),
        tail_from,
        summary_seq,
        last_hash: rows.text(row.last_hash),
        arguments: rows.optionalText(row.arguments),
        subject: row.principal === null ? null : subjectRow(row),
        has_due_effect: rows.number(row.has_due_effect) === 1,
        messages: await transcript(id, tail_from, summary_seq),
      };
    },

    async state(id) {
      const [row] = await driver.all("select state from threads where id = $1", [id]);
      return rows.optionalText(row?.state ?? null);
    },

    async arguments(id) {
      const [row] = await driver.all("select sealed from thread_arguments where thread_id = $1", [id]);
      return row ? rows.text(row.sealed) : null;
    },

    async commit(commit) {
      const locks = lockThreads(driver, commit.thread_id, commit.writes);
      const guardAt = locks.length;
      const done = await attemptBatch(driver, [...locks, ...commitStatements(commit)], () => lookUp(commit, guardAt));
      if (done.outcome === "refused" && done.at > guardAt) return { outcome: "overtaken" };
      // The guard also refuses a commit that was made before, by a try whose answer nobody got.
      const known = done.outcome === "committed" ? done : await lookUp(commit, guardAt);
      if (known?.outcome !== "committed") return { outcome: "lost" };
      return { outcome: "committed", wake_rev: rows.number(known.rows[guardAt]?.[0]?.wake_rev) };
    },

    async terminate(id, stop) {
      const locks = lockThreads(driver, id, [{ write: "terminate", thread_id: id, stop }]);
      await attemptBatch(driver, [...locks, ...terminateStatements(id, stop)]);
      const [row] = await driver.all(`select ${rows.THREAD} from threads where id = $1`, [id]);
      return row && rows.thread(row);
    },

    async fork(fork) {
      const { id, key } = fork;
      const done = await attemptBatch(driver, forkStatements(fork));
      if (done.outcome === "committed") return "forked";
      const known = await ofKey(key, "thread");
      if (!known) return done.at === ERASED_AT ? "overtaken" : "not_settled";
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

    async currentMessages(id, { after, limit }) {
      return (await read(limit, CURRENT_MESSAGES, [id, after, limit])).map(currentMessage);
    },

    async lastMessages(id, { before, limit }) {
      const params = [id, before ?? Number.MAX_SAFE_INTEGER, limit];
      return (await read(limit, LAST_MESSAGES, params)).map(currentMessage);
    },

    async isDeleted(id, seq) {
      const found = await driver.all(
        "select seq from messages where thread_id = $1 and supersedes = $2 and kind = 'deletion' limit 1",
        [id, seq],
      );
      return found.length > 0;
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
        `select ${rows.EVENT} from events where thread_id = $1 and run = $2 and seq >= (${FIRST_EVENT}) order by seq`,
        [id, run],
      );
      return found.map(rows.event);
    },

    async firstEventOf(id, run) {
      const [row] = await driver.all(FIRST_EVENT, [id, run]);
      return row && rows.number(row.first_event);
    },

    async runs(id, { after = 0, limit = Number.MAX_SAFE_INTEGER } = {}) {
      const sql = "select * from runs where thread_id = $1 and run > $2 order by run limit $3";
      return (await driver.all(sql, [id, after, limit])).map(rows.run);
    },

    async run(id, run) {
      const [row] = await driver.all("select * from runs where thread_id = $1 and run = $2", [id, run]);
      return row && rows.run(row);
    },

    async calls(id, { run, after = { run: -1, number: -1 }, limit = Number.MAX_SAFE_INTEGER } = {}) {
      const sql = `select ${rows.CALL} from calls where thread_id = $1 and (run, number) > ($2, $3)
        ${run === undefined ? "" : "and run = $5"} order by run, number limit $4`;
      const page = [id, after.run, after.number, limit, ...(run === undefined ? [] : [run])];
      return (await driver.all(sql, page)).map(rows.call);
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
        `select ${rows.CALL} from calls where phase = 'unknown' and ${rows.ofThread("calls")}
          order by settled_at, thread_id, run, number limit $1`,
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
