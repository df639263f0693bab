// Erasing a person: what jobs held of outside text goes, the rows stay.
import type { SqlDriver } from "../../sql-driver.ts";
import { attemptBatch } from "../attempt-batch.ts";
import { storableText } from "../storable-text.ts";

/** Jobs of every tree in which a job was submitted on behalf of the user. */
const JOBS = `select id from gateway_jobs where root_job_id in (
    select own.root_job_id from gateway_jobs as own where own.user_id = $1
  )`;

export async function eraseJobsOfUser(driver: SqlDriver, userId: string): Promise<number> {
  const params = [storableText(userId)];
  const removed = "sealed_response = null, sealed_stderr = null, sealed_error = null";
  const erased = await attemptBatch(driver, [
    { sql: `${JOBS} order by id /*for update*/`, params },
    { sql: `delete from gateway_payloads where job_id in (${JOBS})`, params },
    {
      sql: `update gateway_contexts set sealed_accumulated = null where root_job_id in (
          select own.root_job_id from gateway_jobs as own where own.user_id = $1
        )`,
      params,
    },
    { sql: `update gateway_jobs set sealed_error = null where id in (${JOBS}) and sealed_error is not null`, params },
    { sql: `update gateway_attempts set ${removed} where job_id in (${JOBS})`, params },
    // Those of jobs that were pruned since.
    { sql: `update gateway_attempts set ${removed} where user_id = $1`, params },
    { sql: `update gateway_events set data = '{}' where job_id in (${JOBS})`, params },
  ]);
  return (erased.outcome === "committed" && erased.rows[0]?.length) || 0;
}
