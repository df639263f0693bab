// Reading jobs, and the job log.
import { hasEnded, type JobStatus } from "../../../contracts/gateway/job.ts";
import type {
  Job,
  JobAttempt,
  JobLogQuery,
  JobQuery,
  JobStore,
  ListedJob,
  LoggedAttempt,
} from "../../gateway/job-store.ts";
import type { Scalar, SqlDriver } from "../../sql-driver.ts";
import * as rows from "../rows.ts";
import { storableText } from "../storable-text.ts";
import { ATTEMPT, attempt, JOB, LOGGED_ATTEMPT, listedJob, loggedAttempt, PAYLOAD } from "./job-rows.ts";

export async function readJob(driver: SqlDriver, id: string): Promise<Job | undefined> {
  const [row] = await driver.all(`select ${JOB}, ${PAYLOAD} from gateway_jobs where id = $1`, [storableText(id)]);
  return row && { ...listedJob(row), sealed_payload: rows.optionalText(row.sealed_payload) };
}

export async function listJobs(driver: SqlDriver, query: JobQuery): Promise<readonly ListedJob[]> {
  const { plugin, command, root_job_id, submitted_by, statuses, from, to, after, limit } = query;
  const { where, params, bind } = conditionsOf({ plugin, command, root_job_id, submitted_by }, statuses);
  // Said in so many words, the index on what has ended can be used, or that on what has not.
  if (statuses?.every(hasEnded)) where.push("due_at is null");
  else if (statuses && !statuses.some(hasEnded)) where.push("due_at is not null");
  if (from !== undefined) where.push(`created_at >= ${bind(from)}`);
  if (to !== undefined) where.push(`created_at <= ${bind(to)}`);
  if (after) where.push(`(created_at, id) < (${bind(after.created_at)}, ${bind(storableText(after.id))})`);
  const sql = `select ${JOB} from gateway_jobs where ${where.join(" and ")}
    order by created_at desc, id desc limit ${bind(limit)}`;
  return (await driver.all(sql, params)).map(listedJob);
}

export async function readTree(driver: SqlDriver, rootJobId: string): Promise<readonly ListedJob[]> {
  const sql = `select ${JOB} from gateway_jobs where root_job_id = $1 order by seq`;
  return (await driver.all(sql, [storableText(rootJobId)])).map(listedJob);
}

export async function readAttempts(driver: SqlDriver, jobId: string): Promise<readonly JobAttempt[]> {
  const sql = `select ${ATTEMPT} from gateway_attempts where job_id = $1 order by epoch`;
  return (await driver.all(sql, [storableText(jobId)])).map(attempt);
}

export async function listLog(driver: SqlDriver, query: JobLogQuery): Promise<readonly LoggedAttempt[]> {
  const { job_id, plugin, command, submitted_by, statuses, from, to, after, limit } = query;
  const { where, params, bind } = conditionsOf({ job_id, plugin, command, submitted_by }, statuses);
  if (from !== undefined) where.push(`ended_at >= ${bind(from)}`);
  if (to !== undefined) where.push(`ended_at <= ${bind(to)}`);
  if (after) {
    const place = [after.ended_at, storableText(after.job_id), after.epoch].map(bind).join(", ");
    where.push(`(ended_at, job_id, epoch) < (${place})`);
  }
  const sql = `select ${LOGGED_ATTEMPT} from gateway_attempts where ${where.join(" and ")}
    order by ended_at desc, job_id desc, epoch desc limit ${bind(limit)}`;
  return (await driver.all(sql, params)).map(loggedAttempt);
}

type Conditions = {
  readonly where: string[];
  readonly params: Scalar[];
  /** Adds a value to the parameters, and gives its placeholder. */
  bind(value: Scalar): string;
};

function conditionsOf(
  equal: Readonly<Record<string, string | undefined>>,
  statuses: readonly JobStatus[] | undefined,
): Conditions {
  const params: Scalar[] = [];
  const bind = (value: Scalar) => `$${params.push(value)}`;
  const where = ["1 = 1"];
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) where.push(`${column} = ${bind(storableText(value))}`);
  }
  if (statuses) where.push(statuses.length === 0 ? "1 = 0" : `status in (${statuses.map(bind).join(", ")})`);
  return { where, params, bind };
}

export async function readContext(driver: SqlDriver, id: string): Promise<string | undefined> {
  const sql = "select sealed_accumulated from gateway_contexts where id = $1";
  const [row] = await driver.all(sql, [storableText(id)]);
  return rows.optionalText(row?.sealed_accumulated) ?? undefined;
}

/** How many jobs of a tree have not ended, and how many count against its limit. */
export async function readTreeCounts(
  driver: SqlDriver,
  rootJobId: string,
): Promise<{ readonly outstanding: number; readonly counted: number }> {
  const sql = "select outstanding, jobs from gateway_trees where root_job_id = $1";
  const [row] = await driver.all(sql, [storableText(rootJobId)]);
  return { outstanding: rows.number(row?.outstanding ?? 0), counted: rows.number(row?.jobs ?? 0) };
}

const none: Readonly<Record<JobStatus, number>> = {
  ...{ queued: 0, running: 0, succeeded: 0, skipped: 0, failed: 0, timed_out: 0, dead: 0 },
};

// Each half is counted in an index of its own.
const BY_STATUS = `select status, count(*) as jobs from gateway_jobs where due_at is null group by status
  union all select status, count(*) from gateway_jobs where due_at is not null group by status`;

const OLDEST_DUE = `select min(due_at) as due_at from gateway_jobs
  where due_at is not null and wake_rev >= 0 and due_at <= $1 and lease_until <= $1`;

export async function countJobs(driver: SqlDriver): ReturnType<JobStore["counts"]> {
  // A long read may not know a clock that a test holds.
  const [clock] = await driver.all("select now_us() as now");
  const now = rows.number(clock?.now);
  const [counted, [oldest]] = await Promise.all([driver.readLong(BY_STATUS), driver.readLong(OLDEST_DUE, [now])]);
  const byStatus = { ...none };
  for (const { status, jobs } of counted) byStatus[status as JobStatus] += rows.number(jobs);
  return { byStatus, oldest_due_us: oldest?.due_at == null ? null : now - rows.number(oldest.due_at) };
}
