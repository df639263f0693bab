// Times subjects against each other. Samples are interleaved, so that what else the machine does falls on all alike.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Order } from "./isolate.ts";
import type { Subject } from "./workload.ts";

/** Microseconds per turn over the rounds. */
export type Timing = {
  readonly median: number;
  readonly fastest: number;
  /** A quarter of the rounds were quicker than the first, a quarter slower than the second. */
  readonly middleHalf: readonly [number, number];
};

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

/** Runs every subject at every length in every round, each subject in its isolate and never two at a time. */
export async function measure(plan: Plan): Promise<Timings> {
  const { subjects, lengths, rounds, warmUps, turnsPerSample } = plan;
  const isolates = new Map(subjects.map((subject) => [subject, isolate(subject)]));
  const samples = new Map<string, number[]>();
  for (let round = -warmUps; round < rounds; round++) {
    for (const turns of lengths) {
      for (const [subject, ask] of isolates) {
        const took = await ask({ turns, runs: Math.ceil(turnsPerSample / turns) });
        if (round >= 0) samples.set(key(subject, turns), [...(samples.get(key(subject, turns)) ?? []), took]);
      }
    }
  }
  return (subject, turns) => timing(samples.get(key(subject, turns)) ?? []);
}

function isolate({ name }: Subject): (order: Order) => Promise<number> {
  const worker = new Worker(new URL("isolate.ts", import.meta.url), { workerData: name });
  worker.unref();
  return async (order) => {
    worker.ref();
    worker.postMessage(order);
    const [answer] = await once(worker, "message");
    worker.unref();
    return answer;
  };
}

function key({ name }: Subject, turns: number): string {
  return `${name} × ${turns}`;
}

function timing(samples: readonly number[]): Timing {
  const sorted = samples.toSorted((left, right) => left - right);
  const at = (share: number) => sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN;
  return { median: at(0.5), fastest: at(0), middleHalf: [at(0.25), at(0.75)] };
}
