// One side of a comparison in a process of its own: Holdfast that carries runs of workflows out, or the bare database that
// writes the same rows in the same commits.

import { heldClock } from "../../src/testing/held-clock.ts";
import { inFreshDatabase, type Place } from "../durable/place.ts";
import { type Recorded, Recording } from "../durable/recording.ts";
import { readyOn, type Way, writeAgain } from "../durable/write-again.ts";
import { answerOrders } from "../subject.ts";
import { type Ran, runShape, stepAround } from "./run-shape.ts";
import { rowsOf, type Shape, SLEEP_MS } from "./shapes.ts";

export type Order = {
  readonly place: Place;
  readonly shape: Shape;
  /** The bare database instead of Holdfast, in this way. */
  readonly bare?: Way;
};

export type Answer = {
  /** A step. */
  readonly microseconds: number;
  readonly processor: number;
  /** What a step takes at such a place in the run, by the number of the step; only of Holdfast. */
  readonly at: Readonly<Record<number, number>>;
};

/** It takes thousands of steps until everything is compiled; a database that does not wait for the disk is the same code. */
const WARM_UP = { of: "steps", count: 5_000 } as const;
const REMINDER = 100;
const quick: Place = { database: "sqlite", synchronous: "normal" };
const PLACES = [10, 100, 1_000, 10_000];

let isWarm = false;
const recordings = new Map<string, Recorded>();

answerOrders(async (order: Order): Promise<Answer> => {
  const { place, shape, bare } = order;
  if (!isWarm) await hold(quick, WARM_UP);
  isWarm = true;
  // Before each sample, because the compiler forgets while a subject waits for its turn.
  const reminder = { ...shape, count: Math.min(shape.count, REMINDER) };
  if (bare !== undefined) {
    await again(place, reminder, bare);
    return { ...(await again(place, shape, bare)), at: {} };
  }
  await hold(place, reminder);
  const ran = await hold(place, shape);
  const places = PLACES.filter((step) => step <= ran.stamps.length);
  const at = Object.fromEntries(places.map((step) => [step, stepAround(ran, step)]));
  return { microseconds: ran.microseconds, processor: ran.processor, at };
});

async function hold(place: Place, shape: Shape, recording?: Recording): Promise<Ran> {
  const clock = shape.of.startsWith("sleeps") ? heldClock(Date.now()) : undefined;
  const told = recording && { onStart: () => recording.start(), onDone: () => recording.stop() };
  return await inFreshDatabase(
    place,
    ({ backend }) => runShape(recording ? recording.of(backend) : backend, shape, { clock, ...told }),
    { clock },
  );
}

async function again(place: Place, shape: Shape, way: Way): Promise<Pick<Answer, "microseconds" | "processor">> {
  const rows = rowsOf(shape);
  const recorded = await recordingOf(place, shape);
  const wrote = await writeAgain(place, recorded, { way, table: "workflow_steps", rows, stepMs: SLEEP_MS });
  return { microseconds: wrote.microseconds / rows, processor: wrote.processor / rows };
}

/** What Holdfast writes for that shape: the same in each database of one kind. */
async function recordingOf(place: Place, shape: Shape): Promise<Recorded> {
  const key = `${place.database} ${JSON.stringify(shape)}`;
  const known = recordings.get(key);
  if (known) return known;
  const recording = new Recording();
  await hold(place.database === "sqlite" ? quick : place, shape, recording);
  const recorded = readyOn(place, recording.recorded);
  recordings.set(key, recorded);
  return recorded;
}
