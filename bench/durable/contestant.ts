// One side of a comparison in a process of its own: Holdfast that runs a thread, or the bare database that writes the same
// rows in the same commits.
import { answerOrders } from "../subject.ts";
import { compacted } from "./null-agent.ts";
import { inFreshDatabase, type Place } from "./place.ts";
import { type Recorded, Recording } from "./recording.ts";
import { runThread, turnUpTo } from "./run-thread.ts";
import { readyOn, type Way, writeAgain } from "./write-again.ts";

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
  const { microseconds } = await writeAgain(place, recorded, { way, table: "messages", rows: 2 * turns + 2 });
  return microseconds / turns;
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
  const recorded = readyOn(place, recording.recorded);
  recordings.set(key, recorded);
  return recorded;
}
