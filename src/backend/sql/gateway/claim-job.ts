// Claiming a job: the next one in order whose plugin has room, within the limits of the whole installation.
import { SWITCH_PLUGIN } from "../../../contracts/gateway/job.ts";
import type { JobClaim } from "../../gateway/job-store.ts";
import type { Statement } from "../../sql-driver.ts";
import type { Bind, LeasedTable } from "../leased-table.ts";
import * as leased from "../leased-table.ts";
import { IS_NOT_PAUSED, lockControl } from "./control-row.ts";
import { CLAIMED, DUE } from "./job-rows.ts";

/**
 * A job that is claimed while it is `running` is an orphan; `lost_start` is when the execution began that was lost. One that a
 * worker has given up waits for no time any more: its retry was due already, whatever the clock says now.
 */
export const GATEWAY_JOBS: LeasedTable = {
  name: "gateway_jobs",
  order: "seq",
  renewed: ["cancel_requested_by"],
  atOnce: String(DUE),
  canBeStuck: false,
  sets: {
    claim: `status = 'running', attempt = case when status = 'running' then attempt + 1 else attempt end,
      lost_start = case when status = 'running' then started_at end, started_at = now_us(), claim_id = null`,
    putBack: "status = 'queued', started_at = null",
    free: `due_at = ${DUE}`,
  },
};

/** Where the claimed job is among the rows that the batch returns. */
export const CLAIMED_AT = 3;

/**
 * `claimId` is that of one call: repeated, because its answer was lost, it claims no second job. A job counts as leased until
 * its lease was ended, also when it has run out: the first statement behind the lock ends those that have, except where another
 * batch is just about to renew or to commit.
 */
export function claimStatements(claim: JobClaim, claimId: string): readonly Statement[] {
  const { worker, lease_us, except = [] } = claim;
  return [
    lockControl,
    leased.freeExpired(GATEWAY_JOBS, { except, condition: () => IS_RUNNING }),
    leased.claim(GATEWAY_JOBS, {
      worker,
      lease_us,
      limit: 1,
      except,
      condition: (bind) => isNext(claim, claimId, bind),
    }),
    markClaimed(worker, claimId),
    logOrphan(worker, claimId),
    ...sayIsStarted(worker, claimId),
  ];
}

/** Which one it is, and whether there is room. */
function isNext(claim: JobClaim, claimId: string, bind: Bind): string {
  const { worker, max_workers, except = [], except_plugins = [] } = claim;
  const here = except_plugins.length > 0 ? ` and plugin not in (${bind(...except_plugins)})` : "";
  const others = except.length > 0 ? ` and id not in (${bind(...except)})` : "";
  return `${IS_NOT_PAUSED}
    and (select count(*) from gateway_jobs as held where ${IS_HELD}) < ${bind(max_workers)}
    and not exists (
      select 1 from gateway_jobs as own where own.lease_by = ${bind(worker)} and own.claim_id = ${bind(claimId)}
    )
    and seq = (
      with recursive waiting (plugin) as (
        select min(plugin) from gateway_jobs where due_at is not null
        union all
        select (
          select plugin from gateway_jobs where due_at is not null and plugin > waiting.plugin
          order by plugin limit 1
        ) from waiting where plugin is not null
      )
      select min(first.seq) from (
        select (
          select seq from gateway_jobs where plugin = waiting.plugin and ${IS_CLAIMABLE}${others}
          order by seq limit 1
        ) as seq from waiting where plugin is not null and plugin not in (${fullPlugins(claim, bind)})${here}
      ) as first
    )`;
}

/** Holds for every job that is leased, and names the index that PostgreSQL has of those. */
const IS_RUNNING = "status = 'running'";
const IS_HELD = `held.${IS_RUNNING} and held.lease_by is not null`;

/** True of a job whose pipeline instance is done, or that waits for none. */
export const WAITS_FOR_NONE = `(waits_for_instance is null or not exists (
    select 1 from gateway_jobs as other where other.root_job_id = gateway_jobs.root_job_id
      and other.instance_id = gateway_jobs.waits_for_instance and other.due_at is not null
      and coalesce(other.waits_for_instance, '') <> gateway_jobs.waits_for_instance
  ))`;

/** One whose twin is leased, or whose pipeline instance is not done, lets those behind it pass. */
const IS_CLAIMABLE = `due_at <= (select now_us()) and lease_until <= (select now_us())
  and (dedupe_hash is null or dedupe_hash not in (
    select held.dedupe_hash from gateway_jobs as held where ${IS_HELD} and held.dedupe_hash is not null
  ))
  and ${WAITS_FOR_NONE}`;

function fullPlugins({ parallelism }: JobClaim, bind: Bind): string {
  const limits = Object.entries(parallelism).filter(([, limit]) => limit !== 1);
  const cases = limits.map(([plugin, limit]) => `when ${bind(plugin)} then ${bind(limit)}`).join(" ");
  const limit = cases === "" ? "1" : `case held.plugin ${cases} else 1 end`;
  return `select held.plugin from gateway_jobs as held where ${IS_HELD}
    group by held.plugin having count(*) >= ${limit}`;
}

/** Returns the job that this call has claimed, with everything that its worker needs. */
function markClaimed(worker: string, claimId: string): Statement {
  const sql = `update gateway_jobs set claim_id = $2 where lease_by = $1 and (claim_id is null or claim_id = $2)
    returning ${CLAIMED}`;
  return { sql, params: [worker, claimId] };
}

/** The job that a call has claimed whose answer was lost. */
export function findClaimed(worker: string, claimId: string): Statement {
  const sql = `select ${CLAIMED} from gateway_jobs where lease_by = $1 and claim_id = $2`;
  return { sql, params: [worker, claimId] };
}

/** The claim adds it to the event stream itself, except for the jobs that the gateway runs without a plugin. */
function sayIsStarted(worker: string, claimId: string): readonly Statement[] {
  const claimed = "lease_by = $1 and claim_id = $2 and plugin <> $3";
  const params = [worker, claimId, SWITCH_PLUGIN];
  const fields = ["job_id", "plugin", "command", "pipeline", "step_id"]
    .map((name) => `'"${name}":' || coalesce(json_quote(${name === "job_id" ? "id" : name}), 'null')`)
    .join(" || ',' || ");
  return [
    {
      sql: `update gateway_control set stream_id = stream_id + 1, stamped_at = now_us()
        where id = 1 and exists (select 1 from gateway_jobs where ${claimed})`,
      params,
    },
    {
      sql: `insert into gateway_events (id, type, data, job_id, user_id, at)
        select (select stream_id from gateway_control where id = 1), 'job.started',
          '{' || ${fields} || ',"attempt":' || attempt || '}', id, user_id,
          (select stamped_at from gateway_control where id = 1)
        from gateway_jobs where ${claimed}`,
      params,
    },
  ];
}

/** The execution that was lost gets its entry in the log. */
function logOrphan(worker: string, claimId: string): Statement {
  const sql = `insert into gateway_attempts (job_id, epoch, attempt, status, outcome, reason, started_at, ended_at)
    select id, epoch - 1, attempt - 1, 'queued', 'orphaned', 'orphaned', lost_start, started_at
    from gateway_jobs where lease_by = $1 and claim_id = $2 and lost_start is not null
    on conflict do nothing`;
  return { sql, params: [worker, claimId] };
}
