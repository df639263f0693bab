// One side of a comparison in a process of its own: Holdfast that runs a thread, or the bare database that writes the same
// rows in the same commits.
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { query } from "../../test/postgres.ts";
import { answerOrders } from "../subject.ts";
import { writeBarePostgres } from "./bare-postgres.ts";
import { writeBareSqlite } from "./bare-sqlite.ts";
import { compacted } from "./null-agent.ts";
import { openRuntime } from "./open-runtime.ts";
import { inFreshDatabase, type Place } from "./place.ts";
import { type Recorded, Recording } from "./recording.ts";
import { runThread, turnUpTo } from "./run-thread.ts";

/**
 * How the bare database writes: PostgreSQL one statement after another, or all of a batch at once; SQLite one batch after
 * another, or each after a pause in which the processor does something else.
 */
export type Way = "one by one" | "at once" | "after a pause";

export type Order = {
  readonly place: Place;
  readonly turns: number;
  /** The bare database instead of Holdfast, in this way. */
  readonly bare?: Way;
  readonly isCompacted?: boolean;
};

export type Answer = {
  /** A turn. */
  readonly microseconds: number;
  /** A turn of the second hundred, and of the last; only of Holdfast. */
  readonly early: number;
  readonly late: number;
};

/** It takes thousands of turns until everything is compiled; a database that does not wait for the disk is the same code. */
const WARM_UP_TURNS = 3_000;
/** Before each sample, because the compiler forgets while a subject waits for its turn. */
const REMINDER_TURNS = 100;
const quick: Place = { database: "sqlite", synchronous: "normal" };

let isWarm = false;
const recordings = new Map<string, Recorded>();

answerOrders(async (order: Order): Promise<Answer> => {
  if (!isWarm) await hold({ ...order, place: quick, turns: WARM_UP_TURNS });
  isWarm = true;
  if (order.bare === undefined) {
    await hold({ ...order, turns: REMINDER_TURNS });
    return await hold(order);
  }
  const way = order.bare;
  await bare({ ...order, turns: REMINDER_TURNS }, way);
  return { microseconds: await bare(order, way), early: Number.NaN, late: Number.NaN };
});

async function hold({ place, turns, isCompacted }: Order): Promise<Answer> {
  return await inFreshDatabase(place, async ({ backend }) => {
    const ran = await runThread(backend, turns, isCompacted ? { definition: compacted } : {});
    return { microseconds: ran.microseconds, early: turnUpTo(ran, 200), late: turnUpTo(ran, turns) };
  });
}

async function bare({ place, turns }: Order, way: Way): Promise<number> {
  const recorded = await recordingOf(place, turns);
  const milliseconds = await inFreshDatabase(place, async ({ backend, path, schema }) => {
    if (place.database === "sqlite") {
      const took = writeBareSqlite(path, recorded, { ...place, pauses: way === "after a pause" });
      const database = new DatabaseSync(path);
      checkMessages(database.prepare("select count(*) as messages from messages").get(), turns);
      database.close();
      return took;
    }
    // Makes the tables.
    await (await openRuntime(backend, [], { runs: false })).close();
    const took = await writeBarePostgres({ url: place.url, schema }, recorded, way === "at once" ? way : "one by one");
    const [row] = await query(place.url, `select count(*) as messages from "${schema}".messages`);
    checkMessages(row, turns);
    return took;
  });
  return (milliseconds * 1000) / turns;
}

function checkMessages(row: Record<string, unknown> | undefined, turns: number): void {
  assert.equal(Number(row?.messages), 2 * turns + 2, "the bare database did not write the rows of all turns");
}

/** What Holdfast writes for so many turns; a thread on each database writes the same, so the first one will do. */
async function recordingOf(place: Place, turns: number): Promise<Recorded> {
  const key = `${place.database} ${turns}`;
  const known = recordings.get(key);
  if (known) return known;
  const recording = new Recording();
  await inFreshDatabase(place.database === "sqlite" ? quick : place, ({ backend }) =>
    runThread(recording.of(backend), turns, { onSend: () => recording.start(), onDone: () => recording.stop() }),
  );
  const { before, batches } = recording.recorded;
  // On PostgreSQL the tables are made by Holdfast itself: they come with functions.
  const isOfTables = (sql: string) => /^\s*create |\bmeta\b/.test(sql);
  const ready =
    place.database === "sqlite" ? before : before.filter((batch) => !batch.some(({ sql }) => isOfTables(sql)));
  const recorded = { before: ready, batches };
  recordings.set(key, recorded);
  return recorded;
}
