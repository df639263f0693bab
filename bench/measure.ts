// Times subjects against each other. Samples are interleaved, so that what else the machine does falls on all alike.
import { fork } from "node:child_process";
import { once } from "node:events";
import type { Order } from "./contestant.ts";
import type { Subject } from "./workload.ts";

/** Microseconds per turn over the rounds. */
export type Timing = {
  readonly median: number;
  readonly fastest: number;
  /** A quarter of the rounds were quicker than the first, a quarter slower than the second. */
  readonly middleHalf: readonly [number, number];
  /** Round by round. */
  readonly rounds: readonly number[];
};

/**
 * How many times as long the one took as the other: round by round, because the two samples of a round are taken close
 * together, and of these ratios the median.
 */
export function ratio(one: Timing, other: Timing): number {
  return median(one.rounds.map((took, round) => took / (other.rounds[round] ?? Number.NaN)));
}

/** Looks up what a subject took at a length. */
export type Timings = (subject: Subject, turns: number) => Timing;

type Plan = {
  readonly subjects: readonly Subject[];
  readonly lengths: readonly number[];
  readonly rounds: number;
  /** Rounds before those that count. */
  readonly warmUps: number;
  /** Every sample is this many turns, in as many runs as it takes. */
  readonly turnsPerSample: number;
};

/** Runs every subject at every length in every round, each subject in its process and never two at a time. */
export async function measure(plan: Plan): Promise<Timings> {
  const { subjects, lengths, rounds, warmUps, turnsPerSample } = plan;
  const contestants = new Map(subjects.map((subject) => [subject, contestant(subject)]));
  const samples = new Map<string, number[]>();
  for (let round = -warmUps; round < rounds; round++) {
    for (const turns of lengths) {
      for (const [subject, { ask }] of contestants) {
        const took = await ask({ turns, runs: Math.ceil(turnsPerSample / turns) });
        if (round >= 0) samples.set(key(subject, turns), [...(samples.get(key(subject, turns)) ?? []), took]);
      }
    }
  }
  for (const { end } of contestants.values()) end();
  return (subject, turns) => timing(samples.get(key(subject, turns)) ?? []);
}

type Contestant = { ask(order: Order): Promise<number>; end(): void };

function contestant({ name }: Subject): Contestant {
  const process = fork(new URL("contestant.ts", import.meta.url), [name]);
  const failed = once(process, "exit").then(([code]) => {
    throw new Error(`The process of "${name}" ended with code ${code}.`);
  });
  failed.catch(() => undefined);
  return {
    async ask(order) {
      process.send(order);
      const [answer] = await Promise.race([once(process, "message"), failed]);
      return answer;
    },
    end: () => process.disconnect(),
  };
}

function key({ name }: Subject, turns: number): string {
  return `${name} × ${turns}`;
}

function timing(rounds: readonly number[]): Timing {
  const at = (share: number) => quantile(rounds, share);
  return { median: at(0.5), fastest: at(0), middleHalf: [at(0.25), at(0.75)], rounds };
}

/** The middle one of the samples. */
export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((left, right) => left - right);
  return sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN;
}
