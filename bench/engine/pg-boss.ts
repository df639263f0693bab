// pg-boss with the queue policy that runs the jobs of one key in order and one at a time: a key for each thread.
import pg, { type Pool } from "pg";
import { type ConstructorOptions, PgBoss } from "pg-boss";
import { type Engine, WORKERS_PER_PROCESS } from "./engine.ts";
import type { RunStep } from "./step.ts";

const QUEUE = "steps";

type Data = { readonly thread: number; readonly isPlanned: boolean };

/** The shortest intervals that the library takes, so that it notices a lost worker as early as it can. */
const MAINTENANCE = { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 };
const HEARTBEAT_SECONDS = 10;
const BATCH = 10;

export const pgBoss: Engine = {
  name: "pg-boss, key_strict_fifo",
  setting: `a job for each step and each wake-up, with a key per thread; ${WORKERS_PER_PROCESS} workers that fetch ${BATCH} jobs
    at a time and burst while batches are full, woken by NOTIFY; heartbeat ${HEARTBEAT_SECONDS} s, the least it takes (by default
    there is none, and a job of a dead worker expires after 15 minutes)`,

  prepare: async ({ url }) => {
    const boss = await open(url, { supervise: false });
    await boss.createQueue(QUEUE, { policy: "key_strict_fifo", notify: true, heartbeatSeconds: HEARTBEAT_SECONDS });
    await boss.stop();
  },

  /** Completed jobs stay for seven days. */
  leaveParked: async ({ url }, threads) => {
    const boss = await open(url, { supervise: false });
    await boss.insert(QUEUE, threads.map(planned));
    const jobs = await boss.fetch(QUEUE, { batchSize: threads.length });
    await boss.complete(
      QUEUE,
      jobs.map(({ id }) => id),
    );
    await boss.stop();
  },

  start: async ({ url }, threads) => {
    const boss = await open(url, { supervise: false });
    await boss.insert(QUEUE, threads.map(planned));
    await boss.stop();
  },

  openSender: async (url) => {
    const boss = await open(url, { supervise: false });
    const pool = new pg.Pool({ connectionString: url });
    return {
      send: (thread) =>
        together(pool, async (client) => {
          await client.query({
            name: "message",
            text: "insert into messages (thread_id) values ($1)",
            values: [thread],
          });
          await add(boss, client, { thread, isPlanned: false });
        }),
      close: async () => {
        await boss.stop();
        await pool.end();
      },
    };
  },

  work: async (url, runStep) => {
    const boss = await open(url, { ...MAINTENANCE, useListenNotify: true });
    const pool = new pg.Pool({ connectionString: url, max: WORKERS_PER_PROCESS });
    await boss.work<Data>(
      QUEUE,
      {
        localConcurrency: WORKERS_PER_PROCESS,
        batchSize: BATCH,
        burstWhenBatchFull: true,
        pollingIntervalSeconds: 0.5,
        notifyPollingIntervalSeconds: 0.5,
      },
      async (jobs) => {
        for (const { data } of jobs) await runJob(boss, pool, runStep, data);
      },
    );
    return {
      stop: async () => {
        await boss.stop();
        await pool.end();
      },
    };
  },

  describeAbandoned: async (pool) => {
    const { rows } = await pool.query(
      "select state, heartbeat_on, expire_seconds from pgboss.job where state = 'active'",
    );
    return rows.length === 0 ? "no job is left" : JSON.stringify(rows);
  },
};

function planned(thread: number) {
  return { data: { thread, isPlanned: true }, singletonKey: String(thread) };
}

/** The step and the job of the next one are one transaction; the library completes the batch afterwards. */
async function runJob(boss: PgBoss, pool: Pool, runStep: RunStep, { thread, isPlanned }: Data): Promise<void> {
  await runStep(pool, thread, {
    name: "in a transaction",
    around: (commit) =>
      together(pool, async (client) => {
        const step = await commit(client);
        const goesOn = isPlanned && step.outcome === "committed" && step.remaining > 0;
        if (goesOn) await add(boss, client, { thread, isPlanned });
        return step;
      }),
  });
}

async function open(url: string, options: Omit<ConstructorOptions, "connectionString">): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: url, schedule: false, ...options });
  boss.on("error", (error) => console.error(`pg-boss: ${error.message}`));
  await boss.start();
  return boss;
}

async function add(boss: PgBoss, client: pg.PoolClient, data: Data): Promise<void> {
  const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
  await boss.send(QUEUE, data, { singletonKey: String(data.thread), db });
}

async function together<T>(pool: Pool, body: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await body(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}
