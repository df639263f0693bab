// One commit of a job, statement by statement. The first one is the guard: it changes the job only while the lease is still the
// worker's, so that a worker that has lost it can write nothing.
import type { JobCommit, NewJob, StateWrite } from "../../gateway/job-store.ts";
import type { Statement } from "../../sql-driver.ts";
import { UNLEASED } from "../leased-table.ts";
import { additionStatements, type Duplicate, type Guarded, treeStatements } from "./add-jobs.ts";
import { settleIdentity } from "./dedupe.ts";
import { DUE } from "./job-rows.ts";
import { writeState } from "./plugin-state.ts";

export type CommitRefusal = "lease_lost" | "state_changed" | "tree_too_large";

/** `isShared`: other processes have to learn of work that becomes due. */
export function commitStatements(commit: JobCommit, isShared: boolean): readonly Guarded<CommitRefusal | Duplicate>[] {
  const { job, settlement, children, contexts, stream, state } = commit;
  const isDue = children.length > 0 || (settlement.status === "queued" && settlement.retry_after_us === 0);
  const hash = job.dedupe_hash;
  return additionStatements<CommitRefusal>(
    { jobs: children, contexts, stream },
    {
      guards: [
        { statement: settle(commit), refusal: "lease_lost" },
        ...(state ? [{ statement: writeState(state), refusal: "state_changed" } as const] : []),
      ],
      identity: hash === null ? undefined : { hash, statements: settleIdentity(hash, job.id, settlement.status) },
      trees: countInTrees(commit),
      log: [insertAttempt(commit)],
      facts: state ? insertFacts(state, job.id) : [],
      signals: isShared && isDue,
    },
  );
}

function settle({ job, worker, settlement }: JobCommit): Statement {
  const { status, reason, sealed_error } = settlement;
  const params = [job.id, worker, job.epoch, status, reason, sealed_error];
  const next = `status = $4, reason = $5, sealed_error = $6, ${UNLEASED}, claims = 0, claim_id = null, lost_start = null`;
  const mine = "where id = $1 and lease_by = $2 and epoch = $3";
  if (settlement.status === "queued") {
    // At once when it is to be cancelled, so that its worker gets to end it.
    const due = `case when cancel_requested_by is null and cast($7 as bigint) > 0 then now_us() + $7 else ${DUE} end`;
    const sql = `update gateway_jobs set ${next}, attempt = attempt + 1, due_at = ${due} ${mine}`;
    return { sql, params: [...params, settlement.retry_after_us], expect: 1 };
  }
  const sql = `update gateway_jobs set ${next}, due_at = null, completed_at = now_us() ${mine}`;
  return { sql, params, expect: 1 };
}

function insertFacts({ plugin, facts = [] }: StateWrite, jobId: string): readonly Statement[] {
  const sql = `insert into gateway_facts (seq, plugin, fact_type, command, job_id, sealed_value, created_at, user_id)
    select fact_seq - $6, $1, $2, $3, $4, $5, stamped_at, (select user_id from gateway_jobs where gateway_jobs.id = $4)
    from gateway_control where id = 1`;
  return facts.map(({ fact_type, command, sealed_value }, index) => ({
    sql,
    params: [plugin, fact_type, command, jobId, sealed_value, facts.length - 1 - index],
  }));
}

/** Counted as they come, because counting the jobs of a tree would take longer the larger it is. */
function countInTrees(commit: JobCommit): readonly Guarded<CommitRefusal>[] {
  const { job, settlement, children, exempt, max_tree_jobs } = commit;
  const isOwn = ({ root_job_id }: NewJob) => root_job_id === job.root_job_id;
  const own = children.filter(isOwn);
  const others = treeStatements(children.filter((child) => !isOwn(child))).map((statement) => ({ statement }));
  const counted = own.filter(({ id }) => !exempt.includes(id)).length;
  const outstanding = own.length - (settlement.status === "queued" ? 0 : 1);
  if (counted === 0 && outstanding === 0) return others;
  const sql = `update gateway_trees set jobs = jobs + $2, outstanding = outstanding + $3,
      ended_at = case when outstanding + $3 = 0 then now_us() end
    where root_job_id = $1 and ($2 = 0 or jobs + $2 <= $4)`;
  const statement = { sql, params: [job.root_job_id, counted, outstanding, max_tree_jobs], expect: 1 };
  return [{ statement, refusal: "tree_too_large" }, ...others];
}

function insertAttempt({ job, attempt }: JobCommit): Statement {
  const sql = `insert into gateway_attempts (job_id, epoch, attempt, status, outcome, reason, exit_code, started_at, ended_at,
      sealed_response, sealed_stderr, sealed_error)
    select id, epoch, $2, status, $3, $4, cast($5 as integer), $6, now_us(), $7, $8, $9
    from gateway_jobs where id = $1`;
  const { outcome, reason, exit_code, started_at, sealed_response, sealed_stderr, sealed_error } = attempt;
  const result = [sealed_response, sealed_stderr, sealed_error];
  return { sql, params: [job.id, attempt.attempt, outcome, reason, exit_code, started_at, ...result] };
}
