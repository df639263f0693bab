// Runs of workflows beside the bare database, in turns: what a step costs each of them, and how many times as much that is.
import type { Place } from "../durable/place.ts";
import type { Way } from "../durable/write-again.ts";
import { median, medianRatio } from "../median.ts";
import { type Subject, startSubject } from "../subject.ts";
import type { Answer, Order } from "./contestant.ts";
import type { Shape } from "./shapes.ts";

export type Compared = {
  readonly place: Place;
  readonly shape: Shape;
  /** Microseconds a step. */
  readonly holdfast: number;
  readonly bare: number;
  /** Times the bare database, round by round. */
  readonly ratio: number;
  /** The same, of what the processor had to do in the process. */
  readonly processorRatio: number;
  /** Microseconds of a step at that place of the run. */
  readonly at: Readonly<Record<number, number>>;
  /** How many times as long as the tenth step the last of those places took. */
  readonly growth: number;
};

export type Contestants = { readonly holdfast: Subject<Order, Answer>; readonly bare: Subject<Order, Answer> };

export async function withContestants<Result>(work: (contestants: Contestants) => Promise<Result>): Promise<Result> {
  const file = new URL("contestant.ts", import.meta.url);
  const contestants = { holdfast: startSubject<Order, Answer>(file), bare: startSubject<Order, Answer>(file) };
  try {
    return await work(contestants);
  } finally {
    await Promise.all([contestants.holdfast.end(), contestants.bare.end()]);
  }
}

export type Plan = { readonly place: Place; readonly shape: Shape; readonly rounds: number; readonly bare: Way };

export async function compare({ holdfast, bare }: Contestants, plan: Plan): Promise<Compared> {
  const { place, shape, rounds, bare: way } = plan;
  const ours: Answer[] = [];
  const theirs: Answer[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await holdfast.ask({ place, shape }));
    theirs.push(await bare.ask({ place, shape, bare: way }));
  }
  const [first] = ours;
  const places = Object.keys(first?.at ?? {}).map(Number);
  const samplesAt = (step: number) => ours.map(({ at }) => at[step] ?? Number.NaN);
  const time = ({ microseconds }: Answer) => microseconds;
  const work = ({ processor }: Answer) => processor;
  return {
    ...{ place, shape },
    holdfast: median(ours.map(time)),
    bare: median(theirs.map(time)),
    ratio: medianRatio(ours.map(time), theirs.map(time)),
    processorRatio: medianRatio(ours.map(work), theirs.map(work)),
    at: Object.fromEntries(places.map((step) => [step, median(samplesAt(step))])),
    growth: medianRatio(samplesAt(Math.max(...places)), samplesAt(Math.min(...places))),
  };
}
