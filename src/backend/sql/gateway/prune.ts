// Removing what is older than its retention: jobs leave the queue for the log, and later the log.
import type { JobStore } from "../../gateway/job-store.ts";
import type { SqlDriver, Statement } from "../../sql-driver.ts";
import { attemptBatch } from "../attempt-batch.ts";
import * as rows from "../rows.ts";

export async function pruneJobs(
  driver: SqlDriver,
  { queue_us, log_us, limit }: Parameters<JobStore["prune"]>[0],
): Promise<number> {
  const [clock] = await driver.all("select now_us() as now");
  const now = rows.number(clock?.now);
  const queue = await attemptBatch(driver, pruneQueue(now - queue_us, limit));
  const log = await attemptBatch(driver, pruneLog(now - log_us, limit));
  await attemptBatch(driver, [pruneIdentities(limit)]);
  // If an answer got lost, those that were left are counted.
  const [left, forgotten] = [queue, log].map((known) =>
    known.outcome === "committed" ? (known.rows.find((removed) => removed.some(isRemoved))?.length ?? 0) : 0,
  );
  return Math.max(left ?? 0, forgotten ?? 0);
}

/** Tells the rows of the statement that removes the jobs. */
function isRemoved(row: object): boolean {
  return "removed" in row;
}

/**
 * The trees are locked first, so that other processes take other ones; then their jobs, so that a person is erased either here
 * or in the log. A tree may come to its end between two statements: no job goes that is not in the log.
 */
function pruneQueue(before: number, limit: number): readonly Statement[] {
  const trees = `select root_job_id from gateway_trees where ended_at <= $1 order by ended_at, root_job_id limit $2`;
  const params = [before, limit];
  const columns = `id, seq, plugin, command, status, attempt, max_attempts, submitted_by, parent_job_id, root_job_id,
    source_event_id, pipeline, step_id, instance_id, depth, user_id, reason, sealed_error, cancel_requested_by, created_at,
    started_at`;
  return [
    { sql: `${trees} /*for update*/`, params },
    {
      sql: `select id from gateway_jobs where root_job_id in (${trees} /*few rows*/) order by id /*for update*/`,
      params,
    },
    {
      sql: `insert into gateway_logged_jobs (${columns}, completed_at)
        select ${columns}, coalesce(completed_at, created_at) from gateway_jobs
        where root_job_id in (${trees} /*few rows*/)
        on conflict (id) do nothing`,
      params,
    },
    { sql: `delete from gateway_contexts where root_job_id in (${trees} /*few rows*/)`, params },
    {
      sql: `delete from gateway_jobs where root_job_id in (${trees} /*few rows*/)
          and (select count(*) from gateway_logged_jobs as logged where logged.id = gateway_jobs.id) = 1
        returning id as removed`,
      params,
    },
    {
      sql: `delete from gateway_trees where root_job_id in (${trees} /*few rows*/)
          and (select count(*) from gateway_jobs as own where own.root_job_id = gateway_trees.root_job_id) = 0`,
      params,
    },
  ];
}

/**
 * Of jobs that have left the queue, so that a job that is there always has its whole log. Others may leave the queue between
 * two statements: no job goes before what is stored beside it, which would never be found again.
 */
function pruneLog(before: number, limit: number): readonly Statement[] {
  const jobs = "select id from gateway_logged_jobs where completed_at <= $1 order by completed_at, id limit $2";
  const params = [before, limit];
  return [
    // In the order of the ids, as every writer of several rows locks them.
    { sql: `select id from gateway_logged_jobs where id in (${jobs} /*few rows*/) order by id /*for update*/`, params },
    { sql: `delete from gateway_attempts where job_id in (${jobs} /*few rows*/)`, params },
    { sql: `delete from gateway_payloads where job_id in (${jobs} /*few rows*/)`, params },
    {
      sql: `delete from gateway_logged_jobs where id in (${jobs} /*few rows*/)
          and (select count(*) from gateway_attempts where job_id = gateway_logged_jobs.id) = 0
          and (select count(*) from gateway_payloads where job_id = gateway_logged_jobs.id) = 0
        returning id as removed`,
      params,
    },
  ];
}

function pruneIdentities(limit: number): Statement {
  const sql = `delete from gateway_dedupe where hash in (
      select hash from gateway_dedupe where holders = 0 and expires_at <= (select now_us()) order by expires_at, hash
      limit $1 /*skip locked*/
    )`;
  return { sql, params: [limit] };
}
