// Cancelling a job. One that is queued ends here, with what its end causes; one that runs is ended by its worker.
import type { JobStatus } from "../../../contracts/gateway/job.ts";
import type { SqlDriver, Statement } from "../../sql-driver.ts";
import * as rows from "../rows.ts";
import { storableText } from "../storable-text.ts";
import { type Addition, additionStatements, type Duplicate, type Guarded, treeStatements } from "./add-jobs.ts";
import { settleIdentity } from "./dedupe.ts";

type Standing = {
  readonly id: string;
  readonly status: JobStatus;
  readonly epoch: number;
  readonly root_job_id: string;
  readonly dedupe_hash: string | null;
};

export async function findStanding(driver: SqlDriver, id: string): Promise<Standing | undefined> {
  const sql = "select id, status, epoch, root_job_id, dedupe_hash from gateway_jobs where id = $1";
  const [row] = await driver.all(sql, [storableText(id)]);
  return (
    row && {
      id: rows.text(row.id),
      status: row.status as JobStatus,
      epoch: rows.number(row.epoch),
      root_job_id: rows.text(row.root_job_id),
      dedupe_hash: rows.optionalText(row.dedupe_hash),
    }
  );
}

/** Refused as `changed` when the job is not queued any more, or was executed since. */
export function endQueued(
  { id, epoch, root_job_id, dedupe_hash: hash }: Standing,
  by: string,
  addition: Addition,
): readonly Guarded<Duplicate | "changed">[] {
  const end = `update gateway_jobs set status = 'dead', reason = 'cancelled', cancel_requested_by = $3, due_at = null,
      completed_at = now_us()
    where id = $1 and status = 'queued' and epoch = $2`;
  // Behind what is added to the tree, which otherwise would have ended in between.
  const leave = `update gateway_trees set outstanding = outstanding - 1,
      ended_at = case when outstanding = 1 then now_us() end
    where root_job_id = $1`;
  return additionStatements<"changed">(addition, {
    guards: [{ statement: { sql: end, params: [id, epoch, storableText(by)], expect: 1 }, refusal: "changed" }],
    identity: hash === null ? undefined : { hash, statements: settleIdentity(hash, id, "dead") },
    trees: [...treeStatements(addition.jobs), { sql: leave, params: [root_job_id] }].map((statement) => ({
      statement,
    })),
    log: [logCancelled(id)],
    signals: addition.jobs.length > 0,
  });
}

/** Under the epoch of a claim that will never be. */
function logCancelled(id: string): Statement {
  const sql = `insert into gateway_attempts (job_id, epoch, attempt, status, outcome, reason, ended_at)
    select id, epoch + 1, attempt, status, 'cancelled', reason, completed_at from gateway_jobs where id = $1`;
  return { sql, params: [id] };
}

/** The first caller who asks is remembered. The worker is told at once, and need not wait for its next renewal. */
export function requestCancel(id: string, by: string): readonly Statement[] {
  const sql = `update gateway_jobs set cancel_requested_by = coalesce(cancel_requested_by, $2)
    where id = $1 and status = 'running'`;
  return [
    { sql, params: [id, storableText(by)], expect: 1 },
    { sql: "select signal($1)", params: [id] },
  ];
}
