// Metrics in SQL. Each number is read from an index, off the way of those who write.
import type { MetricsStore, StoredMetrics } from "../metrics-store.ts";
import type { Row, SqlDriver } from "../sql-driver.ts";
import type { ThreadStatus } from "../thread-rows.ts";
import * as rows from "./rows.ts";

const none: Readonly<Record<ThreadStatus, number>> = {
  ...{ idle: 0, running: 0, waiting: 0, stopped: 0, terminated: 0, stuck: 0 },
};

// A running thread is in no index of statuses, so those that run are what is left of all. One statement: between two,
// a thread could come to rest.
const STANDING = `select 'all' as counted, '' as status, count(*) as threads from threads where kind = 'thread'
  union all select 'resting', status, count(*) from threads where status <> 'running' and kind = 'thread' group by status
  union all select 'stuck', status, count(*) from threads where stuck_at is not null and kind = 'thread' group by status`;

const OLDEST_DUE = `select due_at from threads where kind = 'thread' and due_at <= $1 and lease_until <= $1 and stuck_at is null
    and not exists (select 1 from switches where kind = 'agent' and name = threads.agent and is_off = 1)
  order by due_at limit 1`;

const COUNTS = `select
  (select count(*) from calls where phase = 'unknown' and ${rows.ofThread("calls")}) as unknown_calls,
  (select count(*) from requests where status = 'pending') as pending_requests,
  (select count(*) from requests where status = 'pending' and kind = 'approval') as pending_approvals,
  (select min(created_at) from requests where status = 'pending' and kind = 'approval') as oldest_approval,
  (select count(*) from workers) as workers,
  (select count(*) from inbox where drained_at is null and ${rows.ofThread("inbox")}) as inbox_depth`;

export function createMetricsStore(driver: SqlDriver): MetricsStore {
  return {
    async overdue({ for_us, limit }) {
      const sql = `select id from threads where kind = 'thread' and due_at <= (select now_us()) - cast($1 as bigint)
          and lease_until <= (select now_us()) and stuck_at is null
        order by due_at, id limit $2`;
      return (await driver.all(sql, [for_us, limit])).map(({ id }) => rows.text(id));
    },

    async read(): Promise<StoredMetrics> {
      // Whoever reads for long may not know the clock that somebody holds.
      const [clock] = await driver.all("select now_us() as now");
      const now = rows.number(clock?.now);
      const [standing, [due], [counts]] = await Promise.all([
        driver.readLong(STANDING),
        driver.readLong(OLDEST_DUE, [now]),
        driver.readLong(COUNTS),
      ]);
      return {
        threads: byStanding(standing),
        oldest_due_age: ageOf(due?.due_at),
        unknown_calls: rows.number(counts?.unknown_calls),
        pending_requests: rows.number(counts?.pending_requests),
        pending_approvals: rows.number(counts?.pending_approvals),
        oldest_approval_age: ageOf(counts?.oldest_approval),
        workers: rows.number(counts?.workers),
        inbox_depth: rows.number(counts?.inbox_depth),
      };

      function ageOf(since: Row[string] | undefined): number | null {
        return since == null ? null : Math.max(0, now - rows.number(since));
      }
    },
  };
}

/** A stuck thread counts as nothing else. */
function byStanding(standing: readonly Row[]): Record<ThreadStatus, number> {
  const counted = { ...none };
  for (const row of standing) {
    const status = row.status as ThreadStatus;
    const threads = rows.number(row.threads);
    if (row.counted === "all") counted.running += threads;
    else if (row.counted === "resting") {
      counted[status] += threads;
      counted.running -= threads;
    } else {
      counted[status] -= threads;
      counted.stuck += threads;
    }
  }
  return counted;
}
