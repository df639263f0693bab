// What is written of runs of workflows, statement by statement. Nothing is written for a run that is gone.
import type { Scalar, Statement } from "../sql-driver.ts";
import type { NewWorkflowRun } from "../workflow-store.ts";
import type { Write } from "../write.ts";

/** Behind its row in the table of threads, whose time of creation it has. */
export function insertWorkflowRun(run: NewWorkflowRun): readonly Statement[] {
  const { run_id, workflow_id, spec_hash, body, payload_hash, rerun_of, tags } = run;
  const sql = `insert into workflow_runs (run_id, workflow_id, spec_hash, status, body, payload_hash, created_at, rerun_of,
      has_problem)
    select id, $2, $3, 'pending', $4, $5, created_at, $6, 0 from threads where id = $1 and kind = 'workflow'
    on conflict do nothing`;
  return [{ sql, params: [run_id, workflow_id, spec_hash, body, payload_hash, rerun_of] }, ...tags.map(insertTag)];

  function insertTag(tag: string): Statement {
    const found = "select run_id, $2 from workflow_runs where run_id = $1";
    return {
      sql: `insert into workflow_run_tags (run_id, tag) ${found} on conflict do nothing`,
      params: [run_id, tag],
    };
  }
}

/** A run that has ended stays as it is unless it is reopened: what is late must not bring it back. */
export function changeWorkflowStatus(write: Extract<Write, { write: "workflow_status" }>): Statement {
  const { run_id, status, reason, started, ended, has_problem, reopened } = write;
  const sql = `update workflow_runs set status = $2, reason = $3,
      started_at = case when $4 = 1 then coalesce(started_at, now_us()) else started_at end,
      ended_at = case when $5 = 1 then now_us() end,
      has_problem = case when $6 = 1 then 1 when $7 = 1 then 0 else has_problem end
    where run_id = $1 and (ended_at is null or $7 = 1)`;
  return { sql, params: [run_id, status, reason, ...[started, ended, has_problem, reopened].map(flag)] };
}

/** What is not given stays as it is. */
export function keepWorkflowStep(write: Extract<Write, { write: "workflow_step" }>): Statement {
  const { run_id, parent, position, opened, outcome, status, undo_order } = write;
  const sql = `insert into workflow_steps (run_id, parent, position, status, opened, outcome, undo_order)
    select id, $2, $3, $4, $5, $6, cast($7 as bigint) from threads where id = $1
    on conflict (run_id, parent, position) do update set status = excluded.status,
      opened = coalesce(excluded.opened, workflow_steps.opened),
      outcome = case when $8 = 1 then excluded.outcome else workflow_steps.outcome end,
      undo_order = case when $9 = 1 then excluded.undo_order else workflow_steps.undo_order end`;
  const values: readonly Scalar[] = [status, opened ?? null, outcome ?? null, undo_order ?? null];
  const given = [outcome, undo_order].map((value) => flag(value !== undefined));
  return { sql, params: [run_id, parent, position, ...values, ...given] };
}

export function removeWorkflowStep({
  run_id,
  parent,
  position,
}: Extract<Write, { write: "workflow_step_gone" }>): Statement {
  const sql = "delete from workflow_steps where run_id = $1 and parent = $2 and position = $3";
  return { sql, params: [run_id, parent, position] };
}

function flag(value: boolean | undefined): number {
  return value === true ? 1 : 0;
}
