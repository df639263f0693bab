// Whether every message is seen by a step, when some arrive just as a step begins or ends.
import { setTimeout as pause } from "node:timers/promises";
import type { Database, Engine } from "./engine.ts";
import { countFaults, type Faults } from "./faults.ts";
import { createThreads } from "./tables.ts";
import { startWorker } from "./worker-process.ts";

const LONGEST_STEP_MS = 4;
const LONGEST_PAUSE_MS = 6;
const SENDERS = 4;
/** Longer than any contestant polls. */
const QUIET_MS = 5_000;
const PATIENCE_MS = 40_000;

export type WakeUps = Faults & {
  readonly sent: number;
  readonly lost: number;
  /** Unseen when we stopped waiting although steps were still being made. */
  readonly isUnfinished: boolean;
};

/** A lost wake-up is made good by the next one, so each thread gets only a short burst and is then left alone. */
export type Burst = { readonly threads: number; readonly messages: number };

export async function measureWakeUps(engine: Engine, database: Database, burst: Burst): Promise<WakeUps> {
  const { pool } = database;
  const threads = await createThreads(pool, burst.threads, 0);
  const workers = await Promise.all([
    startWorker(engine, database, LONGEST_STEP_MS),
    startWorker(engine, database, LONGEST_STEP_MS),
  ]);
  const sender = await engine.openSender(database.url);

  const waiting = [...threads];
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      for (let thread = waiting.pop(); thread !== undefined; thread = waiting.pop()) {
        for (let count = 0; count < burst.messages; count++) {
          await sender.send(thread);
          await pause(Math.random() * LONGEST_PAUSE_MS);
        }
      }
    }),
  );
  const { lost, isUnfinished } = await untilQuiet(database);

  await sender.close();
  await Promise.all(workers.map((worker) => worker.stop()));
  return { sent: burst.threads * burst.messages, lost, isUnfinished, ...(await countFaults(pool)) };
}

async function untilQuiet({ pool }: Database): Promise<{ lost: number; isUnfinished: boolean }> {
  const begun = performance.now();
  let latest = { steps: -1, lost: -1 };
  let changed = begun;
  for (;;) {
    const { rows } = await pool.query(`
      select (select count(*)::integer from steps) as steps,
             (select count(*)::integer from messages where seen_by_step is null) as lost`);
    const now = performance.now();
    if (rows[0].steps !== latest.steps) changed = now;
    latest = rows[0];
    if (latest.lost === 0 || now - changed > QUIET_MS) return { lost: latest.lost, isUnfinished: false };
    if (now - begun > PATIENCE_MS) return { lost: latest.lost, isUnfinished: true };
    await pause(100);
  }
}
