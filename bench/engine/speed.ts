// How many steps a second two processes commit while messages keep coming in, and what each step costs the database.
import { setTimeout as pause } from "node:timers/promises";
import type { Pool } from "pg";
import type { Database, Engine } from "./engine.ts";
import { countFaults, type Faults } from "./faults.ts";
import { createThreads } from "./tables.ts";
import { startWorker } from "./worker-process.ts";

const MESSAGE_EVERY_MS = 20;
const PATIENCE_MS = 30_000;

export type Speed = Faults & {
  readonly stepsPerSecond: number;
  /** Transactions of whatever kind, reads included; unlike the time, they do not depend on who else uses the machine. */
  readonly transactionsPerStep: number;
  readonly walBytesPerStep: number;
  readonly isFinished: boolean;
};

export type Load = { readonly threads: number; readonly steps: number; readonly parked: number };

export async function measureSpeed(engine: Engine, database: Database, load: Load): Promise<Speed> {
  const { pool } = database;
  const threads = await createThreads(pool, load.threads, load.steps, load.parked);
  const workers = await Promise.all([startWorker(engine, database, 0), startWorker(engine, database, 0)]);
  const sender = await engine.openSender(database.url);
  const before = await usage(pool);

  await engine.start(database, threads);
  const patience = performance.now() + PATIENCE_MS;
  let isFinished = false;
  let looks = 0;
  while (!isFinished && performance.now() < patience) {
    await sender.send(1 + Math.floor(Math.random() * load.threads));
    await pause(MESSAGE_EVERY_MS);
    const { rowCount } = await pool.query("select from threads where remaining > 0 limit 1");
    isFinished = rowCount === 0;
    looks++;
  }
  await sender.close();
  await Promise.all(workers.map((worker) => worker.stop()));
  await pause(100); // Backends hand in their counters as they end, which is just after the workers have gone.
  const after = await usage(pool);

  const { rows } = await pool.query("select count(*)::integer as steps from steps");
  return {
    stepsPerSecond: await pace(pool, load.steps),
    transactionsPerStep: (after.transactions - before.transactions - looks) / rows[0].steps,
    walBytesPerStep: (after.wal - before.wal) / rows[0].steps,
    isFinished,
    ...(await countFaults(pool)),
  };
}

/** From the first step to the last one that was planned: how soon a contestant gets going or ends is not counted. */
async function pace(pool: Pool, planned: number): Promise<number> {
  const { rows } = await pool.query(
    `with span as (select min(begun_us) as begun, max(ended_us) filter (where step <= $1) as ended from steps)
     select count(*) / ((max(span.ended) - min(span.begun)) / 1e6) as pace
     from steps, span where ended_us <= span.ended`,
    [planned],
  );
  return rows[0].pace;
}

async function usage(pool: Pool): Promise<{ transactions: number; wal: number }> {
  const { rows } = await pool.query(`
    select (xact_commit + xact_rollback)::double precision as transactions,
           (pg_current_wal_lsn() - '0/0')::double precision as wal
    from pg_stat_database where datname = current_database()`);
  return rows[0];
}
