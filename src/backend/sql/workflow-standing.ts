// How runs of workflows stand, counted and found for operators. Each number is read from an index.
import type { SqlDriver } from "../sql-driver.ts";
import type { WorkflowStore } from "../workflow-store.ts";
import * as rows from "./rows.ts";

/** In these words, because the indexes of rows that are no threads know only some kinds. */
const RUNS = "kind <> 'thread' and kind = 'workflow'";

const isDue = (at: string) => `${RUNS} and due_at <= ${at} and lease_until <= $1 and stuck_at is null`;

const STANDING = `select
  (select count(*) from threads where ${isDue("$1")}) as due,
  (select count(*) from threads where ${isDue("cast($2 as bigint)")}) as overdue,
  (select min(due_at) from threads where ${isDue("$1")}) as oldest_due,
  (select count(*) from threads where ${RUNS} and stuck_at is not null) as stuck,
  (select count(*) from workflow_runs where has_problem = 1) as problems,
  (select count(*) from calls where phase = 'unknown' and exists (
    select 1 from threads where threads.id = calls.thread_id and ${RUNS} and threads.run = calls.run)) as unknown_steps`;

export function createWorkflowStanding(
  driver: SqlDriver,
): Pick<WorkflowStore, "standing" | "overdue" | "putOff" | "stuck"> {
  return {
    async standing({ for_us }) {
      const [clock] = await driver.all("select now_us() as now");
      const now = rows.number(clock?.now);
      const [row] = await driver.readLong(STANDING, [now, now - for_us]);
      const oldest = rows.optionalNumber(row?.oldest_due);
      return {
        due: rows.number(row?.due),
        overdue: rows.number(row?.overdue),
        oldest_due_age: oldest === null ? null : Math.max(0, now - oldest),
        stuck: rows.number(row?.stuck),
        problems: rows.number(row?.problems),
        unknown_steps: rows.number(row?.unknown_steps),
      };
    },

    async overdue({ for_us, limit }) {
      const sql = `select id from threads where ${RUNS} and due_at <= (select now_us()) - cast($1 as bigint)
          and lease_until <= (select now_us()) and stuck_at is null
        order by due_at, id limit $2`;
      return (await driver.all(sql, [for_us, limit])).map(({ id }) => rows.text(id));
    },

    async putOff({ within_us, limit }) {
      const sql = `select id from threads where ${RUNS} and due_at <= (select now_us()) + cast($1 as bigint)
          and lease_until <= (select now_us()) and last_error is not null and stuck_at is null
        order by due_at, id limit $2`;
      return (await driver.all(sql, [within_us, limit])).map(({ id }) => rows.text(id));
    },

    async stuck(limit) {
      const sql = `select id from threads where ${RUNS} and stuck_at is not null order by stuck_at, id limit $1`;
      return (await driver.all(sql, [limit])).map(({ id }) => rows.text(id));
    },
  };
}
