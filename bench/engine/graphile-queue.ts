// graphile-worker with a queue name for each thread: a queue runs its jobs one after another, and each step is a job.
import pg from "pg";
import type { Engine } from "./engine.ts";
import { describeLockedJobs, leaveQueues, migrate, runWorkers, SETTING } from "./graphile-worker.ts";
import type { Extra } from "./step.ts";

const ADD = `graphile_worker.add_job('step', json_build_object('thread', $1::integer), queue_name := 'thread-' || $1)`;

/** A wake-up adds a job that runs a step of its own; only the jobs of the plan are followed by another. */
const WAKE = `
  with message as (insert into messages (thread_id) values ($1))
  select graphile_worker.add_job('wake', json_build_object('thread', $1::integer), queue_name := 'thread-' || $1)`;

const followed: Extra = { name: "and add the next job", next: `(${ADD}).id` };

export const graphileQueue: Engine = {
  name: "graphile-worker, queue name",
  setting: `a job for each step and each wake-up, in a queue per thread; ${SETTING}`,
  prepare: ({ url }) => migrate(url),
  leaveParked: ({ pool }, threads) => leaveQueues(pool, threads),

  start: async ({ pool }, threads) => {
    await pool.query(
      `select graphile_worker.add_job('step', json_build_object('thread', id), queue_name := 'thread-' || id)
       from unnest($1::integer[]) as id`,
      [threads],
    );
  },

  openSender: async (url) => {
    const pool = new pg.Pool({ connectionString: url });
    return {
      send: async (thread) => {
        await pool.query({ name: "wake", text: WAKE, values: [thread] });
      },
      close: () => pool.end(),
    };
  },

  work: (url, runStep) =>
    runWorkers(url, {
      step: async (payload, { withPgClient }) => {
        await withPgClient((client) => runStep(client, threadOf(payload), followed));
      },
      wake: async (payload, { withPgClient }) => {
        await withPgClient((client) => runStep(client, threadOf(payload)));
      },
    }),

  describeAbandoned: describeLockedJobs,
};

function threadOf(payload: unknown): number {
  return (payload as { thread: number }).thread;
}
