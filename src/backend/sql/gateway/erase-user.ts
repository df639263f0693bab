// Erasing a person: what jobs held of outside text goes, the rows stay.
import type { SqlDriver, Statement } from "../../sql-driver.ts";
import { attemptBatch } from "../attempt-batch.ts";
import { storableText } from "../storable-text.ts";

/** Jobs of every tree in which a job was submitted on behalf of the user, except those of other users. */
function jobsOf(table: "gateway_jobs" | "gateway_logged_jobs", columns = "id"): string {
  return `select ${columns} from ${table} where (user_id = $1 or user_id is null) and root_job_id in (
      select own.root_job_id from ${table} as own where own.user_id = $1
    )`;
}

export async function eraseJobsOfUser(driver: SqlDriver, userId: string): Promise<number> {
  const params = [storableText(userId)];
  const statements: readonly Statement[] = [
    // A job that leaves the queue meanwhile is found in the log.
    { sql: `${jobsOf("gateway_jobs")} order by id /*for update*/`, params },
    { sql: `${jobsOf("gateway_logged_jobs")} order by id /*for update*/`, params },
    {
      sql: `update gateway_contexts set sealed_accumulated = null where id in (${jobsOf("gateway_jobs", "context_id")})`,
      params,
    },
    ...(["gateway_jobs", "gateway_logged_jobs"] as const).flatMap((table) =>
      eraseJobs(table).map((sql) => ({ sql, params })),
    ),
    { sql: "delete from gateway_facts where user_id = $1", params },
    { sql: "update gateway_events set data = '{}' where user_id = $1", params },
  ];
  const erased = await attemptBatch(driver, statements);
  if (erased.outcome !== "committed") return 0;
  return (erased.rows[0]?.length ?? 0) + (erased.rows[1]?.length ?? 0);
}

function eraseJobs(table: "gateway_jobs" | "gateway_logged_jobs"): readonly string[] {
  const jobs = jobsOf(table);
  return [
    `delete from gateway_payloads where job_id in (${jobs})`,
    // Otherwise PostgreSQL would read the whole table for the few jobs that have an error.
    `update ${table} set sealed_error = null where id in (${jobs} /*few rows*/) and sealed_error is not null`,
    `update gateway_attempts set sealed_response = null, sealed_stderr = null, sealed_error = null where job_id in (${jobs})`,
    `delete from gateway_facts where job_id in (${jobs})`,
    `update gateway_events set data = '{}' where job_id in (${jobs})`,
  ];
}
