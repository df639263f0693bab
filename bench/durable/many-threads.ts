// Many threads at a time in one process: turns a second, and what sharing commits brings.
import { figure, table, times } from "../markdown.ts";
import { median, medianRatio } from "../median.ts";
import { postgresUrl } from "../postgres-server.ts";
import type { Section, Size } from "../section.ts";
import { startSubject } from "../subject.ts";
import type { Order } from "./many-process.ts";

const CONCURRENCY = 64;
const sizes = {
  full: { threads: 2_000, turns: 5, longTurns: 100, rounds: 5 },
  quick: { threads: 200, turns: 5, longTurns: 20, rounds: 2 },
} as const;

export const manyThreads: Section = {
  name: "many",
  title: "Many threads at a time",
  async measure(size: Size) {
    const { threads, turns, longTurns, rounds } = sizes[size];
    const full = { database: "sqlite", synchronous: "full" } as const;
    const crowd = { place: full, threads: CONCURRENCY, turns: longTurns, concurrency: CONCURRENCY };
    const sixtyFour = await alternate(rounds, [
      { name: `Holdfast, ${CONCURRENCY} threads at a time`, order: crowd },
      { name: "Holdfast, one thread at a time", order: { ...crowd, concurrency: 1 } },
      { name: "bare node:sqlite, one commit a batch", order: { ...crowd, bareGroup: 1 } },
      { name: `bare node:sqlite, one commit for ${CONCURRENCY} batches`, order: { ...crowd, bareGroup: CONCURRENCY } },
    ]);
    const [together, alone, oneByOne, grouped] = sixtyFour.map(({ samples }) => samples);
    const each = { threads, turns, concurrency: CONCURRENCY };
    const manyShort = await alternate(size === "quick" ? 1 : 3, [
      { name: "SQLite, FULL", order: { ...each, place: full } },
      { name: "SQLite, NORMAL", order: { ...each, place: { database: "sqlite", synchronous: "normal" } } },
      { name: "PostgreSQL", order: { ...each, place: { database: "postgres", url: await postgresUrl() } } },
    ]);
    return {
      targets: [
        {
          says: `${CONCURRENCY} threads at a time on FULL: at least 5 × the turns/s of one at a time`,
          limit: { atLeast: 5 },
          measured: medianRatio(together ?? [], alone ?? []),
        },
        {
          says: `${CONCURRENCY} threads at a time on FULL: at least 5 × the turns/s of the bare database that commits one by one`,
          limit: { atLeast: 5 },
          measured: medianRatio(together ?? [], oneByOne ?? []),
        },
      ],
      tables: [
        table(
          [`${CONCURRENCY} threads of ${longTurns} turns on SQLite, FULL`, "turns/s", "times one by one"],
          sixtyFour.map(({ name, samples }) => [
            name,
            figure(median(samples)),
            times(medianRatio(samples, oneByOne ?? [])),
          ]),
        ),
        `Bare group commits are ${times(medianRatio(grouped ?? [], together ?? []))} as fast as Holdfast's.`,
        table(
          [`${threads.toLocaleString("en")} threads of ${turns} turns, ${CONCURRENCY} at a time`, "turns/s"],
          manyShort.map(({ name, samples }) => [name, figure(median(samples))]),
        ),
      ],
      reading,
    };
  },
};

type Case = { readonly name: string; readonly order: Order };
type Sampled = Case & { readonly samples: readonly number[] };

/** Turns a second, round by round. */
async function alternate(rounds: number, cases: readonly Case[]): Promise<readonly Sampled[]> {
  const file = new URL("many-process.ts", import.meta.url);
  const holdfast = startSubject<Order, number>(file);
  const bare = startSubject<Order, number>(file);
  const sampled = cases.map((each) => ({ ...each, samples: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const { order, samples } of sampled) {
      samples.push(await (order.bareGroup === undefined ? holdfast : bare).ask(order));
    }
  }
  await Promise.all([holdfast.end(), bare.end()]);
  return sampled;
}

const reading = `All messages are sent at once; up to ${CONCURRENCY} threads run at a time in one process. Batches of different threads that
are ready together share one commit, and so one wait for the disk. The bare database writes the rows of all these threads, each
batch in a commit of its own or ${CONCURRENCY} in one. How much there is to gain depends on the disk: the slower it is, the more
a shared wait saves, while what the processor has to do for a turn stays the same.`;
