// Times the loops in memory against each other. Samples are interleaved, so that what else the machine does falls on all
// alike.
import { median, medianRatio, quantile } from "../median.ts";
import { startSubject } from "../subject.ts";
import type { Order } from "./contestant.ts";
import type { Loop } from "./workload.ts";

/** Microseconds per turn over the rounds. */
export type Timing = {
  readonly median: number;
  readonly fastest: number;
  /** A quarter of the rounds were quicker than the first, a quarter slower than the second. */
  readonly middleHalf: readonly [number, number];
  /** Round by round. */
  readonly rounds: readonly number[];
};

export function ratio(one: Timing, other: Timing): number {
  return medianRatio(one.rounds, other.rounds);
}

/** Looks up what a loop took at a length. */
export type Timings = (loop: Loop, turns: number) => Timing;

type Plan = {
  readonly loops: readonly Loop[];
  readonly lengths: readonly number[];
  readonly rounds: number;
  /** Rounds before those that count. */
  readonly warmUps: number;
  /** Every sample is this many turns, in as many runs as it takes. */
  readonly turnsPerSample: number;
};

/** Runs every loop at every length in every round, each in its process and never two at a time. */
export async function measure(plan: Plan): Promise<Timings> {
  const { loops, lengths, rounds, warmUps, turnsPerSample } = plan;
  const file = new URL("contestant.ts", import.meta.url);
  const contestants = loops.map((loop) => ({
    loop,
    process: startSubject<Order, number>(file, { args: [loop.name] }),
  }));
  const samples = new Map<string, number[]>();
  for (let round = -warmUps; round < rounds; round++) {
    for (const turns of lengths) {
      for (const { loop, process } of contestants) {
        const took = await process.ask({ turns, runs: Math.ceil(turnsPerSample / turns) });
        if (round >= 0) samples.set(key(loop, turns), [...(samples.get(key(loop, turns)) ?? []), took]);
      }
    }
  }
  for (const { process } of contestants) await process.end();
  return (loop, turns) => timing(samples.get(key(loop, turns)) ?? []);
}

function key({ name }: Loop, turns: number): string {
  return `${name} × ${turns}`;
}

function timing(rounds: readonly number[]): Timing {
  const at = (share: number) => quantile(rounds, share);
  return { median: median(rounds), fastest: at(0), middleHalf: [at(0.25), at(0.75)], rounds };
}
