// The control row: the numbers of jobs, facts and stream entries, and whether the dispatcher is paused. Each batch that locks
// it does so after the rows of jobs, plugin state, identities and trees, and a claim before all other rows: a claim waits for
// no other row, so that no two batches wait for each other.
import type { Statement } from "../../sql-driver.ts";

export type Numbers = { readonly jobs?: number; readonly facts?: number; readonly entries?: number };

/** Takes so many numbers of each kind, and the time that everything added by this batch bears. Locks the row. */
export function takeNumbers({ jobs = 0, facts = 0, entries = 0 }: Numbers): Statement {
  const sql = `insert into gateway_control (id, job_seq, fact_seq, stream_id, stamped_at) values (1, $1, $2, $3, now_us())
    on conflict (id) do update set job_seq = gateway_control.job_seq + excluded.job_seq,
      fact_seq = gateway_control.fact_seq + excluded.fact_seq,
      stream_id = gateway_control.stream_id + excluded.stream_id, stamped_at = excluded.stamped_at`;
  return { sql, params: [jobs, facts, entries] };
}

/** Locks the row. Before there ever was a job there is none, and nothing to claim either. */
export const lockControl: Statement = {
  sql: "select id from gateway_control where id = 1 /*for update*/",
  params: [],
};

export const IS_NOT_PAUSED = "exists (select 1 from gateway_control where id = 1 and pause_id is null)";
