// Many threads at a time in a process of its own: by Holdfast, or their rows by the bare database.
import assert from "node:assert/strict";
import type { Backend } from "../../src/backend/sql-driver.ts";
import { answerOrders } from "../subject.ts";
import { writeBareSqlite } from "./bare-sqlite.ts";
import { AGENT, nullAgent } from "./null-agent.ts";
import { openRuntime } from "./open-runtime.ts";
import { inFreshDatabase, type Place } from "./place.ts";
import { type Recorded, Recording } from "./recording.ts";

export type Order = {
  readonly place: Place;
  readonly threads: number;
  readonly turns: number;
  readonly concurrency: number;
  /** The bare SQLite instead, with so many batches in a commit. */
  readonly bareGroup?: number;
};

const quick: Place = { database: "sqlite", synchronous: "normal" };
const WARM_UP: Order = { place: quick, threads: 64, turns: 50, concurrency: 64 };

let isWarm = false;
let recording: { readonly key: string; readonly recorded: Recorded } | undefined;

/** Turns a second. */
answerOrders(async (order: Order): Promise<number> => {
  if (!isWarm) await hold(WARM_UP);
  isWarm = true;
  const milliseconds = order.bareGroup === undefined ? await hold(order) : await bare(order, order.bareGroup);
  return (order.threads * order.turns * 1000) / milliseconds;
});

async function hold(order: Order): Promise<number> {
  return await inFreshDatabase(order.place, ({ backend }) => run(backend, order));
}

async function bare(order: Order, group: number): Promise<number> {
  const key = `${order.threads} × ${order.turns}`;
  if (recording?.key !== key) {
    const made = new Recording();
    await inFreshDatabase(quick, ({ backend }) => run(made.of(backend), order, made));
    recording = { key, recorded: made.recorded };
  }
  const { recorded } = recording;
  const { place } = order;
  if (place.database !== "sqlite") throw new Error("Group commits are those of SQLite.");
  return await inFreshDatabase(
    place,
    async ({ path }) => writeBareSqlite(path, recorded, { synchronous: place.synchronous, group }).milliseconds,
  );
}

/** Milliseconds from the first message to the last outcome; the threads are there before. */
async function run(backend: Backend, { threads, turns, concurrency }: Order, made?: Recording): Promise<number> {
  const holdfast = await openRuntime(backend, [nullAgent(turns)], { concurrency });
  try {
    const opened = await Promise.all(
      Array.from({ length: threads }, (_, index) => holdfast.threads.open(`bench-${index}`, { agent: AGENT })),
    );
    made?.start();
    const start = performance.now();
    const outcomes = await Promise.all(opened.map((thread) => thread.send("go")));
    const milliseconds = performance.now() - start;
    made?.stop();
    assert.ok(outcomes.every(({ status }) => status === "completed"));
    return milliseconds;
  } finally {
    await holdfast.close();
  }
}
