// Reading jobs, and the job log.
import { hasEnded, type JobStatus } from "../../../contracts/gateway/job.ts";
import type { Job, JobAttempt, JobQuery, JobStore, ListedJob } from "../../gateway/job-store.ts";
import type { Scalar, SqlDriver } from "../../sql-driver.ts";
import * as rows from "../rows.ts";
import { storableText } from "../storable-text.ts";
import { WAITS_FOR_NONE } from "./claim-job.ts";
import { storableEventId } from "./event-id.ts";
import { ATTEMPT, attempt, DUE, JOB, LOGGED_JOB, LOGGED_PAYLOAD, listedJob, PAYLOAD } from "./job-rows.ts";

export async function readJob(driver: SqlDriver, id: string): Promise<Job | undefined> {
  const sql = `select ${JOB}, ${PAYLOAD} from gateway_jobs where id = $1
    union all select ${LOGGED_JOB}, ${LOGGED_PAYLOAD} from gateway_logged_jobs where id = $1`;
  const [row] = await driver.all(sql, [storableText(id)]);
  return row && { ...listedJob(row), sealed_payload: rows.optionalText(row.sealed_payload) };
}

const NEWEST_FIRST = "order by created_at desc, id desc";

export async function listJobs(driver: SqlDriver, query: JobQuery): Promise<readonly ListedJob[]> {
  const { where, params, bind } = conditionsOf(query);
  const inQueue = `${where} and ${standing(query)}`;
  const sql = `select ${JOB} from gateway_jobs where ${inQueue} ${NEWEST_FIRST} limit ${bind(query.limit)}`;
  return (await driver.all(sql, params)).map(listedJob);
}

/** In one statement, so that a job which leaves the queue meanwhile is seen once. */
export async function listLog(driver: SqlDriver, query: JobQuery): Promise<readonly ListedJob[]> {
  const { where, params, bind } = conditionsOf(query);
  const last = `${NEWEST_FIRST} limit ${bind(query.limit)}`;
  const sql = `select * from (select ${JOB} from gateway_jobs where ${where} and ${standing(query)} ${last}) as waiting
    union all select * from (select ${LOGGED_JOB} from gateway_logged_jobs where ${where} ${last}) as logged
    ${last}`;
  return (await driver.all(sql, params)).map(listedJob);
}

export async function readTree(driver: SqlDriver, rootJobId: string): Promise<readonly ListedJob[]> {
  const sql = `select ${JOB}, seq from gateway_jobs where root_job_id = $1
    union all select ${LOGGED_JOB}, seq from gateway_logged_jobs where root_job_id = $1 order by seq`;
  return (await driver.all(sql, [storableText(rootJobId)])).map(listedJob);
}

/** By an index of its own: a plugin may have any number of other jobs. */
export async function readOutstandingOf(driver: SqlDriver, sourceEventId: string): Promise<readonly string[]> {
  const sql = `select id from gateway_jobs where source_event_id = $1 and parent_job_id is null and due_at is not null
    order by seq`;
  const found = await driver.all(sql, [storableEventId(sourceEventId)]);
  return found.map(({ id }) => rows.text(id));
}

export async function readAttempts(driver: SqlDriver, jobId: string): Promise<readonly JobAttempt[]> {
  const sql = `select ${ATTEMPT} from gateway_attempts where job_id = $1 order by epoch`;
  return (await driver.all(sql, [storableText(jobId)])).map(attempt);
}

type Conditions = {
  readonly where: string;
  readonly params: Scalar[];
  /** Adds a value to the parameters, and gives its placeholder. */
  bind(value: Scalar): string;
};

function conditionsOf(query: JobQuery): Conditions {
  const { plugin, command, root_job_id, submitted_by, statuses, from, to, after } = query;
  const params: Scalar[] = [];
  const bind = (value: Scalar) => `$${params.push(value)}`;
  const where = ["1 = 1"];
  for (const [column, value] of Object.entries({ plugin, command, root_job_id, submitted_by })) {
    if (value !== undefined) where.push(`${column} = ${bind(storableText(value))}`);
  }
  if (statuses) where.push(statuses.length === 0 ? "1 = 0" : `status in (${statuses.map(bind).join(", ")})`);
  if (from !== undefined) where.push(`created_at >= ${bind(from)}`);
  if (to !== undefined) where.push(`created_at <= ${bind(to)}`);
  if (after) where.push(`(created_at, id) < (${bind(after.created_at)}, ${bind(storableText(after.id))})`);
  return { where: where.join(" and "), params, bind };
}

/** A condition that follows from the statuses, so that the index on ended jobs can be used, or that on the others. */
function standing({ statuses }: JobQuery): string {
  if (!statuses) return "1 = 1";
  if (statuses.every(hasEnded)) return "due_at is null";
  return statuses.some(hasEnded) ? "1 = 1" : "due_at is not null";
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
  ...{ queued: 0, running: 0, succeeded: 0, failed: 0, timed_out: 0, dead: 0 },
};

// Each half is counted in an index of its own.
const BY_STATUS = `select status, count(*) as jobs from gateway_jobs where due_at is null group by status
  union all select status, count(*) from gateway_jobs where due_at is not null group by status`;

const IS_DUE = `due_at is not null and wake_rev >= 0 and due_at <= $1 and lease_until <= $1 and ${WAITS_FOR_NONE}`;

/** A job that waits for no time has been due since it was created. */
const OLDEST_DUE = `select min(since) as since from (
    select min(created_at) as since from gateway_jobs where due_at = ${DUE} and ${IS_DUE}
    union all select min(due_at) from gateway_jobs where due_at > ${DUE} and ${IS_DUE}
  ) as each_kind`;

export async function countJobs(driver: SqlDriver): ReturnType<JobStore["counts"]> {
  // A long read may not know a clock that a test holds.
  const [clock] = await driver.all("select now_us() as now");
  const now = rows.number(clock?.now);
  const [counted, [oldest]] = await Promise.all([driver.readLong(BY_STATUS), driver.readLong(OLDEST_DUE, [now])]);
  const byStatus = { ...none };
  for (const { status, jobs } of counted) byStatus[status as JobStatus] += rows.number(jobs);
  return { byStatus, oldest_due_us: oldest?.since == null ? null : Math.max(0, now - rows.number(oldest.since)) };
}
