// How long a thread stands still when the process that works on it is killed.
import { setTimeout as pause } from "node:timers/promises";
import type { Database, Engine } from "./engine.ts";
import { createThreads } from "./tables.ts";
import { startWorker } from "./worker-process.ts";

const AFTER_A_MESSAGE_MS = 5_000;

export type Crash =
  | { readonly outcome: "picked up"; readonly seconds: number }
  | {
      readonly outcome: "abandoned";
      readonly seconds: number;
      readonly says: string;
      /** Whether a new message to the thread got it going again. */
      readonly wakesOnMessage: boolean;
    };

export async function measureCrash(engine: Engine, database: Database, patienceMs: number): Promise<Crash> {
  const threads = await createThreads(database.pool, 1, 1);
  const doomed = await startWorker(engine, database, Number.POSITIVE_INFINITY);
  await engine.start(database, threads);
  await doomed.begun();
  const survivor = await startWorker(engine, database, 0);
  await pause(1_500); // The survivor has found nothing to do; the doomed one is in the middle of its step.

  await doomed.kill();
  const begun = performance.now();
  const isPickedUp = await stepWithin(database, patienceMs);
  const seconds = (performance.now() - begun) / 1000;
  if (isPickedUp) {
    await survivor.stop();
    return { outcome: "picked up", seconds };
  }
  const says = await engine.describeAbandoned(database.pool);
  const sender = await engine.openSender(database.url);
  await sender.send(1);
  const wakesOnMessage = await stepWithin(database, AFTER_A_MESSAGE_MS);
  await sender.close();
  await survivor.stop();
  return { outcome: "abandoned", seconds, says, wakesOnMessage };
}

async function stepWithin({ pool }: Database, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  while (performance.now() < until) {
    const { rowCount } = await pool.query("select from steps limit 1");
    if (rowCount !== 0) return true;
    await pause(10);
  }
  return false;
}
