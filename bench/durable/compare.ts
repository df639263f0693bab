// Holdfast beside the bare database, in turns: what a turn costs each of them, and how many times as much that is.
import { median, medianRatio } from "../median.ts";
import { type Subject, startSubject } from "../subject.ts";
import type { Answer, Order } from "./contestant.ts";
import type { Place } from "./place.ts";
import type { Way } from "./write-again.ts";

/** Microseconds a turn, and times the bare database. */
export type Compared = {
  readonly turns: number;
  readonly rounds: number;
  readonly holdfast: number;
  /** By the way in which the bare database wrote. */
  readonly bare: Readonly<Partial<Record<Way, { readonly microseconds: number; readonly ratio: number }>>>;
  /** A turn of the second hundred, of the last, and how much longer that took, round by round. */
  readonly early: number;
  readonly late: number;
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

type Plan = { readonly place: Place; readonly turns: number; readonly rounds: number; readonly ways: readonly Way[] };

export async function compare(
  { holdfast, bare }: Contestants,
  { place, turns, rounds, ways }: Plan,
): Promise<Compared> {
  const ours: Answer[] = [];
  const theirs = new Map<Way, number[]>(ways.map((way) => [way, []]));
  for (let round = 0; round < rounds; round++) {
    ours.push(await holdfast.ask({ place, turns }));
    for (const way of ways) theirs.get(way)?.push((await bare.ask({ place, turns, bare: way })).microseconds);
  }
  const took = ours.map(({ microseconds }) => microseconds);
  const early = ours.map((answer) => answer.early);
  const late = ours.map((answer) => answer.late);
  return {
    turns,
    rounds,
    holdfast: median(took),
    bare: Object.fromEntries(
      [...theirs].map(([way, samples]) => [way, { microseconds: median(samples), ratio: medianRatio(took, samples) }]),
    ),
    early: median(early),
    late: median(late),
    growth: medianRatio(late, early),
  };
}
