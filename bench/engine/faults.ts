// What must not happen, counted in the tables after the workers have stopped.
import type { Pool } from "pg";

export type Faults = {
  /** Steps that were worked on a second time, and whose commit was refused. */
  readonly refused: number;
  /** Pairs of steps of one thread that were worked on at the same time. */
  readonly overlapping: number;
};

export async function countFaults(pool: Pool): Promise<Faults> {
  const { rows } = await pool.query(`
    with spans as (
      select thread_id, begun_us, ended_us from steps union all select thread_id, begun_us, ended_us from refused
    ), ordered as (
      select begun_us < max(ended_us) over (
        partition by thread_id order by begun_us rows between unbounded preceding and 1 preceding
      ) as begins_early from spans
    )
    select (select count(*)::integer from refused) as refused,
           (select count(*)::integer from ordered where begins_early) as overlapping`);
  return rows[0];
}
