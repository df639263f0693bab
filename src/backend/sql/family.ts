// Threads and those that descend from them, in SQL.
import { compareText } from "../../contracts/compare-text.ts";
import type { Scalar, SqlDriver, Statement } from "../sql-driver.ts";
import type { Thread } from "../thread-rows.ts";
import type { ThreadStore } from "../thread-store.ts";
import { attemptBatch, COMMITTED } from "./attempt-batch.ts";
import { entomb } from "./audit.ts";
import { CHILD_ENDED, leaveForParent } from "./leave.ts";
import { lockContents } from "./lock-contents.ts";
import { lockForErasing } from "./lock-threads.ts";
import * as rows from "./rows.ts";
import { spendReserved } from "./spend-reserved.ts";
import { lineage, livingTree, wholeTree } from "./tree.ts";

/** Everything that is kept of one thread beside its own row. */
const TABLES_OF_A_THREAD = [
  "answers",
  "thread_arguments",
  "thread_subjects",
  "inbox",
  "messages",
  "events",
  "runs",
  "calls",
  "requests",
  "live_text",
  "files",
  "thread_values",
  "variables",
  "effects",
];

/** What is kept of a run of a workflow. */
const TABLES_OF_A_RUN = ["workflow_runs", "workflow_run_tags", "workflow_steps"];

/** By the column that holds the id. */
const TABLES = [
  ...TABLES_OF_A_THREAD.map((table) => ({ table, column: "thread_id" })),
  ...TABLES_OF_A_RUN.map((table) => ({ table, column: "run_id" })),
];

