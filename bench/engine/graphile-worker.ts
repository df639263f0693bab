// What both uses of graphile-worker share: how its workers run, and what it says of jobs whose worker is gone.
import { Logger, makeWorkerUtils, run, type TaskList } from "graphile-worker";
import type { Pool } from "pg";
import { WORKERS_PER_PROCESS } from "./engine.ts";

/** The sentence of the page of results; the options are those of the library's page on performance. */
export const SETTING = `${WORKERS_PER_PROCESS} concurrent jobs, a local queue of one more, completions in batches without delay`;

export async function migrate(url: string): Promise<void> {
  const utils = await makeWorkerUtils({ connectionString: url, logger: silent() });
  await utils.migrate();
  await utils.release();
}

export async function runWorkers(url: string, taskList: TaskList): Promise<{ stop(): Promise<void> }> {
  const runner = await run({
    preset: {
      worker: {
        connectionString: url,
        concurrentJobs: WORKERS_PER_PROCESS,
        maxPoolSize: WORKERS_PER_PROCESS + 2,
        localQueue: { size: WORKERS_PER_PROCESS + 1 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        logger: silent(),
      },
    },
    noHandleSignals: true,
    taskList,
  });
  return { stop: () => runner.stop() };
}

/** The library keeps a row for each queue name that it ever saw, until its task `GC_JOB_QUEUES` is run. */
export async function leaveQueues(pool: Pool, threads: readonly number[]): Promise<void> {
  const { rows } = await pool.query(
    `select array_agg(id) as jobs from graphile_worker.add_jobs(array(
       select ('step', null, 'thread-' || id, null, null, null, null, null)::graphile_worker.job_spec
       from unnest($1::integer[]) as id
     ))`,
    [threads],
  );
  await pool.query("select graphile_worker.complete_jobs($1)", [rows[0].jobs]);
}

/** Locks older than this are reset by a statement that every worker runs now and then; it is not a setting. */
export async function describeLockedJobs(pool: Pool): Promise<string> {
  const { rowCount } = await pool.query("select from graphile_worker.jobs where locked_at is not null");
  return rowCount === 0 ? "no job is left" : "locked for 4 hours";
}

/** It prints a line for every job otherwise. */
function silent(): Logger {
  return new Logger(() => () => {});
}
