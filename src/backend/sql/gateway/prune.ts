// Removing what is older than its retention.
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
  const pruned = await attemptBatch(driver, pruneTrees(now - queue_us, limit));
  await attemptBatch(driver, [...pruneLog(now - log_us, limit), pruneIdentities(limit)]);
  // If the answer got lost, those that were left are counted.
  return (pruned.outcome === "committed" && pruned.rows.at(REMOVED)?.length) || 0;
}

/** Where the removed jobs are among the rows that the batch returns. */
const REMOVED = -2;

/** The trees are locked first, so that every statement finds the same ones. */
function pruneTrees(before: number, limit: number): readonly Statement[] {
  const trees = `select root_job_id from gateway_trees where ended_at <= $1 order by ended_at, root_job_id limit $2`;
  const params = [before, limit];
  return [
    { sql: `${trees} /*for update*/`, params },
    {
      sql: `delete from gateway_payloads where job_id in (
          select id from gateway_jobs where root_job_id in (${trees} /*few rows*/)
        )`,
      params,
    },
    { sql: `delete from gateway_contexts where root_job_id in (${trees} /*few rows*/)`, params },
    { sql: `delete from gateway_jobs where root_job_id in (${trees} /*few rows*/) returning id`, params },
    { sql: `delete from gateway_trees where root_job_id in (${trees} /*few rows*/)`, params },
  ];
}

/** Of jobs that are gone, so that a job that is there always has its whole log. */
function pruneLog(before: number, limit: number): readonly Statement[] {
  const sql = `delete from gateway_attempts where (job_id, epoch) in (
      select job_id, epoch from gateway_attempts where ended_at <= $1
        and not exists (select 1 from gateway_jobs where gateway_jobs.id = gateway_attempts.job_id)
      order by ended_at, job_id, epoch limit $2
    )`;
  return [{ sql, params: [before, limit] }];
}

function pruneIdentities(limit: number): Statement {
  const sql = `delete from gateway_dedupe where hash in (
      select hash from gateway_dedupe where holders = 0 and expires_at <= (select now_us()) order by expires_at, hash
      limit $1 /*skip locked*/
    )`;
  return { sql, params: [limit] };
}