export function createFamily(
  driver: SqlDriver,
): Pick<ThreadStore, "children" | "liveChildren" | "ancestors" | "descendants" | "agentsBelow" | "delete" | "idle"> {
  const remove: ThreadStore["delete"] = async (id, reason = "deleted", idle_us = null) => {
    const spent = await spendReserved(driver, id);
    // Read before: when the answer is lost, nobody can tell any more.
    const known = await driver.all(wholeTree("$1"), [id]);
    const erase = TABLES.map(
      ({ table, column }): Statement => ({
        sql: `delete from ${table} where ${column} in (${wholeTree("$1")} /*few rows*/)`,
        params: [id],
      }),
    );
    const threads = {
      sql: `delete from threads where id in (${wholeTree("$1")} /*few rows*/) returning id`,
      params: [id],
    };
    const named = await driver.all(
      `select distinct hash from files where thread_id in (${wholeTree("$1")} /*few rows*/) and hash <> ''`,
      [id],
    );
    // Bytes that another thread names stay.
    const bytes = named.map(({ hash }): Statement => {
      const sql = "delete from blobs where hash = $1 and not exists (select 1 from files where files.hash = $1)";
      return { sql, params: [hash ?? null] };
    });
    const statements = [
      ...lockForErasing(driver, id),
      ...(bytes.length === 0 ? [] : lockContents(driver)),
      ...(idle_us === null ? [] : [stillIdle(id, idle_us)]),
      ...leaveForParent(id, CHILD_ENDED),
      entomb(id, reason),
      ...erase,
      ...bytes,
      ...spent,
      threads,
    ];
    const isGone = async () => ((await driver.all(wholeTree("$1"), [id])).length === 0 ? COMMITTED : undefined);
    const done = await attemptBatch(driver, statements, isGone);
    if (done.outcome === "refused") {
      // Only the budget can have refused what nobody has signed, and what need not rest: it is read again.
      return typeof reason === "string" && idle_us === null ? await remove(id, reason) : [];
    }
    const erased = done.outcome === "committed" ? (done.rows.at(-1) ?? []) : [];
    const gone = new Set([...known, ...erased].map((row) => rows.text(row.id)));
    // The thread itself first.
    return [...gone].sort((one, other) => Number(other === id) - Number(one === id) || compareText(one, other));
  };

  return {
    async children(parentId, { live, relationship, after, limit, ofAnyKind = false }) {
      const params: Scalar[] = [parentId];
      const conditions = ["parent_id = $1", ...(ofAnyKind ? [] : ["kind = 'thread'"])];
      if (live !== undefined) conditions.push(live ? "terminated_at is null" : "terminated_at is not null");
      if (relationship !== undefined) conditions.push(`child_relationship = $${params.push(relationship)}`);
      if (after !== undefined) {
        const last = `select created_at, id from threads where parent_id = $1 and id = $${params.push(after)}`;
        conditions.push(`(created_at, id) > (${last})`);
      }
      const most = limit === undefined ? "" : ` limit $${params.push(limit)}`;
      const found = await driver.all(
        `select ${rows.THREAD} from threads where ${conditions.join(" and ")} order by created_at, id${most}`,
        params,
      );
      return found.map(rows.thread);
    },

    async liveChildren(parentId, relationship) {
      const own = relationship === null ? "" : " and child_relationship = $2";
      const [row] = await driver.all(
        `select count(*) as living from threads
          where parent_id = $1 and terminated_at is null and kind = 'thread'${own}`,
        relationship === null ? [parentId] : [parentId, relationship],
      );
      return rows.number(row?.living);
    },

    async ancestors(id) {
      const found = await driver.all(`select ${rows.THREAD} from threads where id in (${lineage("$1")} /*few rows*/)`, [
        id,
      ]);
      const known = new Map(found.map(rows.thread).map((each) => [each.id, each]));
      const above: Thread[] = [];
      const parentOf = (child: Thread | undefined) => known.get(child?.parent_id ?? "");
      for (let next = parentOf(known.get(id)); next; next = parentOf(next)) above.push(next);
      return above;
    },

    async descendants(id) {
      const found = await driver.all(
        `select ${rows.THREAD} from threads
          where id in (${livingTree("$1")} /*few rows*/) and id <> $1 order by created_at, id`,
        [id],
      );
      return found.map(rows.thread);
    },

    async agentsBelow(id) {
      const of = (column: string) =>
        `select ${column} as slug from threads
          where id in (${wholeTree("$1")} /*few rows*/) and id <> $1 and kind = 'thread'`;
      const found = await driver.all(`${of("agent")} union ${of("origin_agent")} order by slug`, [id]);
      return found.map(({ slug }) => rows.text(slug));
    },

    async idle({ for_us, limit, after }) {
      const next = after === undefined ? "" : "and id > $3";
      const found = await driver.all(
        `select id from threads as root
          where kind = 'thread' and parent_id is null and ${isIdle("root", "$1")} ${next}
            and not exists (select 1 from threads where parent_id = root.id and not (${isIdle("threads", "$1")}))
          order by id limit $2`,
        after === undefined ? [for_us, limit] : [for_us, limit, after],
      );
      return found.map((row) => rows.text(row.id));
    },

    delete: remove,
  };
}

/**
 * Nothing is under way, waited for or planned, and nobody has left anything for so long. What is no thread may be at work
 * through what is below it, for as long as it is neither terminated nor a run that has ended.
 */
function isIdle(table: string, since: string): string {
  return `(${table}.kind = 'thread' or ${table}.terminated_at is not null or exists (
      select 1 from workflow_runs where workflow_runs.run_id = ${table}.id and workflow_runs.ended_at is not null))
    and ${table}.due_at is null and ${table}.lease_by is null and ${table}.stuck_at is null
    and ${table}.status not in ('running', 'waiting') and ${table}.updated_at < (select now_us()) - cast(${since} as bigint)
    and not exists (select 1 from inbox where inbox.thread_id = ${table}.id and inbox.drained_at is null)
    and not exists (select 1 from requests where requests.thread_id = ${table}.id and requests.status = 'pending')`;
}

/** Refuses the batch when somebody came back in the last moment, to the thread or to one that descends from it. */
function stillIdle(id: string, idle: number): Statement {
  const sql = `select id from threads where id in (${wholeTree("$1")} /*few rows*/) and not (${isIdle("threads", "$2")})`;
  return { sql, params: [id, idle], expect: 0 };
}
