// graphile-worker as a doorbell: one job key for each thread, and a job that runs whatever the thread's row says is due.
import pg from "pg";
import type { Engine } from "./engine.ts";
import { describeLockedJobs, leaveQueues, migrate, runWorkers, SETTING } from "./graphile-worker.ts";

/** What the library does when the key is taken: replace the waiting job, or leave everything as it is. */
type Use = {
  readonly mode: "replace" | "unsafe_dedupe";
  /** With a queue name too, the jobs of one thread never run side by side. */
  readonly hasQueue?: boolean;
  /** `replace` adds no job, and returns none, when a worker takes the waiting one between its two statements. */
  readonly asksAgain?: boolean;
};

export function graphileDoorbell({ mode, hasQueue = false, asksAgain = false }: Use): Engine {
  const words = ["graphile-worker, doorbell", mode, hasQueue ? "queue name" : "", asksAgain ? "asked again" : ""];
  const wake = "with message as (insert into messages (thread_id) values ($1)) select ring($1)";
  return {
    name: words.filter(Boolean).join(", "),
    setting: [
      `a job with a key per thread runs the thread until nothing is due; ${SETTING}`,
      ...(hasQueue ? ["a queue name per thread, so that its jobs do not run side by side"] : []),
      ...(asksAgain ? ["`add_job` is called until it returns a job"] : []),
    ].join("; "),

    prepare: async ({ url, pool }) => {
      await migrate(url);
      await pool.query(`
        create function ring(thread integer) returns void language plpgsql as $$
        declare job bigint;
        begin
          loop
            job := (graphile_worker.add_job('run', json_build_object('thread', thread),
              job_key := 'thread-' || thread, job_key_mode := '${mode}'
              ${hasQueue ? ", queue_name := 'thread-' || thread" : ""})).id;
            exit when ${asksAgain ? "job is not null" : "true"};
          end loop;
        end $$`);
    },

    leaveParked: async ({ pool }, threads) => {
      if (hasQueue) await leaveQueues(pool, threads);
    },

    start: async ({ pool }, threads) => {
      await pool.query("select ring(id) from unnest($1::integer[]) as id", [threads]);
    },

    openSender: async (url) => {
      const pool = new pg.Pool({ connectionString: url });
      return {
        send: async (thread) => {
          await pool.query({ name: "wake", text: wake, values: [thread] });
        },
        close: () => pool.end(),
      };
    },

    work: (url, runStep) =>
      runWorkers(url, {
        run: async (payload, { withPgClient }) => {
          const { thread } = payload as { thread: number };
          await withPgClient(async (client) => {
            // A refused step was made by somebody else; what is due now is seen by looking again.
            while ((await runStep(client, thread)).outcome !== "idle");
          });
        },
      }),

    describeAbandoned: describeLockedJobs,
  };
}
